package hnsw

// reach is a walk over all nodes that can be reached in the base layer.
type reach struct {
	seen []uint64 // a bit per node
	open []Node   // seen, and their links not yet followed
	next Node     // all nodes before it are seen, dead or linked again
}

func (g *Graph) newReach() *reach {
	r := &reach{seen: make([]uint64, g.span/64+1), next: 1}
	if at := Node(g.entry.Load()); at != 0 {
		r.add(at)
	}
	return r
}

// add reports whether n is within the walk and was not seen before.
func (r *reach) add(n Node) bool {
	if int(n/64) >= len(r.seen) || r.seen[n/64]>>(n%64)&1 != 0 {
		return false
	}
	r.seen[n/64] |= 1 << (n % 64)
	r.open = append(r.open, n)
	return true
}

// relink goes on with the walk for some nodes, and then with those that it did not come to, and reports whether none is left. What
// was inserted since it began needs no link: it has links from the nodes that a search found.
func (g *Graph) relink(v *view, nodes int) (done bool) {
	for r := g.sweep.reach; nodes > 0; nodes-- {
		if last := len(r.open) - 1; last >= 0 {
			n := r.open[last]
			r.open = r.open[:last]
			list := v.links(n, 0)
			for i := range list {
				if to := Node(list[i].Load()); to != 0 {
					r.add(to)
				}
			}
			continue
		}
		if int(r.next) >= 64*len(r.seen) || r.next >= g.span {
			return true
		}
		if n := r.next; !v.isDead(n) && r.add(n) {
			g.linkAgain(v, n)
		}
		r.next++
	}
	return false
}

// relinks is how many nodes are linked to one that has lost its links: by a single one a search would rarely come to it.
const relinks = 4

// linkAgain links the nearest nodes that a search finds and that have room to n.
func (g *Graph) linkAgain(v *view, n Node) {
	at := Node(g.entry.Load())
	for layer := v.top(at); layer > 0; layer-- {
		at = g.own.descend(v, at, v.sketch(n), layer)
	}
	linked := 0
	for _, h := range g.own.search(v, at, v.sketch(n), 0, breadth) {
		if h.node() == n || linked == relinks {
			return // where it is found, another link has led to it since
		}
		list := v.links(h.node(), 0)
		for i := range list {
			if list[i].Load() == 0 {
				list[i].Store(uint32(n))
				linked++
				break
			}
		}
	}
}
