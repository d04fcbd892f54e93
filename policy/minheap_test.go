package policy

import (
	"math/rand/v2"
	"testing"
)

// TestMinHeapAgainstAScan plays random calls and looks for the least by a scan.
func TestMinHeapAgainstAScan(t *testing.T) {
	var h minHeap
	naive := map[uint32]heapNode{}
	r := rand.New(rand.NewPCG(1, 2))
	for use := uint64(1); use <= 20_000; {
		item := uint32(r.IntN(60))
		if r.IntN(3) > 0 {
			n := heapNode{key: float64(r.IntN(8)), rank: int32(r.IntN(3)), used: use, item: item}
			h.set(item, n.key, n.rank)
			naive[item] = n
			use++
		} else {
			h.remove(item)
			delete(naive, item)
		}
		if n, ok := naive[item]; h.has(item) != ok || ok && h.key(item) != n.key || h.len() != len(naive) {
			t.Fatalf("use %d: item %d is in: %v, %d items; want %v, %d", use, item, h.has(item), h.len(), ok, len(naive))
		}
		var want heapNode
		for _, n := range naive {
			if want.used == 0 || n.before(&want) {
				want = n
			}
		}
		if len(naive) > 0 && h.min() != want.item {
			t.Fatalf("use %d: least is %+v, want %+v", use, h.nodes[0], want)
		}
	}
}

func TestMinHeapTies(t *testing.T) {
	var h minHeap
	h.set(1, 5, 0)
	h.set(2, 5, 0)
	h.set(3, 5, 7) // the higher rank goes first
	h.set(4, 4, -1)
	h.set(1, 5, 0) // used again
	for _, want := range []uint32{4, 3, 2, 1} {
		if got := h.min(); got != want {
			t.Fatalf("least %d, want %d", got, want)
		}
		h.remove(h.min())
	}
}
