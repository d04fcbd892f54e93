package container

// Walk visits the entries of a queue from slot towards its head, at most so many, until visit returns false. It returns where to go on, 0
// where there is nothing more to visit. A slot that is in no queue any more ends the walk.
func (s *Slots[K, T]) Walk(slot uint32, most int, visit func(slot uint32) bool) (next uint32) {
	for ; slot != 0 && int(slot) < len(s.Cells); most-- {
		if most == 0 {
			return slot
		}
		if !visit(slot) {
			return 0
		}
		slot = s.Cells[slot].Prev
	}
	return 0
}

// Least visits the items of the heap in their order, the least first, until visit returns false, and changes nothing. The nth one costs
// O(n).
func (h *Heap) Least(visit func(Node) bool) {
	open := []int{0} // nodes whose parent was visited
	for len(open) > 0 {
		first := 0
		for i := range open {
			if open[i] < len(h.Nodes) && h.goesBefore(open[i], open[first]) {
				first = i
			}
		}
		at := open[first]
		open[first] = open[len(open)-1]
		open = open[:len(open)-1]
		if at >= len(h.Nodes) || !visit(h.Nodes[at]) {
			return
		}
		for child := arity*at + 1; child < min(arity*at+1+arity, len(h.Nodes)); child++ {
			open = append(open, child)
		}
	}
}

// goesBefore compares the nodes at two places.
func (h *Heap) goesBefore(i, j int) bool {
	a, b := &h.Nodes[i], &h.Nodes[j]
	return a.before(b) || h.Ties != nil && a.Major == b.Major && h.tie(a, b)
}
