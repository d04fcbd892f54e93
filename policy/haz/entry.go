package haz

import (
	"math"

	"reprise/policy"
	"reprise/policy/internal/spec"
)

// visit counts a use of e, and a visit of its topic if that has not been counted.
func (h *Policy) visit(e uint32, seq int64, topic bool) {
	x := &h.cells[e]
	t := &h.topics.all[x.topic]
	if topic {
		t.visit(&h.clock, seq)
	}
	h.follow(e, seq)
	x.crf = float32(float64(x.crf)*h.clock.crf.over(seq-x.last)) + 1
	x.freq = min(12, x.freq+1)
	x.seen = t.visits
	x.last = max(x.last, seq)
}

// follow tells e and what its topic was last visited for that one came after the other, unless there was a long pause: with
// many conversations at a time it is mostly one that stays at a topic. An entry that returns often within one session
// has few distinct neighbours, one that many sessions share has many, and any of them brings it back. Each set is a Bloom
// filter of 32 bits.
func (h *Policy) follow(e uint32, seq int64) {
	x := &h.cells[e]
	t := &h.topics.all[x.topic]
	last := t.latest
	t.latest = e
	y := &h.cells[last]
	if last == e || y.topic != x.topic || seq-y.last > h.clock.pause {
		return
	}
	x.before |= bit(y.key)
	y.after |= bit(x.key)
}

func bit(key uint64) uint32 { return 1 << (key * 0x9E3779B97F4A7C15 >> 59) }

// Link tells that child came after parent, however long after: what the order of requests shows of conversations is blurred
// where many go on at a time.
func (h *Policy) Link(child, parent policy.ID) bool {
	c, ok := h.find(child)
	p, known := h.find(parent)
	if !ok || !known || c == p {
		return false
	}
	x, y := &h.cells[c], &h.cells[p]
	made := y.after&bit(x.key) == 0
	x.before |= bit(y.key)
	y.after |= bit(x.key)
	h.victim = 0
	return made
}

// Importance is the number of requests of id, up to 12, and of distinct entries that came after it, up to 23.
func (h *Policy) Importance(id policy.ID) float64 {
	e, ok := h.find(id)
	if !ok {
		return 0
	}
	return float64(h.cells[e].freq) + float64(ones(h.cells[e].after))
}

// settle counts the visit of a miss that was not inserted at once.
func (h *Policy) settle() {
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

func (h *Policy) advance(seq int64) { h.clock.now = max(h.clock.now, seq) }

func (h *Policy) find(id policy.ID) (uint32, bool) {
	if e, ok := h.ids.Get(uint64(id)); ok {
		return e, true
	}
	e, ok := h.keys.Get(uint64(id))
	return e, ok && h.cells[e].id == id
}

// take starts an entry that is not known.
func (h *Policy) take(it policy.Item, seq int64) uint32 {
	t := h.topics.open(it.Topic)
	h.topics.all[t].enter()
	e := h.spare
	if e != 0 {
		h.spare = h.cells[e].next
	} else {
		h.cells = append(h.cells, entry{})
		h.looks = append(h.looks, look{})
		e = uint32(len(h.cells) - 1)
	}
	h.cells[e] = entry{key: it.Identity(), last: seq, topic: t}
	h.keys.Put(it.Identity(), e)
	return e
}

// drop forgets an entry that is neither resident nor a ghost any more.
func (h *Policy) drop(e uint32) {
	x := &h.cells[e]
	h.keys.Delete(x.key)
	h.topics.all[x.topic].known--
	h.topics.leave(x.topic)
	*x = entry{next: h.spare}
	h.looks[e] = look{}
	h.spare = e
}

// retopic moves a ghost that has come back under another topic.
func (h *Policy) retopic(e uint32, id policy.TopicID) {
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
func (h *Policy) admit(e uint32, it policy.Item) {
	x := &h.cells[e]
	x.id = it.ID
	if uint64(it.ID) != x.key {
		h.ids.Put(uint64(it.ID), e)
	}
	x.prev = uint32(len(h.residents))
	h.residents = append(h.residents, e)
	x.turn = uint8(min(max(it.Offset, 0), 3))
	x.weigh(h.mode, it)
	h.newest, h.victim = e, 0
	h.Link(it.ID, it.Parent)
}

// weigh sets what one hit is worth.
func (x *entry) weigh(mode spec.Value, it policy.Item) {
	if mode != spec.Hits {
		x.worth = float32(math.Log(mode.Of(it)))
	}
}

// discharge takes e from the residents.
func (h *Policy) discharge(e uint32) {
	x := &h.cells[e]
	last := h.residents[len(h.residents)-1]
	h.residents[x.prev] = last
	h.cells[last].prev = x.prev
	h.residents = h.residents[:len(h.residents)-1]
	h.ids.Delete(uint64(x.id))
	x.id, x.prev, x.next = 0, 0, 0
	if h.newest == e {
		h.newest = 0
	}
}

// ghost remembers e, and forgets the oldest ghost beyond the room, after a last look.
func (h *Policy) ghost(e uint32) {
	if h.room == 0 || h.cells[e].key == 0 {
		h.look(e)
		h.drop(e)
		return
	}
	q := &h.ghosts
	h.cells[e].next = q.Head
	if q.Head != 0 {
		h.cells[q.Head].prev = e
	} else {
		q.Tail = e
	}
	q.Head = e
	q.Len++
	if q.Len > h.room {
		oldest := q.Tail
		h.unghost(oldest)
		h.look(oldest)
		h.drop(oldest)
	}
}

func (h *Policy) unghost(e uint32) {
	q, x := &h.ghosts, &h.cells[e]
	if x.prev != 0 {
		h.cells[x.prev].next = x.next
	} else {
		q.Head = x.next
	}
	if x.next != 0 {
		h.cells[x.next].prev = x.prev
	} else {
		q.Tail = x.prev
	}
	x.prev, x.next = 0, 0
	q.Len--
}
