package reuse

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// prose is n words of which one in two is in the lexicon, as in English.
func prose(n int) string {
	rng := rand.New(rand.NewPCG(9, 9))
	common := strings.Fields(wordLists[function])[:140]
	syllables := strings.Fields("ka ro ten min sol ver dra lin pos ga ter ing ed qui ness")
	var b strings.Builder
	start := true
	for range n {
		w := common[rng.IntN(len(common))]
		if rng.IntN(2) == 0 {
			w = ""
			for range 1 + rng.IntN(4) {
				w += syllables[rng.IntN(len(syllables))]
			}
		}
		if start {
			w = strings.ToUpper(w[:1]) + w[1:]
		}
		end := []string{" ", " ", " ", " ", " ", " ", " ", " ", " ", " ", " ", " ", ", ", ", ", ". ", ".\n"}[rng.IntN(16)]
		start = end[0] == '.'
		b.WriteString(w + end)
	}
	return b.String()
}

// BenchmarkWords prints the cost of a near-verbatim repeat of prompts of 15 to 15,000 words.
func BenchmarkWords(b *testing.B) {
	for _, n := range []int{15, 150, 1000, 1500, 15000} {
		text := prose(n)
		for name, repeat := range map[string]string{
			"front": "Please, " + text,
			"back":  text + "please",
			"both":  "Please, " + text + "please",
		} {
			b.Run(fmt.Sprintf("%d/%s", n, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					Check(text, repeat)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/word")
			})
		}
	}
}
