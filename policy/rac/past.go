package rac

import (
	"reprise/internal/container"
	"reprise/policy"
	"reprise/policy/internal/bound"
)

// past is the state of entries that have left, by Item.Identity, the latest first.
type past struct {
	keys    []uint64 // of the residents, by number
	evicted container.History[pastEntry]
	expired container.History[pastEntry] // as many as there were residents at one time
}

type pastEntry struct {
	parent policy.ID
	dep    float64
	freq   uint32
}

// add adds an entry that leaves.
func (p *past) add(e uint32, x *entry, why policy.Reason) {
	left := &p.evicted
	if why == policy.Expired {
		left = &p.expired
		left.Room = len(p.keys)
	}
	if why != policy.Purged && left.Room > 0 {
		left.Add(p.keys[e], pastEntry{x.parent, x.dep, x.freq})
	}
}

// take returns the state of key, and drops it.
func (p *past) take(key uint64) (was pastEntry, ok bool) {
	if p.expired.Len() > 0 {
		was, ok = p.expired.Take(key)
	}
	if !ok && p.evicted.Len() > 0 {
		was, ok = p.evicted.Take(key)
	}
	return was, ok
}

// revive gives the new entry e the state that it had when it left, and returns its parent: the one that it had, if that is resident.
// Its old requests have been credited to its parent before.
func (r *Policy) revive(e uint32, it policy.Item) (parent policy.ID) {
	p := &r.past
	if len(p.keys) <= int(e) {
		p.keys = append(p.keys, make([]uint64, int(e)+1-len(p.keys))...)
	}
	p.keys[e] = it.Identity()
	was, ok := p.take(p.keys[e])
	if !ok {
		return it.Parent
	}
	x := &r.all[e]
	x.freq, x.dep = was.freq, was.dep
	bound.Increment(&x.freq)
	if _, ok := r.ids.Find(was.parent); ok {
		return was.parent
	}
	return it.Parent
}
