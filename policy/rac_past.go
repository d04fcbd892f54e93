package policy

// past is what RAC remembers of the evicted, by Item.Identity, the latest first.
type past struct {
	room  int
	named ID       // the last victim
	keys  []uint64 // of the residents, by number
	slab  slab[pastEntry]
	queue queue
}

type pastEntry struct {
	parent ID
	dep    float64
	freq   uint32
}

// add remembers an entry that is evicted.
func (p *past) add(e uint32, x *entry) {
	if p.room == 0 {
		return
	}
	key := ID(p.keys[e])
	if slot, ok := p.slab.find(key); ok {
		p.drop(slot)
	}
	p.slab.pushHead(&p.queue, p.slab.add(key, pastEntry{x.parent, x.dep, x.freq}))
	if p.queue.n > p.room {
		p.drop(p.queue.tail)
	}
}

func (p *past) drop(slot uint32) {
	p.slab.unlink(&p.queue, slot)
	p.slab.free(slot)
}

// revive gives the new entry e what it had when it was evicted, and returns its parent: the one that it had, if that lives.
// Its old requests have been credited to its parent before.
func (r *RAC) revive(e uint32, it Item) (parent ID) {
	p := &r.past
	if p.room == 0 {
		return it.Parent
	}
	for len(p.keys) <= int(e) {
		p.keys = append(p.keys, 0)
	}
	p.keys[e] = it.Identity()
	slot, ok := p.slab.find(ID(it.Identity()))
	if !ok {
		return it.Parent
	}
	was := p.slab.cells[slot].val
	p.drop(slot)
	x := &r.entries[e]
	x.freq, x.dep = was.freq, was.dep
	increment(&x.freq)
	if _, ok := r.parent(was.parent); ok {
		return was.parent
	}
	return it.Parent
}
