package blocks

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestNumbersAreThoseOfAMap: over many chains that leave each other anywhere, each number is the one that a map of all blocks gives.
func TestNumbersAreThoseOfAMap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var numbers Numbers
	naive := map[link]uint32{}
	var ids []uint64
	for range 3000 {
		ids = ids[:r.IntN(len(ids)+1)]
		for range r.IntN(8) {
			ids = append(ids, r.Uint64N(3))
		}
		var want []uint32
		parent := uint32(0)
		for _, id := range ids {
			number, ok := naive[link{parent, id}]
			if !ok {
				number = uint32(len(naive))
				naive[link{parent, id}] = number
			}
			want, parent = append(want, number), number+1
		}
		if got := numbers.Chain(nil, ids); !slices.Equal(got, want) || numbers.Len() != len(naive) {
			t.Fatalf("%v: numbers %v of %d, want %v of %d", ids, got, numbers.Len(), want, len(naive))
		}
	}
}

// TestNumbersOfLongChains: a chain takes an entry of the map only where it leaves those before it, so that a small file with long runs
// of blocks cannot take the time and the memory of a map of them.
func TestNumbersOfLongChains(t *testing.T) {
	var numbers Numbers
	ids := make([]uint64, 1000)
	for n := range uint64(20) {
		for i := range ids {
			ids[i] = n * uint64(i) / 500 // all chains begin alike
		}
		numbers.Chain(nil, ids)
	}
	if len(numbers.others) > 20 {
		t.Errorf("%d entries of the map for 20 chains of %d blocks", len(numbers.others), numbers.Len())
	}
}
