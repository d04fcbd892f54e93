package edits

import (
	"fmt"
	"strings"
	"testing"

	"reprise/topics/reuse/normal"
)

// BenchmarkExplain prints the cost of two forms of 20, 100 and 1,000 words: with two edits, where it is one sentence, with a difference that
// is not listed, and with words that repeat, which is the longest search.
func BenchmarkExplain(b *testing.B) {
	const line = "You are the helper of a shop, and it has many tools for a garden. "
	for _, n := range []int{20, 100, 1000} {
		template := ""
		if n > 20 {
			words := strings.Fields(strings.Repeat(line, n/14+1))
			template = strings.Join(words[len(words)-(n-20):], " ") + " "
		}
		for name, pair := range map[string][2]string{
			"listed":   {"Why exactly is a part-time job in the small town of my aunt better for you and for us and them?", "Why is a part time job in the small town of my aunt better for you and for us and them?"},
			"unlisted": {"Why is the garden of the small shop in the old town of my aunt better for you and for them?", "Why is the market of the small shop in the old town of my aunt better for you and for them?"},
			"repeated": {"Why is the a the a the a the a the a the a the a the a the rake?", "Why is a the a the a the a the a the a the a the a the a saw?"},
		} {
			stored, asked := normal.Of(template+pair[0]), normal.Of(template+pair[1])
			if _, ok := Explain(stored, asked); ok != (name == "listed" && n == 20) {
				b.Fatalf("%d words, %s: explained %t", n, name, ok)
			}
			b.Run(fmt.Sprintf("%d/%s", n, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					Explain(stored, asked)
				}
			})
		}
	}
}
