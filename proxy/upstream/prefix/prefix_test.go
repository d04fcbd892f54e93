package prefix

import (
	"strings"
	"testing"
)

// TestChain: requests share the blocks of what they have in common, and no more.
func TestChain(t *testing.T) {
	chain := func(seed uint64, texts ...string) *Chain {
		c := &Chain{}
		c.Begin(seed)
		kind := System
		for _, text := range texts {
			c.Add(kind, []byte(text))
			kind = Message
		}
		return c
	}
	a := chain(1, strings.Repeat("s", 700), strings.Repeat("m", 400))
	for _, tc := range []struct {
		name   string
		other  *Chain
		shared int
	}{
		{"the same", chain(1, strings.Repeat("s", 700), strings.Repeat("m", 400)), 4},
		{"a further message", chain(1, strings.Repeat("s", 700), strings.Repeat("m", 400), "more"), 4},
		{"another message", chain(1, strings.Repeat("s", 700), strings.Repeat("n", 400)), 2},
		{"another system prompt", chain(1, strings.Repeat("t", 700), strings.Repeat("m", 400)), 0},
		{"another seed", chain(2, strings.Repeat("s", 700), strings.Repeat("m", 400)), 0},
	} {
		n := 0
		for n < len(a.Blocks) && n < len(tc.other.Blocks) && a.Blocks[n] == tc.other.Blocks[n] {
			n++
		}
		if n != tc.shared {
			t.Errorf("%s: %d blocks are shared, want %d", tc.name, n, tc.shared)
		}
	}
}
