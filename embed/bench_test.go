package embed

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// prose is n words of which one in two is common, as in English.
func prose(n int) string {
	rng := rand.New(rand.NewPCG(9, 9))
	common := strings.Fields(low + " " + mid)
	syllables := strings.Fields("ka ro ten min sol ver dra lin pos ga ter ing ed qui ness")
	var b strings.Builder
	for range n {
		if rng.IntN(2) == 0 {
			b.WriteString(common[rng.IntN(len(common))])
		} else {
			for range 1 + rng.IntN(4) {
				b.WriteString(syllables[rng.IntN(len(syllables))])
			}
		}
		b.WriteString([]string{" ", " ", " ", " ", " ", ", ", ". "}[rng.IntN(7)])
	}
	return b.String()
}

func benchmarkText(b *testing.B, text string, units int, unit string) {
	texts := []string{text}
	e := NewBuiltin()
	b.ReportAllocs()
	for b.Loop() {
		e.Embed(b.Context(), texts)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(units), "ns/"+unit)
}

// BenchmarkWords prints the cost of prompts of 15, 150 and 1,000 words, and of one longer than MaxText.
func BenchmarkWords(b *testing.B) {
	for _, n := range []int{15, 150, 1000, 15000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { benchmarkText(b, prose(n), n, "word") })
	}
}

// BenchmarkHostile prints the cost of texts made to be slow, of the greatest length.
func BenchmarkHostile(b *testing.B) {
	for name, text := range map[string]string{
		"one word": "word ", "no spaces": "a", "digits": "1", "short words": "a b c d e f g ", "marks": "\u0301", "CJK": "天地玄黄", "contractions": "don't ",
		"accents": "é à ü ", "one bucket": oneBucket(), "different words": prose(2000),
	} {
		b.Run(name, func(b *testing.B) {
			text := strings.Repeat(text, MaxText/len(text)+1)[:MaxText]
			benchmarkText(b, text, len(text), "byte")
		})
	}
}
