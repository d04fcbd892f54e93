package cache_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"reprise/embed"
	"reprise/topics/reuse"
)

// BenchmarkEmbedAndJudge prints what the text of a prompt costs that is asked again in nearly the same words: its vector, and its
// comparison with the stored prompt.
func BenchmarkEmbedAndJudge(b *testing.B) {
	for _, words := range []int{15, 150, 1000} {
		text := prompt(words)
		asked := "Please, " + text
		b.Run(fmt.Sprint(words), func(b *testing.B) {
			e, judge := embed.NewBuiltin(), reuse.Judge{Words: true, MaxError: 0.01}
			b.ReportAllocs()
			for b.Loop() {
				if v, err := e.Embed(b.Context(), []string{asked}); err != nil || v[0] == nil {
					b.Fatal("no vector")
				}
				if v := judge.Judge(text, asked, reuse.Context{Similarity: 1, Draw: 0.999}); v.Decision != reuse.Serve {
					b.Fatal(v.Why())
				}
			}
		})
	}
}

// prompt is n words in sentences and lines, of which one in two is common.
func prompt(n int) string {
	rng := rand.New(rand.NewPCG(1, 1))
	common := strings.Fields("the a of to and in is it that you for on with as this have work working works make makes made question")
	syllables := strings.Fields("ka ro ten min sol ver dra lin pos ga ter ing ed qui ness")
	var b strings.Builder
	for i := range n {
		w := common[rng.IntN(len(common))]
		if rng.IntN(2) == 0 {
			w = ""
			for range 1 + rng.IntN(4) {
				w += syllables[rng.IntN(len(syllables))]
			}
		}
		if i%14 == 0 {
			w = strings.ToUpper(w[:1]) + w[1:]
		}
		b.WriteString(w)
		switch {
		case i%42 == 41:
			b.WriteString(".\n")
		case i%14 == 13:
			b.WriteString(". ")
		default:
			b.WriteString(" ")
		}
	}
	return b.String()
}
