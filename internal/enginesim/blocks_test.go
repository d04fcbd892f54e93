package enginesim

import (
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
