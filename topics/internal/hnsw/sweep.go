package hnsw

import "slices"

// sweep is a pass over all nodes, which takes tombstones out of their lists.
type sweep struct {
	removed []uint64 // a bit per node: tombstones when the pass began
	at      Node
	entry   Node   // the highest node so far that may stay
	reach   *reach // the second part of the pass
}

// Sweep goes over the next nodes and replaces links to tombstones by what these were linked to (Singh et al., "FreshDiskANN", 2021,
// Alg. 4). The last call of a pass reports that it is done: then no search that begins can reach the tombstones of before the
// pass, and Release gives their places free. Nodes to which no link is left are linked again. A pass costs some 15 µs a node; building
// again would cost ten times as much.
func (g *Graph) Sweep(nodes int) (done bool) {
	if g.sweep == nil {
		g.sweep = g.newSweep()
	}
	v, s := g.view.Load(), g.sweep
	for ; nodes > 0 && s.at < g.span; nodes-- {
		if n := s.at; !s.has(n) {
			for layer := v.top(n); layer >= 0; layer-- {
				g.bypass(v, n, layer)
			}
			if !v.isDead(n) && (s.entry == 0 || v.top(n) > v.top(s.entry)) {
				s.entry = n
			}
		}
		s.at++
	}
	switch {
	case s.at < g.span && s.reach == nil:
		return false
	case s.reach == nil:
		if s.has(Node(g.entry.Load())) {
			g.entry.Store(uint32(s.entry))
		}
		s.reach = g.newReach()
	}
	return g.relink(v, nodes)
}

func (g *Graph) newSweep() *sweep {
	v, s := g.view.Load(), &sweep{at: 1, removed: make([]uint64, g.span/64+1)}
	for n := Node(1); n < g.span; n++ {
		if v.isDead(n) {
			s.removed[n/64] |= 1 << (n % 64)
		}
	}
	for _, n := range g.free { // nothing is linked to them, and one that is used during the pass is a new node
		s.removed[n/64] &^= 1 << (n % 64)
	}
	return s
}

// has reports whether n is a tombstone that the pass removes.
func (s *sweep) has(n Node) bool {
	return int(n/64) < len(s.removed) && s.removed[n/64]>>(n%64)&1 != 0
}

// bypass makes the list of n again if it has links to tombstones.
func (g *Graph) bypass(v *view, n Node, layer int) {
	w, list, found := g.own, v.links(n, layer), false
	w.pool = w.pool[:0]
	add := func(to Node) {
		if to != n && !g.sweep.has(to) {
			w.pool = append(w.pool, newHit(to, v.distance(to, v.sketch(n))))
		}
	}
	for i := range list {
		to := Node(list[i].Load())
		if to == 0 {
			break
		}
		if !g.sweep.has(to) {
			add(to)
			continue
		}
		found = true
		beyond := v.links(to, layer)
		for j := range beyond {
			if far := Node(beyond[j].Load()); far != 0 {
				add(far)
			}
		}
	}
	if found {
		g.choose(v, n, layer)
	}
}

// Release ends a pass that is done: it wipes the tombstones and gives their places free. No search that began before the end of the
// pass may still run; it would read places that change.
func (g *Graph) Release() {
	v, s := g.view.Load(), g.sweep
	g.sweep = nil
	for n := Node(1); n < s.at; n++ {
		if !s.has(n) {
			continue
		}
		*v.sketch(n) = Sketch{}
		for layer := v.top(n); layer >= 0; layer-- {
			setLinks(v.links(n, layer), nil)
		}
		g.free = append(g.free, n)
		g.dead.Add(-1)
	}
	g.free = slices.Clip(g.free)
}
