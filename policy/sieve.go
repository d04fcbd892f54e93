package policy

var sieveSpec = spec{
	name: "sieve", says: "lazy promotion and quick demotion: a hand over a FIFO queue that spares what was used",
	make: func(args) Evictor { return &Sieve{} },
}

// Sieve keeps its entries in the order of their insertion and never moves one. A hit marks its entry. A hand wanders from
// the old end to the young one and starts again; it unmarks what it passes and evicts the first entry without a mark. So
// the old and used stay where they are, and what is new is judged soon. It has no parameter. The zero value is ready.
//
// Every call is O(1), Victim on average: each step of it was paid for by a hit. Memory per resident: some 60 bytes.
// Source: Zhang et al., "SIEVE is simpler than LRU" (NSDI 2024).
type Sieve struct {
	slab   slab[bool] // the marks
	queue  queue      // the youngest at its head
	hand   uint32     // where the next search begins; 0: at the old end
	staged uint32     // the newest entry, in no queue
}

var _ Evictor = (*Sieve)(nil)

// Insert holds it apart; the one before it goes to the young end.
func (s *Sieve) Insert(it Item, _ Tick) {
	if _, ok := s.slab.find(it.ID); ok {
		return
	}
	s.link()
	s.staged = s.slab.add(it.ID, false)
}

// Hit marks id.
func (s *Sieve) Hit(id ID, _ Tick) {
	if slot, ok := s.slab.find(id); ok {
		s.link()
		s.slab.cells[slot].val = true
	}
}

// Victim moves the hand to the first entry without a mark.
func (s *Sieve) Victim() (ID, bool) {
	if s.queue.n == 0 {
		return s.slab.name(s.staged)
	}
	for {
		if s.hand == 0 {
			s.hand = s.queue.tail
		}
		x := &s.slab.cells[s.hand]
		if !x.val {
			return x.id, true
		}
		x.val = false
		s.hand = x.prev
	}
}

// Remove drops id. A hand that is on it goes one on: after an eviction at most to the entry before the newest, otherwise
// to that as well.
func (s *Sieve) Remove(id ID, why Reason) {
	slot, ok := s.slab.find(id)
	if !ok {
		return
	}
	if why != Evicted {
		s.link()
	}
	s.drop(slot)
}

func (s *Sieve) drop(slot uint32) {
	if slot == s.staged {
		s.staged = 0
	} else {
		if slot == s.hand {
			s.hand = s.slab.cells[slot].prev
		}
		s.slab.unlink(&s.queue, slot)
	}
	s.slab.free(slot)
}

// link lets the staged entry in.
func (s *Sieve) link() {
	if s.staged != 0 {
		s.slab.pushHead(&s.queue, s.staged)
		s.staged = 0
	}
}
