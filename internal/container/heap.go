package container

import (
	"cmp"
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

// LargerFirst is n as a Minor: larger numbers go first.
func LargerFirst(n int32) uint32 { return math.MaxUint32 - (uint32(n) ^ 1<<31) }

// unrank is the inverse of Rank.
func unrank(major uint64) float64 {
	if major>>63 == 0 {
		return math.Float64frombits(^major)
	}
	return math.Float64frombits(major &^ (1 << 63))
}

// Heap is a min-heap of items, which are small numbers of the caller's, and the place of each in it. Push, Move and Remove
// cost O(log n). The places are no field of the items because a sift moves many items, and 4 bytes each stay in the CPU's
// cache. The zero value is empty.
type Heap struct {
	Nodes []Node                 // the least first; four children each: shallower than two, and they share a cache line or two
	Place []uint32               // of each item in Nodes, from 1; 0: not in the heap
	Ties  func(a, b uint32) bool // whether item a goes before b where the ranks are equal; may be nil where they never are
}

const arity = 4

// Push puts in the item of n, which is not in the heap and has a Place.
func (h *Heap) Push(n Node) {
	h.Nodes = append(h.Nodes, n)
	h.seat(h.rise(n, len(h.Nodes)-1), n)
}

// Move gives the item of n its new rank.
func (h *Heap) Move(n Node) { h.settle(n, int(h.Place[n.Item])-1) }

// Remove takes out an item that is in the heap. A heap that has become much smaller gives memory back.
func (h *Heap) Remove(item uint32) {
	i, end := int(h.Place[item])-1, len(h.Nodes)-1
	last := h.Nodes[end]
	h.Place[item] = 0
	h.Nodes = shrink(h.Nodes[:end])
	if i < end {
		h.settle(last, i)
	}
}

// Order restores the heap after all ranks have changed.
func (h *Heap) Order() {
	for i := len(h.Nodes) - 1; i >= 0; i-- {
		h.down(h.Nodes[i], i)
	}
}

// settle seats n, for which place i is free, above or below it.
func (h *Heap) settle(n Node, i int) {
	if at := h.rise(n, i); at < i {
		h.seat(at, n)
	} else {
		h.down(n, i)
	}
}

// rise moves down what n, which is to sit at i, goes before, and returns the place that is then free.
func (h *Heap) rise(n Node, i int) int {
	ties := h.Ties != nil
	for i > 0 {
		parent := (i - 1) / arity
		if p := &h.Nodes[parent]; !n.before(p) && !(ties && n.Major == p.Major && h.tie(&n, p)) {
			break
		}
		h.seat(i, h.Nodes[parent])
		i = parent
	}
	return i
}

// down seats n, for which place i is free, there or below.
func (h *Heap) down(n Node, i int) {
	ties := h.Ties != nil
	for first := arity*i + 1; first < len(h.Nodes); first = arity*i + 1 {
		least := first
		for c := first + 1; c < min(first+arity, len(h.Nodes)); c++ {
			if x, y := &h.Nodes[c], &h.Nodes[least]; x.before(y) || ties && x.Major == y.Major && h.tie(x, y) {
				least = c
			}
		}
		if x := &h.Nodes[least]; !x.before(&n) && !(ties && x.Major == n.Major && h.tie(x, &n)) {
			break
		}
		h.seat(i, h.Nodes[least])
		i = least
	}
	h.seat(i, n)
}

func (h *Heap) seat(i int, n Node) {
	h.Nodes[i] = n
	h.Place[n.Item] = uint32(i + 1)
}

// before compares ranks. It is inlined in the sifts, which call tie only where there are Ties and the Majors are equal.
func (a *Node) before(b *Node) bool {
	if a.Major != b.Major {
		return a.Major < b.Major
	}
	return a.Minor < b.Minor
}

// tie reports whether a, which has the Major of b and is not before it, goes before it by Ties.
func (h *Heap) tie(a, b *Node) bool { return a.Minor == b.Minor && h.Ties(a.Item, b.Item) }

func shrink(s []Node) []Node {
	if cap(s) <= 4*arity || len(s) > cap(s)/4 {
		return s
	}
	return append(make([]Node, 0, cap(s)/2), s...)
}

// Heaps are many heaps over one kind of item that share the places, since an item is in one of them at a time. The nodes of
// each are the caller's.
type Heaps struct {
	Place []uint32
	Ties  func(a, b uint32) bool
}

// Push is Heap.Push.
func (s *Heaps) Push(nodes *[]Node, n Node) {
	h := Heap{*nodes, s.Place, s.Ties}
	h.Push(n)
	*nodes = h.Nodes
}

// Move is Heap.Move.
func (s *Heaps) Move(nodes []Node, n Node) {
	h := Heap{nodes, s.Place, s.Ties}
	h.Move(n)
}

// Remove is Heap.Remove.
func (s *Heaps) Remove(nodes *[]Node, item uint32) {
	h := Heap{*nodes, s.Place, s.Ties}
	h.Remove(item)
	*nodes = h.Nodes
}

// KeyHeap is a Heap of its own that orders items by a key that does not change between their uses, the least first. Ties go to
// what was used least recently: the calls of Set are counted, which makes the order total. Memory per item: 20 bytes. The zero
// value is empty.
type KeyHeap struct {
	Heap Heap // its Ties are for items that are set by SetMinor

	uses uint32 // the last Minor given
}

// Len is the number of items.
func (h *KeyHeap) Len() int { return len(h.Heap.Nodes) }

// Min is the item of the least key; the heap is not empty.
func (h *KeyHeap) Min() uint32 { return h.Heap.Nodes[0].Item }

// Has reports whether item is in the heap.
func (h *KeyHeap) Has(item uint32) bool {
	return int(item) < len(h.Heap.Place) && h.Heap.Place[item] != 0
}

// Key is that of an item which is in the heap.
func (h *KeyHeap) Key(item uint32) float64 { return unrank(h.Heap.Nodes[h.Heap.Place[item]-1].Major) }

// Set puts item in, or moves it, as the one used last.
func (h *KeyHeap) Set(item uint32, key float64) {
	if h.uses++; h.uses == 0 {
		h.renumber()
		h.uses++
	}
	h.SetMinor(item, key, h.uses)
}

// SetMinor is Set with a second key in place of the uses.
func (h *KeyHeap) SetMinor(item uint32, key float64, minor uint32) {
	for int(item) >= len(h.Heap.Place) {
		h.Heap.Place = append(h.Heap.Place, 0)
	}
	n := Node{Major: Rank(key), Minor: minor, Item: item}
	if h.Heap.Place[item] == 0 {
		h.Heap.Push(n)
	} else {
		h.Heap.Move(n)
	}
}

// Remove takes item out, if it is in.
func (h *KeyHeap) Remove(item uint32) {
	if h.Has(item) {
		h.Heap.Remove(item)
	}
}

// renumber gives the uses new numbers in the same order, once in 4 billion of them.
func (h *KeyHeap) renumber() {
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
