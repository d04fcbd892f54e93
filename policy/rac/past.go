package rac

import (
	"reprise/internal/container"
	"reprise/policy"
)

// past holds the state of expired entries by Item.Identity, at most as many as there ever were residents at a time.
type past struct {
	keys    []uint64 // of the residents, by number
	expired container.History[pastEntry]
}

type pastEntry struct {
	parent policy.ID
	dep    float64
	freq   uint32
}

// add adds an entry that leaves, if it expired.
func (p *past) add(e uint32, x *entry, why policy.Reason) {
	if why == policy.Expired {
		p.expired.Room = len(p.keys)
		p.expired.Add(p.keys[e], pastEntry{x.parent, x.dep, x.freq})
	}
}

// revive gives the new entry e the state that it had when it left, and returns its parent: the one that it had, if that is resident.
// Its old requests have been credited to its parent before.
func (r *Policy) revive(e uint32, it policy.Item) (parent policy.ID) {
	p := &r.past
	if len(p.keys) <= int(e) {
		p.keys = append(p.keys, make([]uint64, int(e)+1-len(p.keys))...)
	}
	p.keys[e] = it.Identity()
	if p.expired.Len() == 0 {
		return it.Parent
	}
	was, ok := p.expired.Take(p.keys[e])
	if !ok {
		return it.Parent
	}
	x := &r.all[e]
	x.freq, x.dep = was.freq, was.dep
	container.Increment(&x.freq)
	if _, ok := r.ids.Find(was.parent); ok {
		return was.parent
	}
	return it.Parent
}
