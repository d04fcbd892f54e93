package enginesim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// tokensOf makes a sequence: each letter is one full block, and a digit at the end that many more tokens.
func tokensOf(s string) []Token {
	var out []Token
	for _, r := range s {
		n := BlockTokens
		if '0' <= r && r <= '9' {
			n = int(r - '0')
		}
		for i := range n {
			out = append(out, Token(1000*int(r)+i))
		}
	}
	return out
}

// pool is a Blocks whose sequences and state are written as letters.
type pool struct {
	*Blocks
	names map[BlockHash]string
}

func newPool(n int) *pool { return &pool{NewBlocks(n), map[BlockHash]string{}} }

func (p *pool) begin(s string) (*Lease, *Chain, int) {
	c := NewChain("")
	tokens := tokensOf(s)
	hashes := c.Add(tokens)
	for i, h := range hashes {
		p.names[h] = s[:i+1]
	}
	l, cached := p.Begin(hashes, len(tokens))
	return l, c, cached
}

// room is how many blocks no request holds.
func (p *pool) room() int { return p.capacity - p.slots - len(p.content) + p.idle.Len() }

// free lists what the free blocks have, the first to be taken first: the sequence that a block ends, or a dot.
func (p *pool) free() string {
	out := slices.Repeat([]string{"."}, p.room()-p.idle.Len())
	for at := p.idle.Front(); at != nil; at = at.Next() {
		out = append(out, p.names[at.Value.(*block).hash])
	}
	return strings.Join(out, " ")
}

func TestBlocksFreeQueue(t *testing.T) {
	tests := []struct {
		name   string
		blocks int
		asked  []string // each begins and ends before the next
		cached int      // tokens of the last one
		free   string
		lost   int64
	}{
		{"deepest first", 3, []string{"abc"}, 0, "abc ab a", 0},
		{"a partial block is freed first", 3, []string{"ab5"}, 0, ". ab a", 0},
		{"a hit moves its blocks to the end", 5, []string{"ab", "cd", "ab1"}, 32, ". cd c ab a", 0},
		{"the last token is always computed", 4, []string{"ab", "ab"}, 16, ". . ab a", 0},
		{"a longer prompt uses a shorter one", 4, []string{"ab", "abc1"}, 32, ". abc ab a", 0},
		{"the least recently used goes, its end first", 4, []string{"abc", "x", "y"}, 0, "ab a x y", 1},
		{"other blocks after an equal head", 4, []string{"ab", "ac"}, 16, ". ab ac a", 0},
		{"an empty slot is taken before content", 4, []string{"a1", "bc"}, 0, ". a bc b", 0},
		{"too long a prompt keeps its head", 2, []string{"abc"}, 0, "ab a", 0},
		{"what was evicted is computed again", 3, []string{"abc", "xy", "ab1"}, 16, ". ab a", 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPool(tt.blocks)
			cached := 0
			for _, s := range tt.asked {
				l, _, n := p.begin(s)
				p.End(l)
				cached = n
			}
			lost := p.evictions
			if got := p.free(); cached != tt.cached || got != tt.free || lost != tt.lost {
				t.Errorf("cached %d, free %q, evictions %d; want %d, %q, %d", cached, got, lost, tt.cached, tt.free, tt.lost)
			}
		})
	}
}

func TestBlocksOfAnAnswerServeTheNextTurn(t *testing.T) {
	p := newPool(8)
	l, chain, _ := p.begin("a5") // the answer fills the block that the prompt began
	p.grow(l, chain.Add(tokensOf("b")), chain.partial())
	p.End(l)
	chain = NewChain("")
	turn := slices.Concat(tokensOf("a5"), tokensOf("b"), tokensOf("c"))
	if _, cached := p.Begin(chain.Add(turn), len(turn)); cached != 2*BlockTokens {
		t.Errorf("cached %d tokens, want %d", cached, 2*BlockTokens)
	}
}

func TestRunningBlocksAreNotTaken(t *testing.T) {
	p := newPool(2)
	first, _, _ := p.begin("ab")
	second, _, _ := p.begin("xy")
	if len(second.blocks) != 0 {
		t.Fatalf("the second prompt took %d blocks", len(second.blocks))
	}
	p.End(second)
	p.End(first)
	if got := p.free(); got != "ab a" {
		t.Errorf("free %q, want %q", got, "ab a")
	}
}

func TestSaltSeparates(t *testing.T) {
	tokens := tokensOf("abc")
	plain, salted := NewChain("").Add(tokens), NewChain("s").Add(tokens)
	for i := range plain {
		if plain[i] == salted[i] {
			t.Errorf("block %d is equal with a salt", i)
		}
	}
}

// naivePool has the same rules, with slices and whole sequences in place of an evictor and hashes.
type naivePool struct {
	capacity int
	refs     map[string]int // of the content that requests hold
	free     []string       // content that none holds, in the order of release
	slots    int            // that requests hold without content
}

type naiveLease struct {
	content []string
	seq     string // spelled tokens
	full    int    // blocks of seq that were handled
	slots   int
	open    bool
	short   bool
}

func (p *naivePool) has(content string) bool {
	return p.refs[content] > 0 || slices.Contains(p.free, content)
}

func (p *naivePool) take(l *naiveLease) bool {
	switch {
	case len(p.refs)+len(p.free)+p.slots < p.capacity:
	case len(p.free) > 0:
		p.free = p.free[1:]
	default:
		l.short = true
	}
	if l.short {
		return false
	}
	p.slots++
	l.slots++
	return true
}

func (p *naivePool) fill(l *naiveLease, content string) {
	p.refs[content] = 1
	l.content = append(l.content, content)
	p.slots--
	l.slots--
}

// grow appends tokens, spelled one character each.
func (p *naivePool) grow(l *naiveLease, tokens string) {
	l.seq += tokens
	if next := (l.full + 1) * BlockTokens; l.open && next <= len(l.seq) {
		l.full++
		l.open = false
		if content := l.seq[:next]; !p.has(content) {
			p.fill(l, content)
		}
	}
	if !l.short {
		p.extend(l)
	}
	if len(l.seq)%BlockTokens > 0 && !l.open && !l.short {
		l.open = p.take(l)
	}
}

func (p *naivePool) extend(l *naiveLease) {
	var all, held []string
	for l.full < len(l.seq)/BlockTokens {
		l.full++
		content := l.seq[:l.full*BlockTokens]
		all = append(all, content)
		if p.has(content) {
			held = append(held, content)
			p.free = slices.DeleteFunc(p.free, func(f string) bool { return f == content })
			p.refs[content]++
		}
	}
	for _, content := range all {
		if slices.Contains(held, content) {
			l.content = append(l.content, content)
		} else if !l.short && p.take(l) {
			p.fill(l, content)
		}
	}
}

func (p *naivePool) begin(tokens string) (*naiveLease, int) {
	known := 0
	for (known+1)*BlockTokens < len(tokens) && p.has(tokens[:(known+1)*BlockTokens]) {
		known++
	}
	l := &naiveLease{}
	p.grow(l, tokens)
	return l, known * BlockTokens
}

func (p *naivePool) end(l *naiveLease) {
	for _, content := range slices.Backward(l.content) {
		if p.refs[content]--; p.refs[content] == 0 {
			delete(p.refs, content)
			p.free = append(p.free, content)
		}
	}
	p.slots -= l.slots
}

// TestBlocksAgainstNaive plays random conversations that overlap in time and share their beginnings.
func TestBlocksAgainstNaive(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { playBlocks(t, rand.New(rand.NewPCG(seed, 1)), 4+int(seed)*3) })
	}
}

type playedRun struct {
	lease *Lease
	chain *Chain
	naive *naiveLease
}

func playBlocks(t *testing.T, rng *rand.Rand, size int) {
	fast, slow := newPool(size), &naivePool{capacity: size, refs: map[string]int{}}
	var running []playedRun
	said := []string{""}
	name := func(seq string, from int, hashes []BlockHash) []BlockHash {
		for i, h := range hashes {
			fast.names[h] = seq[:(from+i+1)*BlockTokens]
		}
		return hashes
	}
	for step := range 1500 {
		if rng.IntN(2) == 0 && len(running) > 0 {
			i := rng.IntN(len(running))
			r := running[i]
			more, n := randomTokens(rng, 30), len(r.naive.seq)
			hashes := name(r.naive.seq+more, n/BlockTokens, r.chain.Add(spelled(more)))
			fast.grow(r.lease, hashes, (n+len(more))%BlockTokens > 0)
			slow.grow(r.naive, more)
			fast.End(r.lease)
			slow.end(r.naive)
			said = append(said, r.naive.seq)
			running = slices.Delete(running, i, i+1)
		} else {
			text := said[rng.IntN(len(said))] + randomTokens(rng, 40)
			chain := NewChain("")
			l, cached := fast.Begin(name(text, 0, chain.Add(spelled(text))), len(text))
			n, want := slow.begin(text)
			if cached != want {
				t.Fatalf("step %d: %d tokens cached, naive %d", step, cached, want)
			}
			running = append(running, playedRun{l, chain, n})
		}
		if used, room := len(slow.refs)+len(slow.free), size-len(slow.refs)-slow.slots; fast.Used() != used || fast.room() != room {
			t.Fatalf("step %d: %d blocks used, room for %d; naive %d and %d", step, fast.Used(), fast.room(), used, room)
		}
	}
	empty := size - len(slow.refs) - len(slow.free) - slow.slots
	if got, want := fast.free(), strings.Join(append(slices.Repeat([]string{"."}, empty), slow.free...), " "); got != want {
		t.Errorf("free %q, naive %q", got, want)
	}
}

// randomTokens is up to n tokens of an alphabet so small that sequences repeat.
func randomTokens(rng *rand.Rand, n int) string {
	letter := string(rune('a' + rng.IntN(2)))
	return strings.Repeat(letter, 1+rng.IntN(n))
}

func spelled(s string) []Token {
	out := make([]Token, len(s))
	for i := range s {
		out[i] = Token(s[i])
	}
	return out
}
