package normal

import (
	"strings"
	"testing"
)

// BenchmarkForm is a look-up key: the form of 20 words and its bytes.
func BenchmarkForm(b *testing.B) {
	prompts := []struct{ name, text string }{
		{"20 words", "Hi there, could you tell me how I can change the delivery address of order 55120 before it ships? Thanks!"},
		{"20 words, no rule", "the washing machine on the third floor leaks water when it spins and a red light blinks twice every minute"},
		{"100 words", strings.Repeat("I moved to Portugal in March and my tax details are still those of the old address in Lyon. ", 6)},
		{"1,000 words", strings.Repeat("I moved to Portugal in March and my tax details are still those of the old address in Lyon. ", 56)},
	}
	for _, p := range prompts {
		b.Run(p.name, func(b *testing.B) {
			key := make([]byte, 0, 16<<10)
			b.ReportAllocs()
			for b.Loop() {
				key = Of(p.text).Append(key[:0])
			}
		})
	}
}
