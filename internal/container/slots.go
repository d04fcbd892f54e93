package container

// Slots holds entries by number, in queues: slots that are linked by number, and an index of them by the names of the entries.
// Slot 0 is none. An entry is in one queue at most. The zero value is empty.
type Slots[K ~uint64, T any] struct {
	Cells []Cell[K, T] // by slot

	index Index[K]
	spare uint32 // first unused slot, chained by next
}

// Cell is one entry. Val comes first because a struct pads a last field of no size.
type Cell[K ~uint64, T any] struct {
	Val  T
	Name K
	Link
}

// Link is the place of an entry in its queue: the slots before and after it, 0 at an end.
type Link struct {
	Prev, Next uint32 // towards the head, towards the tail
}

// Queue is a list through the cells of one Slots. Its head is what was pushed last.
type Queue struct {
	Head, Tail uint32
	Len        int
}

// Len is the number of entries that have a name.
func (s *Slots[K, T]) Len() int { return s.index.Len() }

// Find is the slot of the entry of that name.
func (s *Slots[K, T]) Find(name K) (slot uint32, ok bool) {
	slot = s.index.Find(name, s.nameOf)
	return slot, slot != 0
}

func (s *Slots[K, T]) nameOf(slot uint32) K { return s.Cells[slot].Name }

// Name is the name of the entry in slot, false for slot 0.
func (s *Slots[K, T]) Name(slot uint32) (name K, ok bool) {
	if slot == 0 {
		return 0, false
	}
	return s.Cells[slot].Name, true
}

// At is the value in slot. The pointer does not survive an Add.
func (s *Slots[K, T]) At(slot uint32) *T { return &s.Cells[slot].Val }

// Add takes a slot, in no queue, for an entry whose name is not in use. An entry of the name 0
// cannot be found.
func (s *Slots[K, T]) Add(name K, val T) uint32 {
	if len(s.Cells) == 0 {
		s.Cells = make([]Cell[K, T], 1)
	}
	slot := s.spare
	if slot != 0 {
		s.spare = s.Cells[slot].Next
	} else {
		s.Cells = append(s.Cells, Cell[K, T]{})
		slot = uint32(len(s.Cells) - 1)
	}
	s.Cells[slot] = Cell[K, T]{Val: val, Name: name}
	if name != 0 {
		s.index.Add(name, slot)
	}
	return slot
}

// Unname takes the name from the entry in slot, so that another one can have it.
func (s *Slots[K, T]) Unname(slot uint32) {
	c := &s.Cells[slot]
	if c.Name != 0 {
		s.index.Remove(c.Name, s.nameOf)
	}
	c.Name = 0
}

// Free gives back a slot that is in no queue.
func (s *Slots[K, T]) Free(slot uint32) {
	s.Unname(slot)
	c := &s.Cells[slot]
	*c = Cell[K, T]{}
	c.Next, s.spare = s.spare, slot
}

// PushHead puts slot, which is in no queue, at the head of q.
func (s *Slots[K, T]) PushHead(q *Queue, slot uint32) {
	c := &s.Cells[slot]
	c.Prev, c.Next = 0, q.Head
	if q.Head != 0 {
		s.Cells[q.Head].Prev = slot
	} else {
		q.Tail = slot
	}
	q.Head = slot
	q.Len++
}

// Unlink takes slot out of q.
func (s *Slots[K, T]) Unlink(q *Queue, slot uint32) {
	c := &s.Cells[slot]
	if c.Prev != 0 {
		s.Cells[c.Prev].Next = c.Next
	} else {
		q.Head = c.Next
	}
	if c.Next != 0 {
		s.Cells[c.Next].Prev = c.Prev
	} else {
		q.Tail = c.Prev
	}
	c.Prev, c.Next = 0, 0
	q.Len--
}

// ToHead moves slot to the head of q, in which it is.
func (s *Slots[K, T]) ToHead(q *Queue, slot uint32) {
	if q.Head != slot {
		s.Unlink(q, slot)
		s.PushHead(q, slot)
	}
}

// Join moves all of from to the head of q, in its order.
func (s *Slots[K, T]) Join(q, from *Queue) {
	switch {
	case from.Len == 0:
		return
	case q.Len == 0:
		*q = *from
	default:
		s.Cells[q.Head].Prev, s.Cells[from.Tail].Next = from.Tail, q.Head
		q.Head, q.Len = from.Head, q.Len+from.Len
	}
	*from = Queue{}
}

// Bytes is the memory in use, for cells of so many bytes.
func (s *Slots[K, T]) Bytes(cell int64) int64 { return s.index.Bytes() + cell*int64(cap(s.Cells)) }
