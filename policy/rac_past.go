package policy

// past is what RAC remembers of entries that have left, by Item.Identity, the latest first.
type past struct {
	keys    []uint64 // of the residents, by number
	evicted history[pastEntry]
	expired history[pastEntry] // as many as there were residents at one time
}

type pastEntry struct {
	parent ID
	dep    float64
	freq   uint32
}

// add remembers an entry that leaves.
func (p *past) add(e uint32, x *entry, why Reason) {
	was, key := pastEntry{x.parent, x.dep, x.freq}, p.keys[e]
	switch why {
	case Evicted:
		p.evicted.add(key, was)
	case Expired:
		p.expired.room = len(p.keys)
		p.expired.add(key, was)
	}
}

// take returns what is remembered of key, and forgets it.
func (p *past) take(key uint64) (was pastEntry, ok bool) {
	if was, ok = p.expired.take(key); !ok {
		was, ok = p.evicted.take(key)
	}
	return was, ok
}

// revive gives the new entry e what it had when it left, and returns its parent: the one that it had, if that is resident.
// Its old requests have been credited to its parent before.
func (r *RAC) revive(e uint32, it Item) (parent ID) {
	p := &r.past
	for len(p.keys) <= int(e) {
		p.keys = append(p.keys, 0)
	}
	p.keys[e] = it.Identity()
	was, ok := p.take(it.Identity())
	if !ok {
		return it.Parent
	}
	x := &r.entries[e]
	x.freq, x.dep = was.freq, was.dep
	increment(&x.freq)
	if _, ok := r.parent(was.parent); ok {
		return was.parent
	}
	return it.Parent
}
