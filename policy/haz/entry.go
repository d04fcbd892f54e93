package haz

import (
	"math"
	"math/bits"

	"reprise/internal/container"
	"reprise/policy"
)

// entries holds the residents and the ghosts, by identity, and their topics. rows holds what a forecast reads, by slot and packed, because
// sampling waits for memory more than for anything else.
type entries struct {
	clock     clock
	topics    topicTable
	slots     container.Slots[uint64, entry] // residents in no queue
	rows      []row
	worth     []float32                  // by slot: the logarithm of what one hit is worth; nil: every hit is worth the same
	ids       container.Index[policy.ID] // of the residents whose ID is not their identity
	residents []uint32                   // in no order
	ghosts    container.Queue
}

// entry holds the rest of the state of a resident or a ghost.
type entry struct {
	id     policy.ID // 0: a ghost
	before uint32    // see follow
	after  uint32
	place  uint32 // of a resident in residents
}

// row holds what a forecast reads of an entry, and the last look at it. Two rows fill a cache line of the CPU.
type row struct {
	last   uint32 // the low half of the Seq of the last use
	crf    float32
	topic  uint32
	seen   uint32 // visits of the topic at the last use
	own    uint32 // the features that do not change with time, as they are in a point
	looked uint32 // the low half of the Seq of the look
	look   look
}

// set changes a feature that is in own.
func (x *row) set(feature int, bucket uint8) {
	x.own = x.own&^(uint32(masks[feature])<<shifts[feature]) | uint32(bucket)<<shifts[feature]
}

func (x *row) bucket(feature int) uint8 { return point(x.own).bucket(feature) }

func (b *entries) at(e uint32) *entry { return b.slots.At(e) }

func (b *entries) key(e uint32) uint64 { return b.slots.Cells[e].Name }

// age returns the requests since the last use of x.
func (b *entries) age(x *row) uint32 { return uint32(b.clock.now) - x.last }

func (b *entries) advance(seq int64) { b.clock.now = max(b.clock.now, seq) }

// find returns the resident of that ID.
func (b *entries) find(id policy.ID) (uint32, bool) {
	if e := b.ids.Find(id, b.idOf); e != 0 {
		return e, true
	}
	e, ok := b.slots.Find(uint64(id))
	return e, ok && b.at(e).id == id
}

func (b *entries) idOf(e uint32) policy.ID { return b.at(e).id }

// add starts an entry that is not known.
func (b *entries) add(it policy.Item) uint32 {
	t := b.topics.open(it.Topic)
	b.topics.at(t).enter()
	e := b.slots.Add(it.Identity(), entry{})
	for int(e) >= len(b.rows) {
		b.rows = append(b.rows, row{})
	}
	b.rows[e] = row{last: uint32(b.clock.now), topic: t}
	return e
}

// free drops an entry that is neither resident nor a ghost.
func (b *entries) free(e uint32) {
	t := b.rows[e].topic
	b.topics.at(t).known--
	b.topics.leave(t)
	b.slots.Free(e)
	b.rows[e] = row{}
}

// rename gives the identity of the resident e to a newer entry. From now on e is found by its ID.
func (b *entries) rename(e uint32) {
	if id := b.at(e).id; uint64(id) == b.key(e) {
		b.ids.Add(id, e)
	}
	b.slots.Unname(e)
}

// admit puts e, which is no ghost, among the residents as it.
func (b *entries) admit(e uint32, it policy.Item) {
	x := b.at(e)
	x.id = it.ID
	if uint64(it.ID) != b.key(e) {
		b.ids.Add(it.ID, e)
	}
	x.place = uint32(len(b.residents))
	b.residents = append(b.residents, e)
	b.rows[e].set(featureTurn, uint8(min(max(it.Offset, 0), 3)))
}

// discharge takes e from the residents.
func (b *entries) discharge(e uint32) {
	x := b.at(e)
	end := len(b.residents) - 1
	last := b.residents[end]
	b.residents[x.place] = last
	b.at(last).place = x.place
	b.residents = b.residents[:end]
	if uint64(x.id) != b.key(e) {
		b.ids.Remove(x.id, b.idOf)
	}
	x.id, x.place = 0, 0
}

// moveTo moves a ghost that has come back under another topic.
func (b *entries) moveTo(id policy.TopicID, e uint32) {
	x := &b.rows[e]
	old := x.topic
	if b.topics.id(old) == id {
		return
	}
	x.topic = b.topics.open(id)
	t := b.topics.at(x.topic)
	t.enter()
	x.seen = t.visits
	b.topics.at(old).known--
	b.topics.leave(old)
}

// visit counts a use of e now, and a visit of its topic if that has not been counted.
func (b *entries) visit(e uint32, topic bool) {
	x := &b.rows[e]
	t := b.topics.at(x.topic)
	if topic {
		t.visit(&b.clock)
	}
	b.follow(e)
	age := int64(b.age(x))
	x.crf = float32(float64(x.crf)*b.clock.crf.over(age)) + 1
	freq := x.bucket(featureFreq)
	if freq > 0 {
		x.set(featureGap, max(1, lb(float64(age)*b.clock.scale)))
	}
	x.set(featureFreq, min(12, freq+1))
	x.seen = t.visits
	x.last = uint32(b.clock.now)
}

// follow records that e came after what its topic was last visited for, unless there was a long pause: with many
// conversations at a time it is mostly one that stays at a topic. An entry that returns often within one session has few
// distinct neighbours, one that many sessions share has many, and any of them brings it back. Each set is a Bloom filter of
// 32 bits.
func (b *entries) follow(e uint32) {
	x := &b.rows[e]
	t := b.topics.at(x.topic)
	last := t.latest
	t.latest = e
	y := &b.rows[last]
	if last == e || y.topic != x.topic || b.age(y) > b.clock.pause {
		return
	}
	b.order(last, e)
}

// order records that entry after came after entry before, and reports whether that was new.
func (b *entries) order(before, after uint32) (first bool) {
	x, y := b.at(after), b.at(before)
	bit := bitOf(b.key(after))
	first = y.after&bit == 0
	x.before |= bitOf(b.key(before))
	y.after |= bit
	b.rows[after].set(featureBefore, ones(x.before))
	b.rows[before].set(featureAfter, ones(y.after))
	return first
}

func bitOf(key uint64) uint32 { return 1 << (key * 0x9E3779B97F4A7C15 >> 59) }

func ones(set uint32) uint8 { return uint8(min(buckets-1, bits.OnesCount32(set))) }

// setWorth sets what one hit of e is worth.
func (b *entries) setWorth(e uint32, mode policy.Value, it policy.Item) {
	if mode == policy.Hits {
		return
	}
	for len(b.worth) < len(b.rows) {
		b.worth = append(b.worth, 0)
	}
	b.worth[e] = float32(math.Log(mode.Of(it)))
}
