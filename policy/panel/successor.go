package panel

import (
	"reprise/policy"
	"reprise/policy/internal/container"
)

// simulate plays a request for a resident through the small shadows, if it is in the sample.
func (p *Sampled) simulate(x *largeEntry, at policy.Tick, as access) {
	if !p.sampled(x.topic, x.key) {
		return
	}
	s := &p.mini
	p.played++
	if as == accessInsert {
		as = s.expects(x.topic)
	} else {
		s.settle()
	}
	e, ok := s.keys.Get(x.key)
	if !ok {
		e = s.take(x.key)
	}
	s.describe(e, x.item(), x.root)
	s.play(e, policy.Tick{Seq: p.played, At: at.At}, as)
	s.freeUnused(e)
}

// sampled tells whether the small shadows see a topic, or an identity without one.
func (p *Sampled) sampled(topic policy.TopicID, key uint64) bool {
	h := uint64(topic)
	if topic == 0 {
		h = ^key
	}
	h = (h ^ h>>32) * 0x9E3779B97F4A7C15
	h = (h ^ h>>29) * 0xD6E8FEB86659FD93
	return h>>32*p.k>>32 == 0
}

// changeLeader lets the best expert take over, a step at a time.
func (p *Sampled) changeLeader() {
	if p.filling != 0 {
		p.fill()
		return
	}
	small, best := p.mini.experts, p.leads
	for i := range small {
		if small[i].score > small[best].score {
			best = i
		}
	}
	if small[best].score <= (1+leaderMargin)*small[p.leads].score+5 {
		return
	}
	p.startSuccessor(best)
}

// startSuccessor makes an heir of the expert of that number, to be filled.
func (p *Sampled) startSuccessor(next int) {
	p.changes++
	p.filling, p.cursor = p.changes, p.order.Tail
	p.next, p.successor = next, newExpert(p.seats[next], p.o, uint64(next))
	inherit(p.successor.evictor, p.mini.experts[next].evictor)
}

// fill tells the heir of some residents more. Those that are used meanwhile stand at the head, and their turn comes.
func (p *Sampled) fill() {
	for range fillStep {
		if p.cursor == 0 {
			p.leads, p.leader, p.successor, p.filling = p.next, p.successor, expert{}, 0
			p.mini.hysteresis.leader = p.leads // for the snapshot
			return
		}
		x := &p.cells[p.cursor]
		p.cursor = x.prev
		if !p.isCopied(x) {
			x.copied = p.filling
			p.copyToSuccessor(x)
		}
	}
}

func (p *Sampled) copyToSuccessor(x *largeEntry) {
	at := policy.Tick{Seq: x.used}
	p.successor.evictor.Insert(x.item(), at)
	if s, ok := p.successor.evictor.(policy.Persistent); ok && x.uses > 1 {
		s.ImportEntry(policy.EntryState{ID: policy.ID(x.key), Parent: policy.ID(x.root), Freq: float64(x.uses), Born: x.used, Last: x.used})
	}
}

// isCopied reports whether the heir knows x.
func (p *Sampled) isCopied(x *largeEntry) bool { return p.filling != 0 && x.copied == p.filling }

// supersede gives the identity of e to it. The old entry, which nobody will ask for again, strays.
func (p *Sampled) supersede(e uint32, it policy.Item, at policy.Tick) {
	x := p.cells[e]
	old := p.take(x.id)
	p.cells[old].size, p.cells[old].orphan = x.size, true
	p.link(&p.orphans, old)
	p.cells[e].id = it.ID
	p.cells[e].describe(it, p.root(it.Parent))
	p.ids.Put(uint64(it.ID), e)
	p.Hit(it.ID, at)
}

// root is the identity of the first turn of the conversation of a resident, 0 if there is none.
func (p *Sampled) root(id policy.ID) uint64 {
	e, ok := p.ids.Get(uint64(id))
	if !ok {
		return 0
	}
	if root := p.cells[e].root; root != 0 {
		return root
	}
	return p.cells[e].key
}

// take starts an entry, in no queue.
func (p *Sampled) take(id policy.ID) uint32 {
	e := p.spare
	if e != 0 {
		p.spare = p.cells[e].next
	} else {
		p.cells = append(p.cells, largeEntry{})
		e = uint32(len(p.cells) - 1)
	}
	p.cells[e] = largeEntry{panelEntry: panelEntry{id: id}}
	p.ids.Put(uint64(id), e)
	return e
}

func (p *Sampled) drop(e uint32) {
	x := &p.cells[e]
	if x.orphan {
		p.unlink(&p.orphans, e)
	} else {
		p.pull(e)
		p.keys.Delete(x.key)
	}
	p.ids.Delete(uint64(x.id))
	*x = largeEntry{panelEntry: panelEntry{next: p.spare}}
	p.spare = e
}

// push puts e at the newest end. If the cursor had come there, it goes on with e.
func (p *Sampled) push(e uint32) {
	p.link(&p.order, e)
	if p.filling != 0 && p.cursor == 0 {
		p.cursor = e
	}
}

// pull takes e out of the order, and from under the cursor.
func (p *Sampled) pull(e uint32) {
	if p.cursor == e {
		p.cursor = p.cells[e].prev
	}
	p.unlink(&p.order, e)
}

func (p *Sampled) link(q *container.Queue, e uint32) {
	x := &p.cells[e]
	x.prev, x.next = 0, q.Head
	if q.Head != 0 {
		p.cells[q.Head].prev = e
	} else {
		q.Tail = e
	}
	q.Head = e
	q.Len++
}

func (p *Sampled) unlink(q *container.Queue, e uint32) {
	x := &p.cells[e]
	if x.prev != 0 {
		p.cells[x.prev].next = x.next
	} else {
		q.Head = x.next
	}
	if x.next != 0 {
		p.cells[x.next].prev = x.prev
	} else {
		q.Tail = x.prev
	}
	x.prev, x.next = 0, 0
	q.Len--
}
