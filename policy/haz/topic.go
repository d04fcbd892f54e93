package haz

import (
	"reprise/internal/container"
	"reprise/policy"
)

// topicTable holds the topics. Topics without entries stay in a queue in case they return; the oldest are dropped first.
type topicTable struct {
	slots container.Slots[policy.TopicID, topic]
	empty container.Queue
	room  int
}

// topic is the state of one topic. A topic with ID 0 belongs to a single entry.
type topic struct {
	last       int64
	slow, fast float32 // visits, at last
	visits     uint32
	latest     uint32 // the entry last visited, which may have been dropped
	known      uint32 // residents and ghosts
	width      uint16 // distinct entries seen
	widthLB    uint8
	waiting    bool // in the queue of the empty
}

func (t *topicTable) at(slot uint32) *topic { return t.slots.At(slot) }

func (t *topicTable) id(slot uint32) policy.TopicID { return t.slots.Cells[slot].Name }

// open returns the slot of id, a new one for an unknown id.
func (t *topicTable) open(id policy.TopicID) uint32 {
	slot, ok := t.slots.Find(id)
	if !ok {
		return t.slots.Add(id, topic{})
	}
	if x := t.at(slot); x.waiting {
		x.waiting = false
		t.slots.Unlink(&t.empty, slot)
	}
	return slot
}

// leave queues a topic that has no entry left.
func (t *topicTable) leave(slot uint32) {
	x := t.at(slot)
	if x.known > 0 {
		return
	}
	if t.id(slot) == 0 || t.room == 0 {
		t.slots.Free(slot)
		return
	}
	x.waiting = true
	t.slots.PushHead(&t.empty, slot)
	if t.empty.Len > t.room {
		oldest := t.empty.Tail
		t.slots.Unlink(&t.empty, oldest)
		t.slots.Free(oldest)
	}
}

// visit counts a request now.
func (x *topic) visit(c *clock) {
	gone := c.now - x.last
	x.slow = float32(float64(x.slow)*c.slow.over(gone)) + 1
	x.fast = float32(float64(x.fast)*c.fast.over(gone)) + 1
	x.visits++
	x.last = c.now
}

// enter counts an entry that was not known.
func (x *topic) enter() {
	x.known++
	x.width = min(x.width, 1<<16-2) + 1
	x.widthLB = lb(float64(x.width))
}
