package haz

import (
	"reprise/policy"
	"reprise/policy/internal/container"
)

// topicTable are the topics of a HAZ. Those without a known entry wait in a queue for their return, the oldest forgotten
// first.
type topicTable struct {
	index container.Table[uint64, uint32]
	all   []topic // 0 is none
	spare uint32  // first unused, chained by next
	empty container.Queue
	room  int
}

// topic is what is known of a topic. One with ID 0 belongs to a single entry and is not in the index.
type topic struct {
	id         policy.TopicID
	last       int64
	slow, fast float32 // visits, at last
	visits     uint32
	latest     uint32 // the entry last visited, which may have been forgotten
	known      uint32 // residents and ghosts
	prev, next uint32
	width      uint16 // distinct entries seen
	widthLB    uint8
	waiting    bool // in the queue of the empty
}

func newTopicTable(room int) topicTable { return topicTable{all: make([]topic, 1), room: room} }

// open is the slot of id, which is new if it was not known.
func (t *topicTable) open(id policy.TopicID) uint32 {
	if slot, ok := t.index.Get(uint64(id)); ok {
		if t.all[slot].waiting {
			t.unqueue(slot)
		}
		return slot
	}
	slot := t.spare
	if slot != 0 {
		t.spare = t.all[slot].next
	} else {
		t.all = append(t.all, topic{})
		slot = uint32(len(t.all) - 1)
	}
	t.all[slot] = topic{id: id}
	if id != 0 {
		t.index.Put(uint64(id), slot)
	}
	return slot
}

// visit counts a request.
func (x *topic) visit(c *clock, seq int64) {
	gone := seq - x.last
	x.slow = float32(float64(x.slow)*c.slow.over(gone)) + 1
	x.fast = float32(float64(x.fast)*c.fast.over(gone)) + 1
	x.visits++
	x.last = max(x.last, seq)
}

// enter counts an entry that was not known.
func (x *topic) enter() {
	x.known++
	x.width = min(x.width, 1<<16-2) + 1
	x.widthLB = lb(float64(x.width))
}

// leave lets a topic wait that has no known entry.
func (t *topicTable) leave(slot uint32) {
	x := &t.all[slot]
	if x.known > 0 {
		return
	}
	if x.id == 0 || t.room == 0 {
		t.forget(slot)
		return
	}
	q := &t.empty
	x.waiting, x.next = true, q.Head
	if q.Head != 0 {
		t.all[q.Head].prev = slot
	} else {
		q.Tail = slot
	}
	q.Head = slot
	q.Len++
	if q.Len > t.room {
		oldest := q.Tail
		t.unqueue(oldest)
		t.forget(oldest)
	}
}

func (t *topicTable) unqueue(slot uint32) {
	q, x := &t.empty, &t.all[slot]
	if x.prev != 0 {
		t.all[x.prev].next = x.next
	} else {
		q.Head = x.next
	}
	if x.next != 0 {
		t.all[x.next].prev = x.prev
	} else {
		q.Tail = x.prev
	}
	x.prev, x.next, x.waiting = 0, 0, false
	q.Len--
}

func (t *topicTable) forget(slot uint32) {
	if id := t.all[slot].id; id != 0 {
		t.index.Delete(uint64(id))
	}
	t.all[slot] = topic{next: t.spare}
	t.spare = slot
}
