package policies

import (
	"reprise/internal/container"
	"reprise/policy"
)

// twoQSpec describes 2q and its parameters.
var twoQSpec = policy.Spec{
	Name: "2q", Says: "a FIFO for what is new, an LRU for what returned after it left the FIFO",
	Params: []policy.Param{
		{Name: "in", Says: "entries in the FIFO", Default: "0.25C", Max: 1e12},
		{Name: "out", Says: "identities remembered of what left the FIFO", Default: "0.5C", Max: 1e12},
	},
	New: func(a policy.Args) policy.Evictor {
		return newTwoQ(policy.CapacityOf(a), a.Whole("in"), a.Whole("out"))
	},
}

// TwoQ is the full version of 2Q. New entries are in a FIFO (A1in), where a hit changes nothing. While the FIFO holds
// more than in entries its oldest is evicted and becomes a ghost (A1out); otherwise the LRU (Am) loses its oldest.
// An item that returns while it is a ghost goes to the LRU: it was requested again after its first burst.
//
// Every call is O(1). Memory per resident: some 45 bytes, and 30 for each ghost. Source: Johnson and Shasha, 2Q: a low
// overhead high performance buffer management replacement algorithm, VLDB 1994.
type TwoQ struct {
	slots  container.Slots[policy.ID, twoQ]
	fifo   container.Queue
	lru    container.Queue
	out    container.Ghosts
	size   policy.Capacity
	in     int    // entries in the FIFO at the given capacity
	room   int    // ghosts then
	staged uint32 // the new entry, in neither queue yet
}

type twoQ struct {
	key      uint64
	returned bool // in the LRU, or to be
}

var _ policy.Evictor = (*TwoQ)(nil)

func newTwoQ(size policy.Capacity, in, out int) *TwoQ {
	return &TwoQ{size: size, in: in, room: out, out: container.NewGhosts(out)}
}

// Insert stages it for the LRU if it is a ghost, else for the FIFO.
func (q *TwoQ) Insert(it policy.Item, _ policy.Tick) {
	if _, ok := q.slots.Find(it.ID); ok {
		return
	}
	q.link()
	key := it.Identity()
	q.staged = q.slots.Add(it.ID, twoQ{key: key, returned: q.out.Take(key)})
}

// Hit moves id to the newest end of the LRU if it is there.
func (q *TwoQ) Hit(id policy.ID, _ policy.Tick) {
	slot, ok := q.slots.Find(id)
	if !ok {
		return
	}
	q.link()
	if q.slots.Cells[slot].Val.returned {
		q.slots.ToHead(&q.lru, slot)
	}
}

// Victim names the oldest of the FIFO while that is too long, else the oldest of the LRU.
func (q *TwoQ) Victim() (policy.ID, bool) {
	slot := q.lru.Tail
	if q.fifo.Len > q.size.Of(q.in) || slot == 0 {
		slot = q.fifo.Tail
	}
	if slot == 0 {
		slot = q.staged
	}
	return q.slots.Name(slot)
}

// Remove drops id. Evicted from the FIFO it becomes a ghost. Expired in the LRU it becomes one too, so that it
// returns there.
func (q *TwoQ) Remove(id policy.ID, why policy.Reason) {
	slot, ok := q.slots.Find(id)
	if !ok {
		return
	}
	e := q.slots.Cells[slot].Val
	switch {
	case slot == q.staged:
		q.staged = 0
	case e.returned:
		q.slots.Unlink(&q.lru, slot)
		if why == policy.Expired {
			q.out.Add(e.key)
		}
	default:
		q.slots.Unlink(&q.fifo, slot)
		if why == policy.Evicted {
			q.out.Add(e.key)
		}
	}
	q.slots.Free(slot)
	if why == policy.Evicted && q.size.Evicted(q.slots.Len()) {
		q.out.Room = q.size.Of(q.room)
	}
}

// link puts the staged entry into its queue.
func (q *TwoQ) link() {
	if q.staged == 0 {
		return
	}
	to := &q.fifo
	if q.slots.Cells[q.staged].Val.returned {
		to = &q.lru
	}
	q.slots.PushHead(to, q.staged)
	q.staged = 0
}
