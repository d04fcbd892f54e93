package container

import (
	"math/rand/v2"
	"testing"
)

// TestIndexIsAMap plays random calls on both. Keys of few bits and keys with one hash make long runs and many moves.
func TestIndexIsAMap(t *testing.T) {
	for name, keyOf := range map[string]func(uint64) uint64{
		"few":      func(n uint64) uint64 { return 1 + n%14 },
		"many":     func(n uint64) uint64 { return 1 + n%5000 },
		"one home": func(n uint64) uint64 { return (1 + n%20) << 58 },
		// the product with the factor is 7<<32 and more, so that the upper halves are equal
		"one hash": func(n uint64) uint64 { return inverse(0x9E3779B97F4A7C15) * (7<<32 + n%20) },
	} {
		r := rand.New(rand.NewPCG(3, 1))
		keys := []uint64{0} // by number
		of := func(number uint32) uint64 { return keys[number] }
		x, want := Index[uint64]{}, map[uint64]uint32{}
		for i := range 30_000 {
			key := keyOf(r.Uint64N(1 << 40))
			if got := x.Find(key, of); got != want[key] {
				t.Fatalf("%s: step %d: key %d has number %d, want %d", name, i, key, got, want[key])
			}
			switch {
			case want[key] == 0:
				keys = append(keys, key)
				want[key] = uint32(len(keys) - 1)
				x.Add(key, want[key])
			case r.IntN(2) == 0:
				x.Remove(key, of)
				delete(want, key)
			}
			if x.Len() != len(want) {
				t.Fatalf("%s: step %d: %d keys, want %d", name, i, x.Len(), len(want))
			}
		}
	}
}

// inverse is that of an odd number among numbers of 64 bits, by Newton's steps.
func inverse(a uint64) uint64 {
	x := a
	for range 6 {
		x *= 2 - a*x
	}
	return x
}
