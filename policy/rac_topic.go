package policy

import "math"

// topicTable keeps the prevalence of the topics, a heap of those that have members and one of those that have none.
//
// A topic's mass is the sum of 2^(alpha·t) over its requests: TP times 2^(alpha·now), which is the same factor for all
// topics. So the order of masses is the order of TP at any later time (paper 002 §3.2, with the decay divided out), and
// the mass changes only with a request to the topic. It has the 53 bits of a float64 and an exponent of its own, since
// 2^(alpha·t) leaves the range of any float; a plain logarithm would keep too few bits to tell 2^t + 2^(t-30) from 2^t.
type topicTable struct {
	alpha   float64
	room    int // for ghosts
	index   map[TopicID]uint32
	all     []topic // slot 0 is none
	seat    []uint32
	spare   uint32   // first unused slot of all, chained by id
	live    []node   // topics with members, by mass times the value of the first member
	ghosts  []node   // topics without members, by mass
	entries *[]entry // of the RAC that owns the table

	now    int64   // the latest Seq seen
	base   int64   // the Seq from which alpha·t counts; there it is
	whole  int64   // this many bits
	offset float64 // and a fraction
}

type topic struct {
	id      TopicID
	mass    scaled
	members []node // a heap, see RAC.rank
	state   topicState
}

type topicState uint8

const (
	topicNew topicState = iota // in neither heap
	topicLive
	topicGhost
)

// newBase bounds alpha·(t-base) in bits, so that its fraction keeps 42 of them.
const newBase = 1 << 10

// newOrigin bounds the exponents.
const newOrigin = 1 << 30

// grid is the precision to which values are compared where alpha is no whole number. Masses that are equal on paper then
// differ by rounding when they were reached on different ways; on the grid they tie, as they must. With a whole alpha
// sums of powers of 2 are exact already.
const grid = 1 << 30

func newTopicTable(alpha float64, ghosts int, entries *[]entry) topicTable {
	return topicTable{
		alpha:   alpha,
		room:    ghosts,
		index:   make(map[TopicID]uint32),
		all:     make([]topic, 1),
		seat:    make([]uint32, 1),
		entries: entries,
	}
}

// open returns the slot of id, out of the ghosts and started with one request if it is unknown.
func (t *topicTable) open(id TopicID, seq int64) uint32 {
	slot, ok := t.index[id]
	if !ok {
		return t.start(id, t.weight(seq))
	}
	if t.all[slot].state == topicGhost {
		t.heap(&t.ghosts).remove(slot)
		t.all[slot].state = topicNew
	}
	return slot
}

// start adds a topic. Topic 0 is private to its one entry and in no index.
func (t *topicTable) start(id TopicID, mass scaled) uint32 {
	slot := t.take()
	t.all[slot] = topic{id: id, mass: mass}
	if id != 0 {
		t.index[id] = slot
	}
	return slot
}

// credit counts one request to the topic at seq, which may lie before the topic's last one.
func (t *topicTable) credit(slot uint32, seq int64) {
	w := t.weight(seq)
	t.all[slot].mass = t.all[slot].mass.add(w)
}

// reseat puts the topic where it now belongs: by its value among the live, or without members among the ghosts.
func (t *topicTable) reseat(slot uint32) {
	x := &t.all[slot]
	switch {
	case len(x.members) > 0 && x.state == topicLive:
		t.heap(&t.live).move(t.rank(slot))
	case len(x.members) > 0:
		x.state = topicLive
		t.heap(&t.live).push(t.rank(slot))
	case x.state == topicGhost:
		t.heap(&t.ghosts).move(t.rank(slot))
	default:
		t.retire(slot)
	}
}

// retire makes a ghost of a topic that has no members, or forgets it where there is no room (D9).
func (t *topicTable) retire(slot uint32) {
	x := &t.all[slot]
	if x.state == topicLive {
		t.heap(&t.live).remove(slot)
	}
	if t.room == 0 || x.id == 0 {
		t.forget(slot)
		return
	}
	x.members, x.state = nil, topicGhost
	t.heap(&t.ghosts).push(t.rank(slot))
	if len(t.ghosts) > t.room {
		least := t.ghosts[0].item
		t.heap(&t.ghosts).remove(least)
		t.forget(least)
	}
}

// forget frees the slot of a topic that is in no heap.
func (t *topicTable) forget(slot uint32) {
	if id := t.all[slot].id; id != 0 {
		delete(t.index, id)
	}
	t.all[slot] = topic{id: TopicID(t.spare)}
	t.spare = slot
}

func (t *topicTable) take() uint32 {
	if slot := t.spare; slot != 0 {
		t.spare = uint32(t.all[slot].id)
		return slot
	}
	t.all = append(t.all, topic{})
	t.seat = append(t.seat, 0)
	return uint32(len(t.all) - 1)
}

func (t *topicTable) heap(nodes *[]node) seats {
	return seats{nodes: nodes, pos: t.seat, entries: *t.entries, topics: t.all}
}

// rank is the place of a topic among the live, by its first member, or among the ghosts.
func (t *topicTable) rank(slot uint32) node {
	x := &t.all[slot]
	value, last := x.mass, t.now
	if len(x.members) > 0 {
		value, last = value.times(x.members[0].mant), x.members[0].last
	}
	if t.alpha != math.Trunc(t.alpha) {
		value = scale(math.RoundToEven(value.mant*grid)/grid, int64(value.exp))
	}
	return node{mant: value.mant, exp: value.exp, last: last, item: slot}
}

// weight is 2^(alpha·seq), the mass of one request.
func (t *topicTable) weight(seq int64) scaled {
	t.now = max(t.now, seq)
	if t.bits(seq) >= newBase {
		t.rebase(seq)
	}
	bits := t.bits(seq)
	whole := math.Floor(bits)
	return scale(math.Exp2(bits-whole), t.whole+int64(whole))
}

// bits is alpha·seq, less the whole bits at the base.
func (t *topicTable) bits(seq int64) float64 {
	return t.alpha*float64(seq-t.base) + t.offset
}

func (t *topicTable) rebase(seq int64) {
	bits := min(t.bits(seq), 1<<62)
	whole := math.Floor(bits)
	t.base, t.offset = seq, bits-whole
	t.whole += int64(whole)
	if t.whole > newOrigin {
		t.lower(t.whole)
		t.whole = 0
	}
}

// lower takes by from all exponents. It costs O(topics) once in 2^30/alpha requests.
func (t *topicTable) lower(by int64) {
	for i := range t.all {
		m := &t.all[i].mass
		*m = scale(m.mant, int64(m.exp)-by)
	}
	for _, h := range []*[]node{&t.live, &t.ghosts} {
		for i, n := range *h {
			(*h)[i] = t.rank(n.item)
		}
		t.heap(h).order()
	}
}
