package hnsw

import "slices"

// hit is a node and its distance, in a number that sorts by distance.
type hit uint64

func newHit(n Node, distance int) hit { return hit(distance)<<32 | hit(n) }

func (h hit) node() Node    { return Node(h) }
func (h hit) distance() int { return int(h >> 32) }

// walk is the memory of one search at a time. Distances are small whole numbers, so the queue of what to visit next is a list per
// distance, and the nearest are counted by distance: no heap is needed.
type walk struct {
	seen    []uint64 // a bit per node
	visited []Node   // whose bits are set

	hits  []hit           // the nodes visited that were near enough
	next  []int32         // of each hit, the one before it at the same distance; 0 is none, else an index + 1
	first [Bits + 1]int32 // of each distance, the last hit that was not expanded yet; as next

	wanted, live int
	count        [Bits + 1]int // live hits by distance
	bound        int           // the distance of the last of the nearest, once as many as wanted are live
	lowest       int           // no hit that was not expanded is nearer

	fresh     [baseLinks]Node
	distances [baseLinks]int32 // of fresh

	sorted []hit
	near   []hit // results of diverse
	pool   []hit
	pruned []hit
}

// search finds the nodes of one layer that are nearest to q, as many as wanted of them live, and returns them with the tombstones
// among them, the nearest first (Alg. 2). They are valid until the next call.
func (w *walk) search(v *view, from Node, q *Sketch, layer, wanted int) []hit {
	w.begin(v, wanted)
	w.seen[from/64] |= 1 << (from % 64)
	w.visited = append(w.visited, from)
	w.offer(v, from, v.distance(from, q))
	for {
		for w.lowest <= w.bound && w.first[w.lowest] == 0 {
			w.lowest++
		}
		if w.lowest > w.bound {
			break
		}
		at := w.first[w.lowest] - 1
		w.first[w.lowest] = w.next[at]
		fresh := w.unvisited(v, w.hits[at].node(), layer)
		for i, n := range fresh {
			w.distances[i] = int32(v.distance(n, q))
		}
		for i, n := range fresh {
			if d := int(w.distances[i]); d < w.bound || w.live < w.wanted {
				w.offer(v, n, d)
			}
		}
	}
	return w.end()
}

func (w *walk) begin(v *view, wanted int) {
	if words := len(v.chunks) * chunkLen / 64; len(w.seen) < words {
		w.seen = make([]uint64, words)
	}
	w.hits, w.next, w.visited = w.hits[:0], w.next[:0], w.visited[:0]
	clear(w.first[:])
	clear(w.count[:])
	w.wanted, w.live, w.bound, w.lowest = wanted, 0, Bits, Bits
}

// unvisited is the linked nodes that were not visited before, which it marks. They are gathered before their sketches are read, and without a
// branch that the processor cannot predict, so that it reads many at a time: a search waits for memory most of its time.
func (w *walk) unvisited(v *view, of Node, layer int) []Node {
	list, count := v.links(of, layer), 0
	for i := range list {
		n := Node(list[i].Load())
		if n == 0 {
			break
		}
		if !v.has(n) {
			continue
		}
		w.fresh[count&(baseLinks-1)] = n
		word, bit := &w.seen[n/64], n%64
		count += int(^*word >> bit & 1)
		*word |= 1 << bit
	}
	w.visited = append(w.visited, w.fresh[:count]...)
	return w.fresh[:count]
}

func (w *walk) offer(v *view, n Node, d int) {
	w.hits, w.next = append(w.hits, newHit(n, d)), append(w.next, w.first[d])
	w.first[d] = int32(len(w.hits))
	w.lowest = min(w.lowest, d)
	if v.isDead(n) { // searches pass through it, and do not return it
		return
	}
	w.count[d]++
	w.live++
	for w.live-w.count[w.bound] >= w.wanted {
		w.live -= w.count[w.bound]
		w.bound--
	}
}

func (w *walk) end() []hit {
	for _, n := range w.visited {
		w.seen[n/64] = 0
	}
	clear(w.first[:])
	for _, h := range w.hits { // sorted by counting: there are few distances
		w.first[h.distance()]++
	}
	at := int32(0)
	for d := range w.first[:w.bound+1] {
		w.first[d], at = at, at+w.first[d]
	}
	w.sorted = slices.Grow(w.sorted[:0], int(at))[:at]
	for _, h := range w.hits {
		if d := h.distance(); d <= w.bound {
			w.sorted[w.first[d]] = h
			w.first[d]++
		}
	}
	return w.sorted
}

// descend follows the links of an upper layer to a node that has no nearer neighbour.
func (w *walk) descend(v *view, from Node, q *Sketch, layer int) Node {
	nearest := v.distance(from, q)
	for {
		at, list := from, v.links(from, layer)
		for i := range list {
			n := Node(list[i].Load())
			if n == 0 {
				break
			}
			if !v.has(n) {
				continue
			}
			if d := v.distance(n, q); d < nearest {
				nearest, from = d, n
			}
		}
		if from == at {
			return at
		}
	}
}

// Found is a node near a query.
type Found struct {
	Key      uint64
	Node     Node
	Distance int
}

// Search appends the nearest nodes to dst, the nearest first: the nearest ef where it can reach them, and others at the distance of
// the last one (Alg. 5). More of them cost more and lose less.
func (g *Graph) Search(q *Sketch, ef int, dst []Found) []Found {
	at, v := Node(g.entry.Load()), g.view.Load()
	if at == 0 || !v.has(at) {
		return dst
	}
	w := g.walks.Get().(*walk)
	for layer := v.top(at); layer > 0; layer-- {
		at = w.descend(v, at, q, layer)
	}
	for _, h := range w.search(v, at, q, 0, ef) {
		if key := v.key(h.node()).Load(); key != 0 {
			dst = append(dst, Found{key, h.node(), h.distance()})
		}
	}
	g.walks.Put(w) // not after a panic
	return dst
}
