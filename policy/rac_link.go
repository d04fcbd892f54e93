package policy

// Link gives child a parent after its insertion, and credits the parent with all requests of child so far (paper 002,
// Alg. 3 line 13; D17). It refuses when one of them is not resident, when child has a living parent, and when the parent
// is not older than the child, so that links never form a cycle (D13).
func (r *RAC) Link(child, parent ID) bool {
	c, ok := r.index[child]
	if !ok || child == parent {
		return false
	}
	p, ok := r.parent(parent)
	if !ok || !r.opts.YoungParents && r.entries[p].born >= r.entries[c].born {
		return false
	}
	if _, ok := r.parent(r.entries[c].parent); ok {
		return false
	}
	r.entries[c].parent = parent
	r.addDep(p, r.entries[c].freq)
	return true
}

// Importance is the TSI of id, freq + Lambda·dep; 0 for an unknown id.
func (r *RAC) Importance(id ID) float64 {
	if e, ok := r.index[id]; ok {
		return r.importance(e)
	}
	return 0
}

func (r *RAC) importance(e uint32) float64 {
	return r.entries[e].freq + r.opts.Lambda*r.entries[e].dep
}

// parent is the slot of a living parent. An ID is never used twice, so one that is not resident is dead for good (D16).
func (r *RAC) parent(id ID) (uint32, bool) {
	if id == 0 {
		return 0, false
	}
	p, ok := r.index[id]
	return p, ok
}

// addDep credits e with requests to an entry that depends on it.
func (r *RAC) addDep(e uint32, requests float64) {
	x := &r.entries[e]
	dep := x.dep + requests
	if r.opts.DepCap > 0 {
		dep = min(dep, r.opts.DepCap)
	}
	if dep == x.dep {
		return
	}
	x.dep = dep
	if r.opts.Lambda > 0 {
		r.rerank(e)
	}
}
