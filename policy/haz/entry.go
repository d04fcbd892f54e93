package haz

import (
	"math"

	"reprise/policy"
	"reprise/policy/internal/container"
	"reprise/policy/internal/spec"
)

// entries are the residents and the ghosts, by identity, and the topics that they are in.
type entries struct {
	clock     clock
	topics    topicTable
	slots     container.Slots[uint64, entry] // residents in no queue
	ids       container.Table[policy.ID, uint32]
	residents []uint32 // in no order
	ghosts    container.Queue
}

// entry is what is known of a resident or a ghost. With its name and its links it fills one line of the CPU's cache.
type entry struct {
	id     policy.ID // 0: a ghost
	last   int64
	crf    float32
	value  float32 // the logarithm of what one hit is worth
	topic  uint32
	seen   uint32 // visits of the topic at the last use
	before uint32 // see follow
	after  uint32
	place  uint32 // of a resident in residents
	freq   uint8  // bucket
	turn   uint8  // bucket
	gap    uint8  // bucket
	held   uint8  // 1: another policy holds it
}

func (b *entries) at(e uint32) *entry { return b.slots.At(e) }

func (b *entries) key(e uint32) uint64 { return b.slots.Cells[e].Name }

func (b *entries) advance(seq int64) { b.clock.now = max(b.clock.now, seq) }

// find is the resident of that ID. The table ids has only those whose ID is not their identity.
func (b *entries) find(id policy.ID) (uint32, bool) {
	if e, ok := b.ids.Get(id); ok {
		return e, true
	}
	e, ok := b.slots.Find(uint64(id))
	return e, ok && b.at(e).id == id
}

// add starts an entry that is not known.
func (b *entries) add(it policy.Item, seq int64) uint32 {
	t := b.topics.open(it.Topic)
	b.topics.at(t).enter()
	return b.slots.Add(it.Identity(), entry{last: seq, topic: t})
}

// free drops an entry that is neither resident nor a ghost.
func (b *entries) free(e uint32) {
	t := b.at(e).topic
	b.topics.at(t).known--
	b.topics.leave(t)
	b.slots.Free(e)
}

// rename gives the identity of the resident e to a newer entry. From now on e is found by its ID.
func (b *entries) rename(e uint32) {
	b.ids.Put(b.at(e).id, e)
	b.slots.Unname(e)
}

// admit puts e, which is no ghost, among the residents as it.
func (b *entries) admit(e uint32, it policy.Item) {
	x := b.at(e)
	x.id = it.ID
	if uint64(it.ID) != b.key(e) {
		b.ids.Put(it.ID, e)
	}
	x.place = uint32(len(b.residents))
	b.residents = append(b.residents, e)
	x.turn = uint8(min(max(it.Offset, 0), 3))
}

// discharge takes e from the residents.
func (b *entries) discharge(e uint32) {
	x := b.at(e)
	end := len(b.residents) - 1
	last := b.residents[end]
	b.residents[x.place] = last
	b.at(last).place = x.place
	b.residents = b.residents[:end]
	b.ids.Delete(x.id)
	x.id, x.place = 0, 0
}

// moveTo moves a ghost that has come back under another topic.
func (b *entries) moveTo(id policy.TopicID, e uint32) {
	x := b.at(e)
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

// visit counts a use of e, and a visit of its topic if that has not been counted.
func (b *entries) visit(e uint32, seq int64, topic bool) {
	x := b.at(e)
	t := b.topics.at(x.topic)
	if topic {
		t.visit(&b.clock, seq)
	}
	b.follow(e, seq)
	x.crf = float32(float64(x.crf)*b.clock.crf.over(seq-x.last)) + 1
	if x.freq > 0 {
		x.gap = max(1, lb(float64(max(seq-x.last, 0))*b.clock.scale))
	}
	x.freq = min(12, x.freq+1)
	x.seen = t.visits
	x.last = max(x.last, seq)
}

// follow records that e came after what its topic was last visited for, unless there was a long pause: with many
// conversations at a time it is mostly one that stays at a topic. An entry that returns often within one session has few
// distinct neighbours, one that many sessions share has many, and any of them brings it back. Each set is a Bloom filter of
// 32 bits.
func (b *entries) follow(e uint32, seq int64) {
	x := b.at(e)
	t := b.topics.at(x.topic)
	last := t.latest
	t.latest = e
	y := b.at(last)
	if last == e || y.topic != x.topic || seq-y.last > b.clock.pause {
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
	return first
}

func bitOf(key uint64) uint32 { return 1 << (key * 0x9E3779B97F4A7C15 >> 59) }

// setValue sets what one hit is worth.
func (x *entry) setValue(mode spec.Value, it policy.Item) {
	if mode != spec.Hits {
		x.value = float32(math.Log(mode.Of(it)))
	}
}
