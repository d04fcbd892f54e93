package container

import (
	"math"
	"slices"
)

// Node is an item in a heap, and its rank there: by Major, then by Minor.
type Node struct {
	Major uint64
	Minor uint32
	Item  uint32
}

// Rank is v as a Major: numbers have the order of their ranks.
func Rank(v float64) uint64 {
	b := math.Float64bits(v)
	if b>>63 != 0 {
		return ^b
	}
	return b | 1<<63
}

// unrank is the inverse of Rank.
func unrank(major uint64) float64 {
	if major>>63 == 0 {
		return math.Float64frombits(^major)
	}
	return math.Float64frombits(major &^ (1 << 63))
}

// Heap is a min-heap of items, which are small numbers of the caller's, and the place of each in it. Push, Move and Remove
// cost O(log n). It is a view: the nodes and the places are the caller's, so that many heaps over one kind of item, which
// sits in one of them at a time, share the places. They are no field of the items because a sift moves many items, and 4
// bytes each stay in the CPU's cache.
type Heap struct {
	Nodes *[]Node                // the least first; four children each: shallower than two, and they share a cache line or two
	Place []uint32               // of each item in Nodes, from 1; 0: in no heap
	Ties  func(a, b uint32) bool // whether item a goes before b where the ranks are equal; may be nil where they never are
}

const arity = 4

// Push puts in the item of n, which is in no heap.
func (h Heap) Push(n Node) {
	*h.Nodes = append(*h.Nodes, n)
	h.up(n, len(*h.Nodes)-1)
}

// Move gives the item of n its new rank.
func (h Heap) Move(n Node) { h.settle(n, int(h.Place[n.Item])-1) }

// Remove takes out an item that is in the heap. A heap that has become much smaller gives memory back.
func (h Heap) Remove(item uint32) {
	s := *h.Nodes
	i, end := int(h.Place[item])-1, len(s)-1
	last := s[end]
	h.Place[item] = 0
	*h.Nodes = shrink(s[:end])
	if i < end {
		h.settle(last, i)
	}
}

// Order restores the heap after all ranks have changed.
func (h Heap) Order() {
	s := *h.Nodes
	for i := len(s) - 1; i >= 0; i-- {
		h.down(s[i], i)
	}
}

// settle seats n, for which place i is free, above or below it.
func (h Heap) settle(n Node, i int) {
	if i > 0 && h.before(&n, &(*h.Nodes)[(i-1)/arity]) {
		h.up(n, i)
	} else {
		h.down(n, i)
	}
}

func (h Heap) up(n Node, i int) {
	s := *h.Nodes
	for i > 0 {
		parent := (i - 1) / arity
		if !h.before(&n, &s[parent]) {
			break
		}
		s[i] = s[parent]
		h.Place[s[i].Item] = uint32(i + 1)
		i = parent
	}
	s[i] = n
	h.Place[n.Item] = uint32(i + 1)
}

func (h Heap) down(n Node, i int) {
	s := *h.Nodes
	for first := arity*i + 1; first < len(s); first = arity*i + 1 {
		least := first
		for c := first + 1; c < min(first+arity, len(s)); c++ {
			if h.before(&s[c], &s[least]) {
				least = c
			}
		}
		if !h.before(&s[least], &n) {
			break
		}
		s[i] = s[least]
		h.Place[s[i].Item] = uint32(i + 1)
		i = least
	}
	s[i] = n
	h.Place[n.Item] = uint32(i + 1)
}

func (h Heap) before(a, b *Node) bool {
	if a.Major != b.Major {
		return a.Major < b.Major
	}
	if a.Minor != b.Minor {
		return a.Minor < b.Minor
	}
	return h.Ties != nil && h.Ties(a.Item, b.Item)
}

func shrink(s []Node) []Node {
	if cap(s) <= 4*arity || len(s) > cap(s)/4 {
		return s
	}
	return append(make([]Node, 0, cap(s)/2), s...)
}

// KeyHeap is a Heap of its own that orders items by a key that does not change between their uses, the least first. Ties go to
// what was used least recently, or most recently: the calls of Set are counted, which makes the order total. Memory per
// item: 20 bytes. The zero value is empty.
type KeyHeap struct {
	Newest bool                   // ties go to what was used most recently
	Ties   func(a, b uint32) bool // where all items are set by SetMinor: whether a goes before b in a tie

	nodes []Node
	place []uint32
	uses  uint32 // the last Minor given
}

// Len is the number of items.
func (h *KeyHeap) Len() int { return len(h.nodes) }

// Min is the item of the least key; the heap is not empty.
func (h *KeyHeap) Min() uint32 { return h.nodes[0].Item }

// Has reports whether item is in the heap.
func (h *KeyHeap) Has(item uint32) bool { return int(item) < len(h.place) && h.place[item] != 0 }

// Key is that of an item which is in the heap.
func (h *KeyHeap) Key(item uint32) float64 { return unrank(h.nodes[h.place[item]-1].Major) }

// Set puts item in, or moves it, as the one used last.
func (h *KeyHeap) Set(item uint32, key float64) { h.SetMinor(item, key, h.next()) }

// SetMinor is Set with a second key in place of the uses.
func (h *KeyHeap) SetMinor(item uint32, key float64, minor uint32) {
	for int(item) >= len(h.place) {
		h.place = append(h.place, 0)
	}
	n := Node{Major: Rank(key), Minor: minor, Item: item}
	if h.place[item] == 0 {
		h.heap().Push(n)
	} else {
		h.heap().Move(n)
	}
}

// Remove takes item out, if it is in.
func (h *KeyHeap) Remove(item uint32) {
	if h.Has(item) {
		h.heap().Remove(item)
	}
}

func (h *KeyHeap) heap() Heap { return Heap{Nodes: &h.nodes, Place: h.place, Ties: h.Ties} }

// next is the Minor of the next use: up from 1, or down from the top.
func (h *KeyHeap) next() uint32 {
	if h.Newest {
		h.uses--
	} else {
		h.uses++
	}
	if h.uses == 0 {
		h.renumber()
		return h.next()
	}
	return h.uses
}

// renumber gives the uses new numbers in the same order, once in 4 billion of them.
func (h *KeyHeap) renumber() {
	order := make([]int, len(h.nodes))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return int(int64(h.nodes[a].Minor) - int64(h.nodes[b].Minor)) })
	first := uint32(1)
	if h.Newest {
		first = -uint32(len(order))
		h.uses = first
	} else {
		h.uses = uint32(len(order))
	}
	for i, at := range order {
		h.nodes[at].Minor = first + uint32(i)
	}
}
