package policy

import "math/bits"

// enter makes it resident, in no list.
func (p *RACPlus) enter(it Item) uint32 {
	key := it.Identity()
	e, known := p.keys.get(key)
	if !known {
		e = p.take()
	} else if p.cells[e].item.ID != 0 {
		e = p.supersede(e)
	}
	p.ids.put(uint64(it.ID), e)
	p.keys.put(key, e)
	old := p.cells[e].item.Parent
	x := &p.cells[e]
	x.item = it
	x.item.Key, x.item.Parent = key, old
	if root := p.root(it.Parent); root != 0 && root != key {
		x.item.Parent = ID(root)
	}
	return e
}

// supersede takes the identity of a resident for another one. Nobody will ask for the old one again, and with no expert
// left that holds it, it goes soon.
func (p *RACPlus) supersede(old uint32) uint32 {
	e := p.take()
	x, y := &p.cells[old], &p.cells[e]
	y.set, y.item.Parent = x.set, x.item.Parent
	p.unlist(old)
	x.set, x.item.Key = 0, 0
	p.list(old)
	return e
}

func (p *RACPlus) take() uint32 {
	e := p.spare
	if e == 0 {
		p.cells = append(p.cells, panelEntry{})
		return uint32(len(p.cells) - 1)
	}
	p.spare = p.cells[e].next
	p.cells[e] = panelEntry{}
	return e
}

// reap frees an entry that is nowhere any more.
func (p *RACPlus) reap(e uint32) {
	x := &p.cells[e]
	if x.item.ID != 0 || x.set != 0 {
		return
	}
	if x.item.Key != 0 {
		p.keys.del(x.item.Key)
	}
	*x = panelEntry{next: p.spare}
	p.spare = e
}

// purge takes e out of every shadow.
func (p *RACPlus) purge(e uint32) {
	x := &p.cells[e]
	for ; x.set != 0; x.set &= x.set - 1 {
		p.experts[bits.TrailingZeros16(x.set)].remove(x)
	}
}

// root is the identity of the first turn of the conversation of a resident, 0 if there is none.
func (p *RACPlus) root(id ID) uint64 {
	e, ok := p.ids.get(uint64(id))
	if !ok {
		return 0
	}
	x := &p.cells[e].item
	if x.Parent != 0 {
		return uint64(x.Parent)
	}
	return x.Key
}

// Link puts child into the conversation of parent, for all experts that follow conversations.
func (p *RACPlus) Link(child, parent ID) bool {
	c, ok := p.ids.get(uint64(child))
	root := p.root(parent)
	if !ok || root == 0 || p.cells[c].item.Parent != 0 || p.cells[c].item.Key == root {
		return false
	}
	x := &p.cells[c]
	x.item.Parent = ID(root)
	for i := range p.experts {
		if s := &p.experts[i]; s.linker != nil && x.set>>i&1 != 0 {
			s.linker.Link(ID(x.item.Key), x.item.Parent)
		}
	}
	return true
}

// Importance is what the first expert that follows conversations and holds id says; 0 if there is none.
func (p *RACPlus) Importance(id ID) float64 {
	e, ok := p.ids.get(uint64(id))
	if !ok {
		return 0
	}
	x := &p.cells[e]
	for i := range p.experts {
		if s := &p.experts[i]; s.linker != nil && x.set>>i&1 != 0 {
			return s.linker.Importance(ID(x.item.Key))
		}
	}
	return 0
}

// settle tells all experts of a miss that was not inserted at once.
func (p *RACPlus) settle() {
	a := p.arrived
	p.arrived = arrival{}
	if a.topic == 0 {
		return
	}
	for i := range p.experts {
		p.experts[i].arrive(a.topic, a.at)
	}
}

// play asks every shadow for e, a resident in no list, and lists it.
func (p *RACPlus) play(e uint32, at Tick, arrives bool) {
	p.victim = 0
	p.requests++
	p.cells[e].used = p.requests
	gain := p.gains.of(p.cells[e].item)
	for i := range p.experts {
		s := &p.experts[i]
		s.score *= p.decay
		s.asked += gain
		x := &p.cells[e]
		if x.set>>i&1 != 0 {
			s.hit(x, at, gain)
			continue
		}
		if arrives && x.item.Topic != 0 {
			s.arrive(x.item.Topic, at)
		}
		x.set |= 1 << i
		s.insert(x, at)
		p.fit(i, e)
	}
	p.list(e)
}

// fit brings a shadow back within the limit; e is in no list. If the expert names no victim of its own, the shadow stays
// too large and is asked again at the next request.
func (p *RACPlus) fit(i int, e uint32) {
	s := &p.experts[i]
	for s.over(p.limit) {
		id, ok := s.evictor.Victim()
		v, known := p.keys.get(uint64(id))
		if !ok || !known || p.cells[v].set>>i&1 == 0 {
			return
		}
		x := &p.cells[v]
		s.remove(x)
		if v == e || x.item.ID == 0 {
			x.set &^= 1 << i
			p.reap(v)
			continue
		}
		p.unlist(v)
		x.set &^= 1 << i
		p.list(v)
	}
}

func (p *RACPlus) list(e uint32)   { p.ballot.list(p.cells, e) }
func (p *RACPlus) unlist(e uint32) { p.ballot.unlist(p.cells, e) }
