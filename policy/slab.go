package policy

// slab holds the residents of a policy that orders them by queues: a table from ID to slot and the slots, linked by number.
// Slot 0 is none. A resident is in one queue at most.
type slab[T any] struct {
	index table[uint32]
	cells []cell[T]
	spare uint32 // first unused slot, chained by next
}

// cell is one resident. val comes first because a struct pads a last field of no size.
type cell[T any] struct {
	val        T
	id         ID
	prev, next uint32 // towards the head, towards the tail
}

// queue is a list through the cells of one slab. Its head is what was pushed last.
type queue struct {
	head, tail uint32
	n          int
}

func (s *slab[T]) find(id ID) (slot uint32, ok bool) { return s.index.get(uint64(id)) }

func (s *slab[T]) len() int { return s.index.n }

// name is the ID in slot, false for slot 0.
func (s *slab[T]) name(slot uint32) (id ID, ok bool) {
	if slot == 0 {
		return 0, false
	}
	return s.cells[slot].id, true
}

// add takes a slot for id, which is not resident, in no queue. Pointers into cells do not survive it.
func (s *slab[T]) add(id ID, val T) uint32 {
	if len(s.cells) == 0 {
		s.cells = make([]cell[T], 1)
	}
	slot := s.spare
	if slot != 0 {
		s.spare = s.cells[slot].next
	} else {
		s.cells = append(s.cells, cell[T]{})
		slot = uint32(len(s.cells) - 1)
	}
	s.cells[slot] = cell[T]{val: val, id: id}
	s.index.add(uint64(id), slot)
	return slot
}

// free gives back a slot that is in no queue.
func (s *slab[T]) free(slot uint32) {
	s.index.del(uint64(s.cells[slot].id))
	s.cells[slot] = cell[T]{next: s.spare}
	s.spare = slot
}

func (s *slab[T]) pushHead(q *queue, slot uint32) {
	c := &s.cells[slot]
	c.prev, c.next = 0, q.head
	if q.head != 0 {
		s.cells[q.head].prev = slot
	} else {
		q.tail = slot
	}
	q.head = slot
	q.n++
}

func (s *slab[T]) unlink(q *queue, slot uint32) {
	c := &s.cells[slot]
	if c.prev != 0 {
		s.cells[c.prev].next = c.next
	} else {
		q.head = c.next
	}
	if c.next != 0 {
		s.cells[c.next].prev = c.prev
	} else {
		q.tail = c.prev
	}
	c.prev, c.next = 0, 0
	q.n--
}

func (s *slab[T]) toHead(q *queue, slot uint32) {
	if q.head != slot {
		s.unlink(q, slot)
		s.pushHead(q, slot)
	}
}

// ghosts remembers what was evicted, by Item.Key, the latest first. The zero value has no room.
type ghosts struct {
	slab  slab[struct{}] // under the key in place of an ID
	queue queue
	room  int
}

// add remembers key as the latest and forgets the oldest beyond the room.
func (g *ghosts) add(key uint64) {
	g.del(key)
	if g.room <= 0 {
		return
	}
	g.slab.pushHead(&g.queue, g.slab.add(ID(key), struct{}{}))
	g.trim(g.room)
}

// trim forgets the oldest until n are left.
func (g *ghosts) trim(n int) {
	for g.queue.n > max(n, 0) {
		g.drop(g.queue.tail)
	}
}

// del forgets key and reports whether it was remembered.
func (g *ghosts) del(key uint64) bool {
	slot, ok := g.slab.find(ID(key))
	if ok {
		g.drop(slot)
	}
	return ok
}

func (g *ghosts) drop(slot uint32) {
	g.slab.unlink(&g.queue, slot)
	g.slab.free(slot)
}

func (g *ghosts) len() int { return g.queue.n }
