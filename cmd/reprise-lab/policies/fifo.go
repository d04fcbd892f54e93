package policies

import (
	"reprise/internal/container"
	"reprise/policy"
)

// fifoSpec describes fifo and its parameters.
var fifoSpec = policy.Spec{
	Name: "fifo", Says: "first in, first out",
	New: func(policy.Args) policy.Evictor { return &FIFO{} },
}

// FIFO evicts the oldest entry; a hit changes nothing. It has no parameter. The zero value is ready.
//
// Every call is O(1). Memory per resident: some 30 bytes.
type FIFO struct {
	slots container.Slots[policy.ID, struct{}]
	queue container.Queue // the youngest at its head
}

var _ policy.Evictor = (*FIFO)(nil)

// Insert puts it at the young end.
func (f *FIFO) Insert(it policy.Item, _ policy.Tick) {
	if _, ok := f.slots.Find(it.ID); !ok {
		f.slots.PushHead(&f.queue, f.slots.Add(it.ID, struct{}{}))
	}
}

// Hit changes nothing.
func (f *FIFO) Hit(policy.ID, policy.Tick) {}

// Victim names the oldest entry.
func (f *FIFO) Victim() (policy.ID, bool) { return f.slots.Name(f.queue.Tail) }

// Remove drops id.
func (f *FIFO) Remove(id policy.ID, _ policy.Reason) {
	if slot, ok := f.slots.Find(id); ok {
		f.slots.Unlink(&f.queue, slot)
		f.slots.Free(slot)
	}
}
