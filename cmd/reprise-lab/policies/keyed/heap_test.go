package keyed

import (
	"math"
	"math/rand/v2"
	"testing"

	"reprise/internal/container"
)

// TestHeapAgainstAScan plays random calls and looks for the least by a scan. The uses run over their end on the way.
func TestHeapAgainstAScan(t *testing.T) {
	var h Heap
	type node struct {
		key  float64
		used int
	}
	naive := map[uint32]node{}
	before := func(a, b node) bool { return a.key < b.key || a.key == b.key && a.used < b.used }
	r := rand.New(rand.NewPCG(1, 2))
	for use := 1; use <= 20_000; {
		if use == 10_000 {
			h.skip()
		}
		item := uint32(r.IntN(60))
		if r.IntN(3) > 0 {
			naive[item] = node{float64(r.IntN(8)) - 2, use}
			h.Set(item, naive[item].key)
			use++
		} else {
			h.Remove(item)
			delete(naive, item)
		}
		if n, ok := naive[item]; h.Has(item) != ok || ok && h.Key(item) != n.key || h.Len() != len(naive) {
			t.Fatalf("use %d: item %d is in: %v, %d items; want %v, %d", use, item, h.Has(item), h.Len(), ok, len(naive))
		}
		least := uint32(math.MaxUint32)
		for item, n := range naive {
			if least == math.MaxUint32 || before(n, naive[least]) {
				least = item
			}
		}
		if len(naive) > 0 && h.Min() != least {
			t.Fatalf("use %d: least is %d, want %d", use, h.Min(), least)
		}
	}
}

// skip makes the last uses those just before the counter ends.
func (h *Heap) skip() {
	by := math.MaxUint32 - h.uses - 100
	h.uses += by
	for i := range h.Heap.Nodes {
		h.Heap.Nodes[i].Minor += by
	}
}

func TestHeapTies(t *testing.T) {
	var h Heap
	h.Set(1, 5)
	h.Set(2, 5)
	h.Set(3, 4)
	h.Set(1, 5) // used again
	for _, want := range []uint32{3, 2, 1} {
		if got := h.Min(); got != want {
			t.Fatalf("least %d, want %d", got, want)
		}
		h.Remove(h.Min())
	}
}

func TestRanksHaveTheOrderOfNumbers(t *testing.T) {
	all := []float64{math.Inf(-1), -1e30, -2, -1, 0, 1e-300, 0.5, 1, 1 << 53, 1e300, math.Inf(1)}
	for i, v := range all {
		if got := unrank(container.Rank(v)); got != v {
			t.Errorf("rank of %v is that of %v", v, got)
		}
		if i > 0 && container.Rank(all[i-1]) >= container.Rank(v) {
			t.Errorf("rank of %v is not below that of %v", all[i-1], v)
		}
	}
}

// TestHeapGivesBackMemory: a heap that was large once does not keep the room of it.
func TestHeapGivesBackMemory(t *testing.T) {
	var h Heap
	for item := range uint32(1000) {
		h.Set(item, float64(item))
	}
	for item := range uint32(990) {
		h.Remove(item)
	}
	if n := cap(h.Heap.Nodes); n > 64 {
		t.Errorf("room for %d items, of which 10 are left", n)
	}
}
