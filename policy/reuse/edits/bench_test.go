package edits

import (
	"fmt"
	"strings"
	"testing"

	"reprise/policy/reuse/normal"
)

// BenchmarkExplain prints the cost of two forms of 20, 100 and 1,000 words: with two edits in the last sentence, with a difference that is
// not listed, and with words that repeat, which is the longest search.
func BenchmarkExplain(b *testing.B) {
	const line = "You are the helper of a shop, and it has many tools for a garden. "
	const demand = "Answer politely. Question: "
	for _, n := range []int{20, 100, 1000} {
		words := strings.Fields(strings.Repeat(line, n/14+1))
		template := strings.Join(words[len(words)-(n-11):], " ") + " " + demand
		for name, pair := range map[string][2]string{
			"listed":   {"What exactly is the purpose of a part-time job?", "What is the purpose of a part time job?"},
			"unlisted": {"What is the purpose of a modern rake?", "What is the weight of a modern rake?"},
			"repeated": {"What is a the a the a the a the rake?", "What is the a the a the a the a saw?"},
		} {
			stored, asked := normal.Of(template+pair[0]), normal.Of(template+pair[1])
			if _, ok := Explain(stored, asked); ok != (name == "listed") {
				b.Fatalf("%s: explained %t", name, ok)
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
