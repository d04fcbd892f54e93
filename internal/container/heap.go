package container

import "math"

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
