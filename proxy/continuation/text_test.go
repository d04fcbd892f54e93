package continuation

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	long := strings.Repeat("start ", 50) + strings.Repeat("end ", 50)
	for _, c := range []struct {
		name           string
		prompts        []string
		window, tokens int
		want           string
	}{
		{"none", nil, 5, 512, ""},
		{"no window", []string{"a"}, 0, 512, ""},
		{"no budget", []string{"a"}, 5, 0, ""},
		{"all", []string{"a", "b"}, 5, 512, "a\nb"},
		{"the last ones", []string{"a", "b", "c"}, 2, 512, "b\nc"},
		{"an empty one", []string{"a", "", "c"}, 3, 512, "a\nc"},
		{"a long one", []string{long}, 1, 10, "start start start … end end end end "},
		{"short ones leave their part", []string{"a", "b", long}, 3, 10, "a\nb\nstart start start … end end end end "},
		{"one word", []string{strings.Repeat("x", 100)}, 1, 2, "xxxx … xxxx"},
		{"runes stay whole", []string{strings.Repeat("é", 100)}, 1, 2, "éé … éé"},
	} {
		if got := Text(c.prompts, c.window, c.tokens); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestTextKeepsBudget: long prompts share the budget evenly, and what is short stays whole.
func TestTextKeepsBudget(t *testing.T) {
	for _, n := range []int{1, 3, 5, 40} {
		var prompts []string
		for i := range n {
			prompts = append(prompts, strings.Repeat(fmt.Sprintf("wörd%d ", i), 1000))
		}
		text := Text(prompts, n, 512)
		if !utf8.ValidString(text) || len(text) > 512*tokenBytes+n*(len(gap)+1) || len(text) < 512*tokenBytes*3/5 {
			t.Errorf("%d prompts: %d bytes", n, len(text))
		}
		for i := range n {
			if c := strings.Count(text, fmt.Sprintf("wörd%d ", i)); c == 0 {
				t.Errorf("%d prompts: nothing of prompt %d", n, i)
			}
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("one", "two three", "", 2, 1)
	f.Add("ééé", "\xff\xfe", "日本語", 9, 3)
	f.Fuzz(func(t *testing.T, a, b, c string, window, tokens int) {
		tokens %= 1 << 16
		got := Text([]string{a, b, c}, window, tokens)
		if len(got) > max(tokens, 0)*tokenBytes+3*(len(gap)+1) {
			t.Errorf("%d bytes of %d tokens", len(got), tokens)
		}
		if utf8.ValidString(a) && utf8.ValidString(b) && utf8.ValidString(c) && !utf8.ValidString(got) {
			t.Errorf("%q", got)
		}
	})
}
