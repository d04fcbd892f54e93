package prefix

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
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

// TestChainIsOfTheText: blocks depend on the text alone, however it comes in segments, and building them again allocates nothing.
func TestChainIsOfTheText(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var c Chain
	for range 300 {
		body := make([]byte, rng.IntN(3000))
		for i := range body {
			body[i] = byte(rng.Uint32())
		}
		var want []Block
		for last, rest := Block(9), body; len(rest) >= BlockBytes; rest = rest[BlockBytes:] {
			last = link(last, xxhash.Sum64(rest[:BlockBytes]))
			want = append(want, last)
		}
		c.Begin(9)
		for rest := body; len(rest) > 0; {
			n := 1 + rng.IntN(len(rest))
			c.Add(Message, rest[:n])
			rest = rest[n:]
		}
		if !slices.Equal(c.Blocks, want) || c.Bytes != len(body) {
			t.Fatalf("%d blocks of %d bytes, want %d of %d", len(c.Blocks), c.Bytes, len(want), len(body))
		}
		if n := testing.AllocsPerRun(1, func() { c.Begin(9); c.Add(System, body); c.Add(Message, body) }); len(want) > 6 && n > 0 {
			t.Fatalf("%v allocations", n)
		}
	}
}

// TestNames: a scaffold and an opening are those of the segments, whatever follows.
func TestNames(t *testing.T) {
	chain := func(segments ...string) (c Chain) {
		c.Begin(1)
		for _, s := range segments {
			c.Add(map[byte]Kind{'t': Tools, 's': System, 'm': Message}[s[0]], []byte(s[1:]))
		}
		return c
	}
	base := chain("ttools", "ssystem", "mfirst")
	for _, tc := range []struct {
		name                    string
		other                   Chain
		sameScaffold, sameFirst bool
		shared                  int
	}{
		{"a later turn", chain("ttools", "ssystem", "mfirst", "manswer", "mnext"), true, true, 11},
		{"another conversation", chain("ttools", "ssystem", "mother"), true, false, 11},
		{"an empty first message", chain("ttools", "ssystem", "m", "mfirst"), true, false, 11},
		{"another system prompt", chain("ttools", "sother", "mfirst"), false, false, 10},
		{"no scaffold", chain("mfirst"), false, false, 0},
	} {
		if got := tc.other.Scaffold == base.Scaffold; got != tc.sameScaffold || tc.other.Shared != tc.shared {
			t.Errorf("%s: the same scaffold is %t, with %d bytes", tc.name, got, tc.other.Shared)
		}
		if got := tc.other.Opening == base.Opening; got != tc.sameFirst {
			t.Errorf("%s: the same opening is %t", tc.name, got)
		}
	}
	again := Seed("a", "bc")
	if again != Seed("a", "bc") || again == Seed("ab", "c") || Seed("a") == Seed("a", "") {
		t.Error("seeds do not depend on their parts")
	}
}

func BenchmarkChain(b *testing.B) {
	body := []byte(strings.Repeat("x", 32_000))
	var c Chain
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		c.Begin(1)
		c.Add(System, body[:16_000])
		for rest := body[16_000:]; len(rest) > 0; rest = rest[min(len(rest), 1333):] {
			c.Add(Message, rest[:min(len(rest), 1333)])
		}
	}
}
