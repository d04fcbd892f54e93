package hnsw

import (
	"slices"
	"sync/atomic"
)

// Insert adds a node with a key, which is not 0 (Alg. 1). The nodes that a search for its sketch has found lately may be given as
// near; then Insert does not search again, except in upper layers, and takes less than half of the time.
func (g *Graph) Insert(key uint64, s *Sketch, near []Node) Node {
	n := g.add(key, s)
	v, at := g.view.Load(), Node(g.entry.Load())
	if at == 0 {
		g.entry.Store(uint32(n))
		return n
	}
	top, highest := v.top(n), v.top(at)
	for layer := highest; layer > top; layer-- {
		at = g.own.descend(v, at, s, layer)
	}
	for layer := min(top, highest); layer >= 0; layer-- {
		found := g.known(v, s, near)
		if layer > 0 || len(found) < newLinks {
			found = g.own.search(v, at, s, layer, breadth)
			at = found[0].node()
			found = g.alive(v, found)
		}
		g.own.near = diverse(v, found, newLinks, g.own.near[:0])
		setLinks(v.links(n, layer), g.own.near)
	}
	g.linkNeighbours(v, n, min(top, highest))
	if v.links(n, 0)[0].Load() == 0 || top > highest { // of a graph of tombstones nothing else can be reached
		g.entry.Store(uint32(n))
	}
	return n
}

// linkNeighbours links the neighbours of a new node to it. The upper layers come last, because a search that comes to the node there goes
// on from it below.
func (g *Graph) linkNeighbours(v *view, n Node, highest int) {
	for layer := 0; layer <= highest; layer++ {
		list := v.links(n, layer)
		for i := range list {
			to := Node(list[i].Load())
			if to == 0 {
				break
			}
			g.linkBack(v, to, n, layer)
		}
	}
}

// known is the nodes of near that are alive, by their distances now: a place may be used by another node since.
func (g *Graph) known(v *view, s *Sketch, near []Node) []hit {
	w := g.own
	w.sorted = w.sorted[:0]
	for _, n := range near {
		if !v.isDead(n) {
			w.sorted = append(w.sorted, newHit(n, v.distance(n, s)))
		}
	}
	slices.Sort(w.sorted)
	w.sorted = slices.Compact(w.sorted)
	return w.sorted
}

func (g *Graph) alive(v *view, found []hit) []hit {
	return slices.DeleteFunc(found, func(h hit) bool { return v.isDead(h.node()) })
}

// linkBack adds a link to the list of n. A full list is chosen again, which may leave out any of its links.
func (g *Graph) linkBack(v *view, n, to Node, layer int) {
	w, list := g.own, v.links(n, layer)
	w.pool = append(w.pool[:0], newHit(to, v.distance(to, v.sketch(n))))
	for i := range list {
		old := Node(list[i].Load())
		if old == 0 {
			list[i].Store(uint32(to))
			return
		}
		w.pool = append(w.pool, newHit(old, v.distance(old, v.sketch(n))))
	}
	g.choose(v, n, layer)
}

// choose makes the list of n of the nodes in the pool.
func (g *Graph) choose(v *view, n Node, layer int) {
	w, list := g.own, v.links(n, layer)
	slices.Sort(w.pool)
	w.pruned = diverse(v, slices.Compact(w.pool), len(list), w.pruned[:0])
	setLinks(list, w.pruned)
}

// diverse appends nodes to dst, the nearest first: those that are nearer to the node than to any chosen before, so that links
// lead in all directions, and at most most (Alg. 4). Others are not added to fill the list: they cost time and find nothing more.
func diverse(v *view, sorted []hit, most int, dst []hit) []hit {
next:
	for _, h := range sorted {
		s := v.sketch(h.node())
		for _, chosen := range dst {
			if v.distance(chosen.node(), s) < h.distance() {
				continue next
			}
		}
		if dst = append(dst, h); len(dst) == most {
			break
		}
	}
	return dst
}

func setLinks(list []atomic.Uint32, to []hit) {
	for i := range list {
		n := uint32(0)
		if i < len(to) {
			n = uint32(to[i].node())
		}
		if list[i].Load() != n {
			list[i].Store(n)
		}
	}
}
