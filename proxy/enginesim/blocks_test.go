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

// state is the free queue, the next victim first; a block is named by the sequence that it ends, or is a dot.
func (p *pool) state() string {
	var out []string
	for id := p.head; id != none; id = p.pool[id].next {
		if b := p.pool[id]; b.hashed {
			out = append(out, p.names[b.hash])
		} else {
			out = append(out, ".")
		}
	}
	return strings.Join(out, " ")
}

func TestBlocksFreeQueue(t *testing.T) {
	tests := []struct {
		name   string
		blocks int
		asked  []string // each begins and ends before the next
		cached int      // tokens of the last one
		state  string
		lost   int64
	}{
		{"deepest first", 3, []string{"abc"}, 0, "abc ab a", 0},
		{"a partial block is freed first", 3, []string{"ab5"}, 0, ". ab a", 0},
		{"a hit moves its blocks to the end", 5, []string{"ab", "cd", "ab1"}, 32, "cd c . ab a", 0},
		{"the last token is always computed", 4, []string{"ab", "ab"}, 16, ". . ab a", 0},
		{"a longer prompt uses a shorter one", 4, []string{"ab", "abc1"}, 32, ". abc ab a", 0},
		{"the least recently used goes, its end first", 4, []string{"abc", "x", "y"}, 0, "ab a x y", 1},
		{"other blocks after an equal head", 4, []string{"ab", "ac"}, 16, ". ab ac a", 0},
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
			if cached != tt.cached || p.state() != tt.state || p.Evictions() != tt.lost {
				t.Errorf("cached %d, state %q, evictions %d; want %d, %q, %d", cached, p.state(), p.Evictions(), tt.cached, tt.state, tt.lost)
			}
		})
	}
}

func TestBlocksOfAnAnswerServeTheNextTurn(t *testing.T) {
	p := newPool(8)
	l, chain, _ := p.begin("a5") // the answer fills the block that the prompt began
	p.Grow(l, chain.Add(tokensOf("b")), chain.Partial())
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
	if got := p.state(); got != "ab a" {
		t.Errorf("state %q, want %q", got, "ab a")
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

// naivePool has the same rules, with slices and whole sequences instead of links and hashes.
type naivePool struct {
	content []string // by block; "" is not stored
	refs    []int
	free    []int
}

type naiveLease struct {
	blocks []int
	seq    string // spelled tokens
	named  int    // full blocks that were handled
	open   bool
	short  bool
}

func newNaive(n int) *naivePool {
	p := &naivePool{content: make([]string, n), refs: make([]int, n)}
	for i := range n {
		p.free = append(p.free, i)
	}
	return p
}

func (p *naivePool) share(l *naiveLease, content string) bool {
	id := slices.Index(p.content, content)
	if id < 0 {
		return false
	}
	p.free = slices.DeleteFunc(p.free, func(f int) bool { return f == id })
	p.refs[id]++
	l.blocks = append(l.blocks, id)
	return true
}

func (p *naivePool) take(l *naiveLease) bool {
	if l.short = l.short || len(p.free) == 0; l.short {
		return false
	}
	id := p.free[0]
	p.free = p.free[1:]
	p.content[id], p.refs[id] = "", 1
	l.blocks = append(l.blocks, id)
	return true
}

// grow appends tokens, spelled one character each.
func (p *naivePool) grow(l *naiveLease, tokens string) {
	l.seq += tokens
	for !l.short && (l.named+1)*BlockTokens <= len(l.seq) {
		l.named++
		content := l.seq[:l.named*BlockTokens]
		if !l.open && p.share(l, content) {
			continue
		}
		if (l.open || p.take(l)) && !slices.Contains(p.content, content) {
			p.content[l.blocks[len(l.blocks)-1]] = content
		}
		l.open = false
	}
	if len(l.seq)%BlockTokens > 0 && !l.open {
		l.open = p.take(l)
	}
}

func (p *naivePool) begin(tokens string) (*naiveLease, int) {
	known := 0
	for (known+1)*BlockTokens < len(tokens) && slices.Contains(p.content, tokens[:(known+1)*BlockTokens]) {
		known++
	}
	l := &naiveLease{}
	p.grow(l, tokens)
	return l, known * BlockTokens
}

func (p *naivePool) end(l *naiveLease) {
	for _, id := range slices.Backward(l.blocks) {
		if p.refs[id]--; p.refs[id] == 0 {
			p.free = append(p.free, id)
		}
	}
}

func (p *naivePool) used() int {
	n := 0
	for _, c := range p.content {
		if c != "" {
			n++
		}
	}
	return n
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

func playBlocks(t *testing.T, rng *rand.Rand, blocks int) {
	fast, slow := NewBlocks(blocks), newNaive(blocks)
	var running []playedRun
	said := []string{""}
	for step := range 1500 {
		switch {
		case rng.IntN(2) == 0 && len(running) > 0:
			i := rng.IntN(len(running))
			r := running[i]
			more := randomTokens(rng, 30)
			fast.Grow(r.lease, r.chain.Add(spelled(more)), (len(r.naive.seq)+len(more))%BlockTokens > 0)
			slow.grow(r.naive, more)
			fast.End(r.lease)
			slow.end(r.naive)
			said = append(said, r.naive.seq)
			running = slices.Delete(running, i, i+1)
		default:
			text := said[rng.IntN(len(said))] + randomTokens(rng, 40)
			chain := NewChain("")
			l, cached := fast.Begin(chain.Add(spelled(text)), len(text))
			n, want := slow.begin(text)
			if cached != want {
				t.Fatalf("step %d: %d tokens cached, naive %d", step, cached, want)
			}
			running = append(running, playedRun{l, chain, n})
		}
		if fast.Used() != slow.used() {
			t.Fatalf("step %d: %d blocks used, naive %d", step, fast.Used(), slow.used())
		}
		var queue []int
		for id := fast.head; id != none; id = fast.pool[id].next {
			queue = append(queue, int(id))
		}
		if !slices.Equal(queue, slow.free) {
			t.Fatalf("step %d: free queue %v, naive %v", step, queue, slow.free)
		}
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
