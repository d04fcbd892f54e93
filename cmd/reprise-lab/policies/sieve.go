package policies

import (
	"reprise/internal/container"
	"reprise/policy"
)

// sieveSpec describes sieve and its parameters.
var sieveSpec = policy.Spec{
	Name: "sieve", Says: "lazy promotion and quick demotion: a hand over a FIFO queue that spares what was used",
	New: func(policy.Args) policy.Evictor { return &Sieve{} },
}

// Sieve keeps its entries in the order of their insertion and never moves one. A hit marks its entry. A hand moves from the
// old end to the young one and starts again; it unmarks each entry that it passes and evicts the first one without a mark.
// So old entries that are used stay where they are, and new ones are soon examined. It has no parameter. The zero value is
// ready.
//
// Every call is O(1), Victim on average: because each step takes back a hit. Memory per resident: some 40 bytes.
// Source: Zhang et al., "SIEVE is simpler than LRU" (NSDI 2024).
type Sieve struct {
	slots  container.Slots[policy.ID, bool] // the marks
	queue  container.Queue                  // the youngest at its head
	hand   uint32                           // where the next search begins; 0: at the old end
	staged uint32                           // the newest entry, in no queue
}

var _ policy.Evictor = (*Sieve)(nil)

// Insert stages the item; the one before it goes to the young end.
func (s *Sieve) Insert(it policy.Item, _ policy.Tick) {
	if _, ok := s.slots.Find(it.ID); ok {
		return
	}
	s.link()
	s.staged = s.slots.Add(it.ID, false)
}

// Hit marks id.
func (s *Sieve) Hit(id policy.ID, _ policy.Tick) {
	if slot, ok := s.slots.Find(id); ok {
		s.link()
		s.slots.Cells[slot].Val = true
	}
}

// Victim moves the hand to the first entry without a mark.
func (s *Sieve) Victim() (policy.ID, bool) {
	if s.queue.Len == 0 {
		return s.slots.Name(s.staged)
	}
	for {
		if s.hand == 0 {
			s.hand = s.queue.Tail
		}
		x := &s.slots.Cells[s.hand]
		if !x.Val {
			return x.Name, true
		}
		x.Val = false
		s.hand = x.Prev
	}
}

// Remove drops id. A hand on it moves one on: after an eviction at most to the entry before the newest, otherwise
// to that as well.
func (s *Sieve) Remove(id policy.ID, why policy.Reason) {
	slot, ok := s.slots.Find(id)
	if !ok {
		return
	}
	if why != policy.Evicted {
		s.link()
	}
	s.drop(slot)
}

func (s *Sieve) drop(slot uint32) {
	if slot == s.staged {
		s.staged = 0
	} else {
		if slot == s.hand {
			s.hand = s.slots.Cells[slot].Prev
		}
		s.slots.Unlink(&s.queue, slot)
	}
	s.slots.Free(slot)
}

// link puts the staged entry into the queue.
func (s *Sieve) link() {
	if s.staged != 0 {
		s.slots.PushHead(&s.queue, s.staged)
		s.staged = 0
	}
}
