package enginesim

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", ""},
		{"Hello, world!", "Hello|,| world|!"},
		{"tokenization", "tokeni|zation"},
		{"a  b", "a| | b"},
		{"in 2026, 12345", "in| 202|6|,| 123|45"},
		{"x\n\n  y", "x|\n\n | y"},
		{"日本語で", "日本|語で"},
		{"naïve café", "naïve| café"},
		{" ", " "},
		{"\xff\xfe", "\xff|\xfe"},
	}
	for _, tt := range tests {
		if got := strings.Join(split(tt.text), "|"); got != tt.want {
			t.Errorf("split(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{"", "Hello, world!", "a  b\n", "日本語", "\xff 1234567"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		pieces := split(s)
		if got := strings.Join(pieces, ""); got != s {
			t.Errorf("pieces join to %q, want %q", got, s)
		}
		if n := countTokens(s); n != len(pieces) || n != len(appendTokens(nil, s)) {
			t.Errorf("%d tokens, %d pieces", n, len(pieces))
		}
	})
}

func TestComposedLengths(t *testing.T) {
	for seed := range uint64(3000) {
		text := compose(rand.New(rand.NewPCG(seed, 0)))
		if n := countTokens(text); n < minTokens || n > maxTokens {
			t.Fatalf("%d tokens: %q", n, text)
		}
	}
}
