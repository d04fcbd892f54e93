package container

import (
	"math/rand/v2"
	"testing"
)

// TestTableIsAMap plays random calls on both. Few keys in a small table make long runs and many moves.
func TestTableIsAMap(t *testing.T) {
	for _, keys := range []int{3, 14, 200, 5000} {
		r := rand.New(rand.NewPCG(uint64(keys), 1))
		var got Table[uint64, int64]
		want := map[uint64]int64{}
		for i := range 50_000 {
			key := 1 + uint64(r.IntN(keys))
			if keys == 14 { // all with one home
				key <<= 60
			}
			if r.IntN(2) == 0 && key != 0 {
				got.Put(key, int64(i))
				want[key] = int64(i)
			} else {
				_, had := want[key]
				if got.Delete(key) != had {
					t.Fatalf("step %d: del of %d is not %v", i, key, had)
				}
				delete(want, key)
			}
			key = 1 + uint64(r.IntN(keys))
			v, ok := got.Get(key)
			if w, wantOK := want[key]; v != w || ok != wantOK || got.Len() != len(want) {
				t.Fatalf("step %d: get of %d is %d, %v with %d keys; want %d, %v, %d", i, key, v, ok, got.Len(), w, wantOK, len(want))
			}
		}
	}
}
