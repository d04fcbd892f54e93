package fleet

import (
	"math/rand/v2"
	"testing"

	"reprise/proxy/enginesim"
)

// TestPoolAgainstEnginesim plays random sequences that share beginnings and overlap in time through both models of vLLM's cache.
func TestPoolAgainstEnginesim(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		blocks := 4 + int(seed)*5
		fast, other := newPool(blocks), enginesim.NewBlocks(blocks)
		type lease struct {
			fast  []int32
			other *enginesim.Lease
		}
		var running []lease
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
			for i := known; i < len(mine); i++ {
				fast.name(mine[i], hashes[i])
			}
			theirs, cached := other.Begin(enginesim.NewChain("").Add(tokens), len(tokens))
			if cached != min(known, len(hashes)-1)*enginesim.BlockTokens {
				t.Fatalf("seed %d, step %d: %d blocks found, and %d tokens in enginesim", seed, step, known, cached)
			}
			if len(fast.held) != other.Used() {
				t.Fatalf("seed %d, step %d: %d blocks used, and %d in enginesim", seed, step, len(fast.held), other.Used())
			}
			running = append(running, lease{mine, theirs})
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
