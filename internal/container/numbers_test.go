package container

import (
	"math/rand/v2"
	"testing"
)

// TestNumbersAreAMap plays random calls on both.
func TestNumbersAreAMap(t *testing.T) {
	for _, keys := range []int{3, 14, 200, 5000} {
		r := rand.New(rand.NewPCG(uint64(keys), 1))
		var s Numbers[uint64]
		want := map[uint64]uint32{}
		used := map[uint32]bool{}
		for i := range 50_000 {
			key := 1 + uint64(r.IntN(keys))
			if keys == 14 { // all with one home
				key <<= 60
			}
			if slot, ok := want[key]; ok && r.IntN(2) == 0 {
				s.Free(slot)
				delete(want, key)
				delete(used, slot)
			} else if !ok {
				slot := s.Add(key)
				if slot == 0 || used[slot] || int(slot) > len(s.keys) {
					t.Fatalf("step %d: number %d is taken or none", i, slot)
				}
				want[key], used[slot] = slot, true
			}
			key = 1 + uint64(r.IntN(keys))
			slot, ok := s.Find(key)
			if w, wantOK := want[key]; slot != w || ok != wantOK || s.Len() != len(want) {
				t.Fatalf("step %d: %d has number %d, %v with %d keys; want %d, %v, %d", i, key, slot, ok, s.Len(), w, wantOK, len(want))
			}
		}
	}
	var s Numbers[uint64]
	if a, b := s.Add(0), s.Add(0); a == b || s.Len() != 0 {
		t.Errorf("key 0 has the numbers %d and %d, and %d keys are in the table", a, b, s.Len())
	}
}
