package policy

import "math"

// hazFixed are the buckets of an entry that do not change with time.
type hazFixed struct{ freq, turn, dep uint8 }

// visit counts a use of e, and a visit of its topic if that has not been counted.
func (h *HAZ) visit(e uint32, seq int64, topic bool) {
	x := &h.cells[e]
	t := &h.topics.all[x.topic]
	if topic {
		t.visit(&h.clock, seq)
	}
	x.crf = float32(float64(x.crf)*h.clock.crf.over(seq-x.last)) + 1
	x.fixed.freq = min(12, x.fixed.freq+1)
	x.seen = t.visits
	x.last = max(x.last, seq)
}

// Link puts child into the conversation of parent, and credits its first turn with the requests of child so far.
func (h *HAZ) Link(child, parent ID) bool {
	c, ok := h.find(child)
	root := h.root(parent)
	if !ok || root == 0 || root == h.cells[c].key || h.cells[c].root != 0 {
		return false
	}
	h.cells[c].root = root
	if r, ok := h.keys.get(root); ok {
		h.depend(r, float32(h.cells[c].fixed.freq))
	}
	h.victim = 0
	return true
}

// Importance is the number of requests of id, up to 12, and of the later turns of its conversation.
func (h *HAZ) Importance(id ID) float64 {
	e, ok := h.find(id)
	if !ok {
		return 0
	}
	return float64(h.cells[e].fixed.freq) + float64(h.cells[e].dep)
}

// credit tells the first turn of e's conversation of a request for a later one.
func (h *HAZ) credit(e uint32) {
	root := h.cells[e].root
	if root == 0 {
		return
	}
	if r, ok := h.keys.get(root); ok {
		h.depend(r, 1)
	}
}

func (h *HAZ) depend(e uint32, n float32) {
	x := &h.cells[e]
	x.dep += n
	x.fixed.dep = lb(float64(x.dep))
}

// settle counts the visit of a miss that was not inserted at once.
func (h *HAZ) settle() {
	a := h.arrived
	h.arrived = arrival{}
	if a.topic == 0 {
		return
	}
	h.advance(a.at.Seq)
	t := h.topics.open(a.topic)
	h.topics.all[t].visit(&h.clock, a.at.Seq)
	h.topics.leave(t)
}

func (h *HAZ) advance(seq int64) { h.clock.now = max(h.clock.now, seq) }

func (h *HAZ) find(id ID) (uint32, bool) {
	if e, ok := h.ids.get(uint64(id)); ok {
		return e, true
	}
	e, ok := h.keys.get(uint64(id))
	return e, ok && h.cells[e].id == id
}

// take starts an entry that is not known.
func (h *HAZ) take(it Item, seq int64) uint32 {
	t := h.topics.open(it.Topic)
	h.topics.all[t].enter()
	e := h.spare
	if e != 0 {
		h.spare = h.cells[e].next
	} else {
		h.cells = append(h.cells, hazEntry{})
		e = uint32(len(h.cells) - 1)
	}
	h.cells[e] = hazEntry{key: it.Identity(), last: seq, topic: t}
	h.keys.put(it.Identity(), e)
	return e
}

// drop forgets an entry that is neither resident nor a ghost any more.
func (h *HAZ) drop(e uint32) {
	x := &h.cells[e]
	h.keys.del(x.key)
	h.topics.all[x.topic].known--
	h.topics.leave(x.topic)
	*x = hazEntry{next: h.spare}
	h.spare = e
}

// retopic moves a ghost that has come back under another topic.
func (h *HAZ) retopic(e uint32, id TopicID) {
	x := &h.cells[e]
	old := x.topic
	if h.topics.all[old].id == id {
		return
	}
	x.topic = h.topics.open(id)
	t := &h.topics.all[x.topic]
	t.enter()
	x.seen = t.visits
	h.topics.all[old].known--
	h.topics.leave(old)
}

// admit puts e among the residents as it.
func (h *HAZ) admit(e uint32, it Item) {
	x := &h.cells[e]
	x.id = it.ID
	if uint64(it.ID) != x.key {
		h.ids.put(uint64(it.ID), e)
	}
	x.prev = uint32(len(h.residents))
	h.residents = append(h.residents, e)
	x.fixed.turn = uint8(min(max(it.Offset, 0), 3))
	if h.mode != worthHits {
		x.worth = float32(math.Log(worth(h.mode, it)))
	}
	if root := h.root(it.Parent); root != x.key {
		x.root = root
	}
	h.credit(e)
	h.newest, h.victim = e, 0
}

// root is the identity of the first turn of the conversation in which id is one, 0 if that is not known. A ghost is found
// where its ID was its identity.
func (h *HAZ) root(id ID) uint64 {
	e, ok := h.ids.get(uint64(id))
	if !ok {
		e, ok = h.keys.get(uint64(id))
		ok = ok && (h.cells[e].id == id || h.cells[e].id == 0)
	}
	switch {
	case !ok:
		return 0
	case h.cells[e].root != 0:
		return h.cells[e].root
	}
	return h.cells[e].key
}

// discharge takes e from the residents.
func (h *HAZ) discharge(e uint32) {
	x := &h.cells[e]
	last := h.residents[len(h.residents)-1]
	h.residents[x.prev] = last
	h.cells[last].prev = x.prev
	h.residents = h.residents[:len(h.residents)-1]
	h.ids.del(uint64(x.id))
	x.id, x.prev, x.next = 0, 0, 0
	if h.newest == e {
		h.newest = 0
	}
}

// ghost remembers e, and forgets the oldest ghost beyond the room.
func (h *HAZ) ghost(e uint32) {
	q := &h.ghosts
	h.cells[e].next = q.head
	if q.head != 0 {
		h.cells[q.head].prev = e
	} else {
		q.tail = e
	}
	q.head = e
	q.n++
	if q.n > h.room {
		oldest := q.tail
		h.unghost(oldest)
		h.drop(oldest)
	}
}

func (h *HAZ) unghost(e uint32) {
	q, x := &h.ghosts, &h.cells[e]
	if x.prev != 0 {
		h.cells[x.prev].next = x.next
	} else {
		q.head = x.next
	}
	if x.next != 0 {
		h.cells[x.next].prev = x.prev
	} else {
		q.tail = x.prev
	}
	x.prev, x.next = 0, 0
	q.n--
}
