package fleet

import (
	"math/rand/v2"
	"testing"

	"reprise/internal/enginesim"
)

// TestPoolAgainstEnginesim plays random sequences that share beginnings and overlap in time through both implementations of the
// block cache, which share no code.
func TestPoolAgainstEnginesim(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		blocks := 4 + int(seed)*5
		fast := newPool(blocks)
		other := enginesim.NewBlocks(blocks)
		type run struct {
			fast  lease
			other *enginesim.Lease
		}
		var running []run
		said := []string{""}
		for step := range 3000 {
			if random.IntN(2) == 0 && len(running) > 0 {
				i := random.IntN(len(running))
				fast.release(running[i].fast)
				other.End(running[i].other)
				running = append(running[:i], running[i+1:]...)
				continue
			}
			said = append(said, said[random.IntN(len(said))]+string(rune('a'+random.IntN(2))))
			sequence := said[len(said)-1]
			hashes, tokens := spell(sequence)
			mine, known, ok := fast.lease(hashes, len(hashes))
			if !ok { // enginesim keeps a part of such a sequence, which an engine's queue does not
				continue
			}
			for i := known; i < len(hashes); i++ {
				fast.fill(&mine, hashes[i])
			}
			theirs, cached := other.Begin(enginesim.NewChain("").Add(tokens), len(tokens))
			if cached != min(known, len(hashes)-1)*enginesim.BlockTokens {
				t.Fatalf("seed %d, step %d: %d blocks found, and %d tokens in enginesim", seed, step, known, cached)
			}
			if fast.found() != other.Used() {
				t.Fatalf("seed %d, step %d: %d blocks used, and %d in enginesim", seed, step, fast.found(), other.Used())
			}
			running = append(running, run{mine, theirs})
		}
	}
}

// spell makes a block of each letter.
func spell(sequence string) (hashes []uint64, tokens []enginesim.Token) {
	h := uint64(0)
	for _, letter := range sequence {
		h = link(h, uint64(letter))
		hashes = append(hashes, h)
		for i := range enginesim.BlockTokens {
			tokens = append(tokens, enginesim.Token(1000*int(letter)+i))
		}
	}
	return hashes, tokens
}

// TestLease: a lease that does not fit leaves the pool as it was, and a slot without content waits in its turn.
func TestLease(t *testing.T) {
	hashes, _ := spell("abcd")
	p := newPool(4)
	first, _, _ := p.lease(hashes[:2], 3)
	p.fill(&first, hashes[0])
	if _, _, ok := p.lease(hashes[:1], 3); ok || p.Room() != 1 || p.found() != 1 {
		t.Fatalf("a lease that needs two slots: %v, room for %d, %d found", ok, p.Room(), p.found())
	}
	p.release(first)
	if p.Room() != 4 || p.found() != 1 || p.unknown != 2 {
		t.Errorf("room for %d, %d found, %d unknown; want 4, 1 and 2", p.Room(), p.found(), p.unknown)
	}
	second, known, ok := p.lease(hashes[2:], 3)
	if !ok || known != 0 || p.Run(hashes[:1]) != 1 || p.unknown != 0 {
		t.Fatalf("%v, %d known, %d unknown; want the deepest two of the first request dropped", ok, known, p.unknown)
	}
	p.release(second)
}
