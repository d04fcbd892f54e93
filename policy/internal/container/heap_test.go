package container

import (
	"math/rand/v2"
	"testing"
)

// TestMinHeapAgainstAScan plays random calls and looks for the least by a scan.
func TestMinHeapAgainstAScan(t *testing.T) {
	var h Heap
	naive := map[uint32]heapNode{}
	r := rand.New(rand.NewPCG(1, 2))
	for use := uint64(1); use <= 20_000; {
		item := uint32(r.IntN(60))
		if r.IntN(3) > 0 {
			n := heapNode{key: float64(r.IntN(8)), rank: int32(r.IntN(3)), used: use, item: item}
			h.Set(item, n.key, n.rank)
			naive[item] = n
			use++
		} else {
			h.Remove(item)
			delete(naive, item)
		}
		if n, ok := naive[item]; h.Has(item) != ok || ok && h.Key(item) != n.key || h.Len() != len(naive) {
			t.Fatalf("use %d: item %d is in: %v, %d items; want %v, %d", use, item, h.Has(item), h.Len(), ok, len(naive))
		}
		var want heapNode
		for _, n := range naive {
			if want.used == 0 || n.before(&want) {
				want = n
			}
		}
		if len(naive) > 0 && h.Min() != want.item {
			t.Fatalf("use %d: least is %+v, want %+v", use, h.nodes[0], want)
		}
	}
}

func TestMinHeapTies(t *testing.T) {
	var h Heap
	h.Set(1, 5, 0)
	h.Set(2, 5, 0)
	h.Set(3, 5, 7) // the higher rank goes first
	h.Set(4, 4, -1)
	h.Set(1, 5, 0) // used again
	for _, want := range []uint32{4, 3, 2, 1} {
		if got := h.Min(); got != want {
			t.Fatalf("least %d, want %d", got, want)
		}
		h.Remove(h.Min())
	}
}
