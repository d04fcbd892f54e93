package policy

var twoQSpec = spec{
	name: "2q", says: "a FIFO for what is new, an LRU for what returned after it left the FIFO",
	params: []Param{
		{Name: "in", Says: "entries in the FIFO", Default: "0.25C", Max: 1e12},
		{Name: "out", Says: "identities remembered of what left the FIFO", Default: "0.5C", Max: 1e12},
	},
	make: func(a args) Evictor { return newTwoQ(a.capacity(), a.whole("in"), a.whole("out")) },
}

// TwoQ is the full version of 2Q. New entries stand in a FIFO (A1in), where a hit changes nothing. While the FIFO holds
// more than in entries its oldest is evicted and remembered as a ghost (A1out); otherwise the LRU (Am) loses its oldest.
// What returns while it is a ghost goes to the LRU: it was asked for again after the burst that brought it.
//
// Every call is O(1). Memory per resident: some 65 bytes, and 50 for each ghost. Source: Johnson and Shasha, 2Q: a low
// overhead high performance buffer management replacement algorithm, VLDB 1994.
type TwoQ struct {
	slab   slab[twoQ]
	fifo   queue
	lru    queue
	out    ghosts
	size   capacity
	in     int    // entries in the FIFO when size is as told
	room   int    // ghosts then
	staged uint32 // the new entry, in neither queue yet
}

type twoQ struct {
	key      uint64
	returned bool // in the LRU, or to be
}

var _ Evictor = (*TwoQ)(nil)

func newTwoQ(size capacity, in, out int) *TwoQ {
	return &TwoQ{size: size, in: in, room: out, out: ghosts{room: out}}
}

// Insert stages it for the LRU if it is a ghost, else for the FIFO.
func (q *TwoQ) Insert(it Item, _ Tick) {
	if _, ok := q.slab.find(it.ID); ok {
		return
	}
	q.link()
	key := it.Identity()
	q.staged = q.slab.add(it.ID, twoQ{key: key, returned: q.out.del(key)})
}

// Hit moves id to the newest end of the LRU if it is there.
func (q *TwoQ) Hit(id ID, _ Tick) {
	slot, ok := q.slab.find(id)
	if !ok {
		return
	}
	q.link()
	if q.slab.cells[slot].val.returned {
		q.slab.toHead(&q.lru, slot)
	}
}

// Victim names the oldest of the FIFO while that is too long, else the oldest of the LRU.
func (q *TwoQ) Victim() (ID, bool) {
	slot := q.lru.tail
	if q.fifo.n > q.size.of(q.in) || slot == 0 {
		slot = q.fifo.tail
	}
	if slot == 0 {
		slot = q.staged
	}
	return q.slab.name(slot)
}

// Remove drops id. Evicted from the FIFO it becomes a ghost. Expired in the LRU it becomes one too, so that it
// returns there.
func (q *TwoQ) Remove(id ID, why Reason) {
	slot, ok := q.slab.find(id)
	if !ok {
		return
	}
	e := q.slab.cells[slot].val
	switch {
	case slot == q.staged:
		q.staged = 0
	case e.returned:
		q.slab.unlink(&q.lru, slot)
		if why == Expired {
			q.out.add(e.key)
		}
	default:
		q.slab.unlink(&q.fifo, slot)
		if why == Evicted {
			q.out.add(e.key)
		}
	}
	q.slab.free(slot)
	if why == Evicted && q.size.evicted(q.slab.len()) {
		q.out.room = q.size.of(q.room)
	}
}

// link puts the staged entry into its queue.
func (q *TwoQ) link() {
	if q.staged == 0 {
		return
	}
	to := &q.fifo
	if q.slab.cells[q.staged].val.returned {
		to = &q.lru
	}
	q.slab.pushHead(to, q.staged)
	q.staged = 0
}
