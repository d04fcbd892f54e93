package classic

import (
	"reprise/policy"
	"reprise/internal/container"
	"reprise/policy/spec"
)

// ToySpec describes toy.
var ToySpec = spec.Spec{
	Name: "toy", Says: "most recently used",
	New: func(spec.Args) policy.Evictor { return NewToy() },
}

// Toy evicts the entry that was used last: the best choice while a loop is longer than the capacity.
type Toy struct {
	slots container.Slots[policy.ID, struct{}]
	queue container.Queue // the latest used at its head
}

var _ policy.Evictor = (*Toy)(nil)

// NewToy starts empty.
func NewToy() *Toy { return &Toy{} }

// Insert puts it at the head.
func (y *Toy) Insert(it policy.Item, _ policy.Tick) {
	if _, ok := y.slots.Find(it.ID); !ok {
		y.slots.PushHead(&y.queue, y.slots.Add(it.ID, struct{}{}))
	}
}

// Hit moves id to the head.
func (y *Toy) Hit(id policy.ID, _ policy.Tick) {
	if slot, ok := y.slots.Find(id); ok {
		y.slots.ToHead(&y.queue, slot)
	}
}

// Victim names the entry at the head.
func (y *Toy) Victim() (policy.ID, bool) { return y.slots.Name(y.queue.Head) }

// Remove drops id.
func (y *Toy) Remove(id policy.ID, _ policy.Reason) {
	if slot, ok := y.slots.Find(id); ok {
		y.slots.Unlink(&y.queue, slot)
		y.slots.Free(slot)
	}
}
