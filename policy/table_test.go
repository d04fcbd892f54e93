package policy

import (
	"math/rand/v2"
	"testing"
)

// TestTableIsAMap plays random calls on both. Few keys in a small table make long runs and many moves.
func TestTableIsAMap(t *testing.T) {
	for _, keys := range []int{3, 14, 200, 5000} {
		r := rand.New(rand.NewPCG(uint64(keys), 1))
		var got table[int64]
		want := map[uint64]int64{}
		for i := range 50_000 {
			key := 1 + uint64(r.IntN(keys))
			if keys == 14 { // all with one home
				key <<= 60
			}
			if r.IntN(2) == 0 && key != 0 {
				got.put(key, int64(i))
				want[key] = int64(i)
			} else {
				_, had := want[key]
				if got.del(key) != had {
					t.Fatalf("step %d: del of %d is not %v", i, key, had)
				}
				delete(want, key)
			}
			key = 1 + uint64(r.IntN(keys))
			v, ok := got.get(key)
			if w, wantOK := want[key]; v != w || ok != wantOK || got.n != len(want) {
				t.Fatalf("step %d: get of %d is %d, %v with %d keys; want %d, %v, %d", i, key, v, ok, got.n, w, wantOK, len(want))
			}
		}
	}
}

func TestGhostsForgetTheOldest(t *testing.T) {
	g := ghosts{room: 2}
	for _, key := range []uint64{1, 2, 1, 3} {
		g.add(key)
	}
	if g.del(2) || !g.del(1) || !g.del(3) || g.len() != 0 {
		t.Error("2 was the oldest of three in a room for two")
	}
	none := ghosts{}
	none.add(1)
	if none.len() != 0 {
		t.Error("no room holds a ghost")
	}
}
