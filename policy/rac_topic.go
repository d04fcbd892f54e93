package policy

import "math"

// topicTable keeps the prevalence of the topics, a heap of those that have members and one of those that have none.
//
// The prevalence of a topic is kept as key = log2(TP) + alpha·t, taken at its last request: the decay is the same for
// all topics, so the order of keys is the order of TP at any later time (paper 002 §3.2, with the decay divided out).
type topicTable struct {
	alpha  float64
	room   int // for ghosts
	index  map[TopicID]uint32
	all    []topic // slot 0 is none
	seat   []uint32
	spare  uint32   // first unused slot of all, chained by topic.spare
	live   []node   // topics with members, by prevalence times the value of the first member
	ghosts []node   // topics without members, by prevalence
	tie    *[]entry // of the RAC that owns the table

	now    int64   // the latest Seq seen
	base   int64   // the Seq from which alpha·t counts, and its value there
	offset float64 // in [0, 1)
}

type topic struct {
	id      TopicID
	key     float64
	members []node // a heap, see RAC.rank
	state   topicState
	spare   uint32 // of a free slot: the next one
}

type topicState uint8

const (
	topicNew topicState = iota // in neither heap
	topicLive
	topicGhost
)

// rebaseAt bounds alpha·t: up to there a key is exact to 2^-35, which rank's grid absorbs.
const rebaseAt = 1 << 18

// grid is the unit of compared values, in bits. Values that are equal on paper differ by rounding when they were reached
// on different ways (one topic's 3 requests of weight 1, another's TSI of 3); on the grid they tie, as they must.
const grid = 1.0 / (1 << 24)

func newTopicTable(alpha float64, ghosts int, tie *[]entry) topicTable {
	return topicTable{
		alpha: alpha,
		room:  ghosts,
		index: make(map[TopicID]uint32),
		all:   make([]topic, 1),
		seat:  make([]uint32, 1),
		tie:   tie,
	}
}

// open returns the slot of id, out of the ghosts and started with one request if it is unknown.
func (t *topicTable) open(id TopicID, seq int64) uint32 {
	slot, ok := t.index[id]
	if !ok {
		return t.start(id, t.clock(seq))
	}
	if t.all[slot].state == topicGhost {
		t.heap(&t.ghosts).remove(slot)
		t.all[slot].state = topicNew
	}
	return slot
}

// start adds a topic of the given key. Topic 0 is private to its one entry and in no index.
func (t *topicTable) start(id TopicID, key float64) uint32 {
	slot := t.take()
	t.all[slot] = topic{id: id, key: key}
	if id != 0 {
		t.index[id] = slot
	}
	return slot
}

// credit counts one request to the topic at seq, which may lie before the topic's last one.
func (t *topicTable) credit(slot uint32, seq int64) {
	at := t.clock(seq)
	x := &t.all[slot]
	x.key = at + log2OnePlusExp2(x.key-at)
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
	t.all[slot] = topic{spare: t.spare}
	t.spare = slot
}

func (t *topicTable) take() uint32 {
	if slot := t.spare; slot != 0 {
		t.spare = t.all[slot].spare
		return slot
	}
	t.all = append(t.all, topic{})
	t.seat = append(t.seat, 0)
	return uint32(len(t.all) - 1)
}

func (t *topicTable) heap(nodes *[]node) seats {
	return seats{nodes: nodes, pos: t.seat, tie: *t.tie}
}

// rank is the place of a topic among the live, by its first member, or among the ghosts.
func (t *topicTable) rank(slot uint32) node {
	x := &t.all[slot]
	n := node{key: x.key, last: t.now, item: slot}
	if len(x.members) > 0 {
		first := &x.members[0]
		n.key, n.last, n.entry = x.key+first.key, first.last, first.entry
	}
	n.key = math.RoundToEven(n.key/grid) * grid
	return n
}

// clock is alpha·seq, counted from the base. It moves the base when that gets large: by whole bits, so that keys on the
// grid stay on it, at a cost of O(topics) once in 2^18/alpha requests.
func (t *topicTable) clock(seq int64) float64 {
	t.now = max(t.now, seq)
	at := t.at(seq)
	if at < rebaseAt {
		return at
	}
	shift := math.Floor(at)
	t.base, t.offset = seq, at-shift
	for i := range t.all {
		t.all[i].key -= shift
	}
	for _, h := range []*[]node{&t.live, &t.ghosts} {
		for i := range *h {
			(*h)[i].key -= shift
		}
		t.heap(h).order()
	}
	return t.offset
}

func (t *topicTable) at(seq int64) float64 {
	return t.alpha*float64(seq-t.base) + t.offset
}

// log2OnePlusExp2 is log2(1 + 2^x) without overflow.
func log2OnePlusExp2(x float64) float64 {
	switch {
	case x > 60:
		return x
	case x < -60:
		return math.Exp2(x) / math.Ln2
	}
	return math.Log1p(math.Exp2(x)) / math.Ln2
}
