package policy

// young is the newest entries by insertion, resident or not.
type young struct {
	size int
	ids  []ID
	next int // where the oldest lies once the window is full
}

// push adds the newest and returns the one that it pushes out, 0 where there is none.
func (w *young) push(id ID) (out ID) {
	if len(w.ids) < w.size {
		w.ids = append(w.ids, id)
		return 0
	}
	if w.size == 0 {
		return 0
	}
	out, w.ids[w.next] = w.ids[w.next], id
	w.next = (w.next + 1) % w.size
	return out
}

// release ranks an entry that has left the window as any other.
func (r *RAC) release(id ID) {
	if e, ok := r.ids.find(uint64(id)); ok {
		r.entries[e].held = false
		r.rerank(e)
	}
}

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
