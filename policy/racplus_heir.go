package policy

// simulate plays a request for a resident through the small shadows, if it is in the sample.
func (p *RACPlusLarge) simulate(x *largeEntry, at Tick, as access) {
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
	e, ok := s.keys.get(x.key)
	if !ok {
		e = s.take(x.key)
	}
	s.describe(e, x.item(), x.root)
	s.play(e, Tick{Seq: p.played, At: at.At}, as)
	s.reap(e)
}

// sampled tells whether the small shadows see a topic, or an identity without one.
func (p *RACPlusLarge) sampled(topic TopicID, key uint64) bool {
	h := uint64(topic)
	if topic == 0 {
		h = ^key
	}
	h = (h ^ h>>32) * 0x9E3779B97F4A7C15
	h = (h ^ h>>29) * 0xD6E8FEB86659FD93
	return h>>32*p.k>>32 == 0
}

// succeed lets the best expert take over, a step at a time.
func (p *RACPlusLarge) succeed() {
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
	p.prepare(best)
}

// prepare makes an heir of the expert of that number, to be filled.
func (p *RACPlusLarge) prepare(next int) {
	p.changes++
	p.filling, p.cursor = p.changes, p.order.tail
	p.next, p.heir = next, newExpert(p.seats[next], p.o, uint64(next))
	inherit(p.heir.evictor, p.mini.experts[next].evictor)
}

// fill tells the heir of some residents more. Those that are used meanwhile stand at the head, and their turn comes.
func (p *RACPlusLarge) fill() {
	for range fillStep {
		if p.cursor == 0 {
			p.leads, p.leader, p.heir, p.filling = p.next, p.heir, expert{}, 0
			p.mini.loyalty.leader = p.leads // for the snapshot
			return
		}
		x := &p.cells[p.cursor]
		p.cursor = x.prev
		if !p.told(x) {
			x.told = p.filling
			p.tell(x)
		}
	}
}

func (p *RACPlusLarge) tell(x *largeEntry) {
	at := Tick{Seq: x.used}
	p.heir.evictor.Insert(x.item(), at)
	if s, ok := p.heir.evictor.(Persistent); ok && x.uses > 1 {
		s.ImportEntry(EntryState{ID: ID(x.key), Parent: ID(x.root), Freq: float64(x.uses), Born: x.used, Last: x.used})
	}
}

// told reports whether the heir knows x.
func (p *RACPlusLarge) told(x *largeEntry) bool { return p.filling != 0 && x.told == p.filling }

// supersede gives the identity of e to it. The old entry, which nobody will ask for again, strays.
func (p *RACPlusLarge) supersede(e uint32, it Item, at Tick) {
	x := p.cells[e]
	old := p.take(x.id)
	p.cells[old].size, p.cells[old].stray = x.size, true
	p.link(&p.strays, old)
	p.cells[e].id = it.ID
	p.cells[e].describe(it, p.root(it.Parent))
	p.ids.put(uint64(it.ID), e)
	p.Hit(it.ID, at)
}

// root is the identity of the first turn of the conversation of a resident, 0 if there is none.
func (p *RACPlusLarge) root(id ID) uint64 {
	e, ok := p.ids.get(uint64(id))
	if !ok {
		return 0
	}
	if root := p.cells[e].root; root != 0 {
		return root
	}
	return p.cells[e].key
}

// take starts an entry, in no queue.
func (p *RACPlusLarge) take(id ID) uint32 {
	e := p.spare
	if e != 0 {
		p.spare = p.cells[e].next
	} else {
		p.cells = append(p.cells, largeEntry{})
		e = uint32(len(p.cells) - 1)
	}
	p.cells[e] = largeEntry{panelEntry: panelEntry{id: id}}
	p.ids.put(uint64(id), e)
	return e
}

func (p *RACPlusLarge) drop(e uint32) {
	x := &p.cells[e]
	if x.stray {
		p.unlink(&p.strays, e)
	} else {
		p.pull(e)
		p.keys.del(x.key)
	}
	p.ids.del(uint64(x.id))
	*x = largeEntry{panelEntry: panelEntry{next: p.spare}}
	p.spare = e
}

// push puts e at the newest end. If the cursor had come there, it goes on with e.
func (p *RACPlusLarge) push(e uint32) {
	p.link(&p.order, e)
	if p.filling != 0 && p.cursor == 0 {
		p.cursor = e
	}
}

// pull takes e out of the order, and from under the cursor.
func (p *RACPlusLarge) pull(e uint32) {
	if p.cursor == e {
		p.cursor = p.cells[e].prev
	}
	p.unlink(&p.order, e)
}

func (p *RACPlusLarge) link(q *queue, e uint32) {
	x := &p.cells[e]
	x.prev, x.next = 0, q.head
	if q.head != 0 {
		p.cells[q.head].prev = e
	} else {
		q.tail = e
	}
	q.head = e
	q.n++
}

func (p *RACPlusLarge) unlink(q *queue, e uint32) {
	x := &p.cells[e]
	if x.prev != 0 {
		p.cells[x.prev].next = x.next
	} else {
		q.head = x.next
	}
	if x.next != 0 {
		p.cells[x.next].prev = x.prev
	} else {
		q.tail = x.prev
	}
	x.prev, x.next = 0, 0
	q.n--
}
