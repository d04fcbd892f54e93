package sim

import (
	"math/rand/v2"
	"testing"
)

// TestIdentitiesAreAMap numbers few and many identities beside a map, in equal and unequal scopes.
func TestIdentitiesAreAMap(t *testing.T) {
	type key struct{ id, scope uint64 }
	for _, ids := range []int{1, 50, 40_000} {
		r := rand.New(rand.NewPCG(uint64(ids), 1))
		var got identities
		want := map[key]uint32{}
		for range 100_000 {
			k := key{uint64(r.IntN(ids)), uint64(r.IntN(3)) << 40}
			if n, ok := got.find(got.of(k.id, k.scope)); ok != (want[k] != 0) || ok && n != want[k]-1 {
				t.Fatalf("%d ids: %+v is %d, %v; want %d", ids, k, n, ok, want[k])
			}
			if want[k] == 0 {
				want[k] = uint32(len(want) + 1)
			}
			if n := got.number(got.of(k.id, k.scope)); n != want[k]-1 {
				t.Fatalf("%d ids: %+v gets %d, want %d", ids, k, n, want[k]-1)
			}
		}
	}
}
