package keyed

import (
	"cmp"
	"math"
	"slices"

	"reprise/internal/container"
)

// Heap is a container.Heap of its own that orders items by a key that does not change between their uses, the least first. Ties go to
// what was used least recently: the calls of Set are counted, which makes the order total. Memory per item: 20 bytes. The zero
// value is empty.
type Heap struct {
	Heap container.Heap // its Ties are for items that are set by SetMinor

	uses uint32 // the last Minor given
}

// Len is the number of items.
func (h *Heap) Len() int { return len(h.Heap.Nodes) }

// Min is the item of the least key; the heap is not empty.
func (h *Heap) Min() uint32 { return h.Heap.Nodes[0].Item }

// Has reports whether item is in the heap.
func (h *Heap) Has(item uint32) bool {
	return int(item) < len(h.Heap.Place) && h.Heap.Place[item] != 0
}

// Key is that of an item which is in the heap.
func (h *Heap) Key(item uint32) float64 { return unrank(h.Heap.Nodes[h.Heap.Place[item]-1].Major) }

// Set puts item in, or moves it, as the one used last.
func (h *Heap) Set(item uint32, key float64) {
	if h.uses++; h.uses == 0 {
		h.renumber()
		h.uses++
	}
	h.SetMinor(item, key, h.uses)
}

// SetMinor is Set with a second key in place of the uses.
func (h *Heap) SetMinor(item uint32, key float64, minor uint32) {
	for int(item) >= len(h.Heap.Place) {
		h.Heap.Place = append(h.Heap.Place, 0)
	}
	n := container.Node{Major: container.Rank(key), Minor: minor, Item: item}
	if h.Heap.Place[item] == 0 {
		h.Heap.Push(n)
	} else {
		h.Heap.Move(n)
	}
}

// Remove takes item out, if it is in.
func (h *Heap) Remove(item uint32) {
	if h.Has(item) {
		h.Heap.Remove(item)
	}
}

// renumber gives the uses new numbers in the same order, once in 4 billion of them.
func (h *Heap) renumber() {
	order := make([]int, len(h.Heap.Nodes))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(h.Heap.Nodes[a].Minor, h.Heap.Nodes[b].Minor) })
	for i, at := range order {
		h.Heap.Nodes[at].Minor = uint32(i + 1)
	}
	h.uses = uint32(len(order))
}

// LargerFirst is n as the Minor of a container.Node: larger numbers go first.
func LargerFirst(n int32) uint32 { return math.MaxUint32 - (uint32(n) ^ 1<<31) }

// unrank is the inverse of container.Rank.
func unrank(major uint64) float64 {
	if major>>63 == 0 {
		return math.Float64frombits(^major)
	}
	return math.Float64frombits(major &^ (1 << 63))
}

// Int32 is the int32 that is nearest to n.
func Int32(n int) int32 { return int32(min(max(n, math.MinInt32), math.MaxInt32)) }
