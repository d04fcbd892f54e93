package rac

import "reprise/policy"

// Link gives child a parent after its insertion, and credits the parent with all requests of child so far (paper 002,
// Alg. 3 line 13; D17). It refuses when one of them is not resident, when child has a living parent, and when the parent
// is not older than the child, so that links never form a cycle (D13).
func (r *Policy) Link(child, parent policy.ID) bool {
	c, ok := r.ids.Find(child)
	if !ok || child == parent {
		return false
	}
	p, ok := r.ids.Find(parent)
	if !ok || !r.opts.YoungParents && r.all[p].born >= r.all[c].born {
		return false
	}
	x := &r.all[c]
	if _, ok := r.ids.Find(x.parent); ok {
		return false
	}
	x.parent = parent
	r.credit(p, float64(x.freq))
	return true
}

// Importance returns the TSI of id, freq + Lambda·dep; 0 for an unknown id.
func (r *Policy) Importance(id policy.ID) float64 {
	if e, ok := r.ids.Find(id); ok {
		return r.importance(e)
	}
	return 0
}

// addDep credits id with requests to an entry that depends on it. An ID is never used twice, so a parent that is not
// resident will never be again (D16).
func (r *Policy) addDep(id policy.ID, requests float64) {
	if e, ok := r.ids.Find(id); ok {
		r.credit(e, requests)
	}
}

func (r *Policy) credit(e uint32, requests float64) {
	x := &r.all[e]
	dep := x.dep + requests
	if r.opts.DepCap > 0 {
		dep = min(dep, r.opts.DepCap)
	}
	if dep == x.dep {
		return
	}
	x.dep = dep
	if r.opts.Lambda > 0 && !r.opts.NoTSI {
		r.rerank(e)
	}
}
