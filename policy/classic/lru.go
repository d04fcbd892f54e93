package classic

import (
	"reprise/internal/container"
	"reprise/policy"
)

// LRUSpec describes lru and its parameters.
var LRUSpec = policy.Spec{
	Name: "lru", Says: "least recently used",
	New: func(policy.Args) policy.Evictor { return NewLRU() },
}

// LRU evicts the entry that was used least recently. It has no parameter. The zero value is ready.
//
// Every call is O(1). Memory per resident: some 30 bytes.
type LRU struct {
	slots container.Slots[policy.ID, struct{}]
	queue container.Queue // the latest used at its head
}

var _ policy.Evictor = (*LRU)(nil)

// NewLRU starts empty.
func NewLRU() *LRU { return &LRU{} }

// Insert puts it at the newest end.
func (l *LRU) Insert(it policy.Item, _ policy.Tick) {
	if _, ok := l.slots.Find(it.ID); !ok {
		l.slots.PushHead(&l.queue, l.slots.Add(it.ID, struct{}{}))
	}
}

// Hit moves id to the newest end.
func (l *LRU) Hit(id policy.ID, _ policy.Tick) {
	if slot, ok := l.slots.Find(id); ok {
		l.slots.ToHead(&l.queue, slot)
	}
}

// Victim names the oldest entry.
func (l *LRU) Victim() (policy.ID, bool) { return l.slots.Name(l.queue.Tail) }

// Remove drops id.
func (l *LRU) Remove(id policy.ID, _ policy.Reason) {
	if slot, ok := l.slots.Find(id); ok {
		l.slots.Unlink(&l.queue, slot)
		l.slots.Free(slot)
	}
}
