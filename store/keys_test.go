package store

import (
	"encoding/binary"
	"math/rand/v2"
	"reflect"
	"testing"

	"reprise/policy"
)

// TestKeysAsMap compares keys with a map by whole keys, where most keys begin like others.
func TestKeysAsMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	one := func() (k Key) {
		binary.LittleEndian.PutUint64(k[:], rng.Uint64N(4))
		k[31] = byte(rng.IntN(12))
		return k
	}
	table, want, next := newTable(), map[Key]*resident{}, policy.ID(0)
	for range 200_000 {
		k := one()
		r, old := table.keys.get(k), want[k]
		if r != old {
			t.Fatalf("key %v leads to %v, want %v", k, r, old)
		}
		switch op := rng.IntN(4); {
		case r == nil && op < 2:
			next++
			r = &resident{ID: next, Key: k, of: &origin{}}
			table.add(r)
			want[k] = r
		case r == nil:
			for _, r = range table.ids {
				table.addAlias(r, alias{key: k})
				want[k] = r
				break
			}
		case r.Key == k && op == 0:
			again := &resident{ID: r.ID, Key: k, of: &origin{}}
			table.replace(r, again)
			for _, a := range append(again.aliases(), alias{key: k}) {
				want[a.key] = again
			}
		case r.Key == k && op == 1:
			table.drop(r.ID)
			for _, a := range append(r.aliases(), alias{key: k}) {
				delete(want, a.key)
			}
		case r.Key != k && op < 2:
			table.dropAlias(r, k)
			delete(want, k)
		}
	}
	for id := range table.ids {
		table.drop(id)
	}
	if len(table.keys.short)+len(table.keys.more)+table.aliases > 0 {
		t.Errorf("%d and %d keys are left, %d aliases", len(table.keys.short), len(table.keys.more), table.aliases)
	}
}

// TestResidentFitsItsClass: Go's allocator has a class of 208 bytes and next one of 224.
func TestResidentFitsItsClass(t *testing.T) {
	if size := reflect.TypeFor[resident]().Size(); size > 208 {
		t.Errorf("a resident takes %d bytes", size)
	}
}
