package container

// Heap orders residents by a key that does not change between their uses, the least first. Ties go to the higher rank,
// then to what was used least recently, or most recently: the calls of set are counted, which makes the order total.
//
// Items are small numbers of the caller's, such as slots of a slab. set and remove cost O(log n), the rest O(1).
// Memory per item: 28 bytes.
type Heap struct {
	nodes []heapNode // four children each: shallower than two, and they share a cache line or two
	place []uint32   // of an item in nodes, from 1; 0: not in it
	uses  uint64

	Newest bool // ties go to what was used most recently
}

type heapNode struct {
	key  float64
	used uint64 // which call of set, in the order of ties
	item uint32
	rank int32
}

const heapArity = 4

func (a *heapNode) before(b *heapNode) bool {
	if a.key != b.key {
		return a.key < b.key
	}
	if a.rank != b.rank {
		return a.rank > b.rank
	}
	return a.used < b.used
}

// Len is the number of items.
func (h *Heap) Len() int { return len(h.nodes) }

// Min is the item of the least key; the heap is not empty.
func (h *Heap) Min() uint32 { return h.nodes[0].item }

// Key is that of an item which is in the heap.
func (h *Heap) Key(item uint32) float64 { return h.nodes[h.place[item]-1].key }

// Has reports whether item is in the heap.
func (h *Heap) Has(item uint32) bool { return int(item) < len(h.place) && h.place[item] != 0 }

// Set puts item in, or moves it, as the one used last.
func (h *Heap) Set(item uint32, key float64, rank int32) {
	if h.Newest {
		h.uses-- // from 0 to the top, and down
	} else {
		h.uses++
	}
	n := heapNode{key: key, used: h.uses, item: item, rank: rank}
	for int(item) >= len(h.place) {
		h.place = append(h.place, 0)
	}
	i := int(h.place[item]) - 1
	if i < 0 {
		i = len(h.nodes)
		h.nodes = append(h.nodes, n)
	}
	h.settle(i, n)
}

// Remove drops item, if it is in.
func (h *Heap) Remove(item uint32) {
	if !h.Has(item) {
		return
	}
	i := int(h.place[item]) - 1
	h.place[item] = 0
	end := len(h.nodes) - 1
	last := h.nodes[end]
	h.nodes = h.nodes[:end]
	if i < end {
		h.settle(i, last)
	}
}

// settle seats n, for which place i is free, above or below it.
func (h *Heap) settle(i int, n heapNode) {
	for i > 0 {
		up := (i - 1) / heapArity
		if !n.before(&h.nodes[up]) {
			break
		}
		h.seat(i, h.nodes[up])
		i = up
	}
	for {
		least := h.leastChild(i)
		if least == 0 || !h.nodes[least].before(&n) {
			break
		}
		h.seat(i, h.nodes[least])
		i = least
	}
	h.seat(i, n)
}

// leastChild is 0 for a leaf.
func (h *Heap) leastChild(i int) int {
	first := heapArity*i + 1
	if first >= len(h.nodes) {
		return 0
	}
	least := first
	for c := first + 1; c < min(first+heapArity, len(h.nodes)); c++ {
		if h.nodes[c].before(&h.nodes[least]) {
			least = c
		}
	}
	return least
}

func (h *Heap) seat(i int, n heapNode) {
	h.nodes[i] = n
	h.place[n.item] = uint32(i + 1)
}
