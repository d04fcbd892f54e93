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

// LRU evicts the entry that was used least recently. It has no parameter. A pinned entry is in no queue; its last Unpin puts it at the
// newest end, as vLLM does with the blocks of a request that ends.
//
// Every call is O(1). Memory per resident: some 40 bytes.
type LRU struct {
	slots container.Slots[policy.ID, uint32] // how often it is pinned
	queue container.Queue                    // the latest used at its head
}

var _ policy.Evictor = (*LRU)(nil)

// NewLRU starts empty.
func NewLRU() *LRU { return &LRU{} }

// Insert puts it at the newest end.
func (l *LRU) Insert(it policy.Item, _ policy.Tick) {
	if _, ok := l.slots.Find(it.ID); !ok {
		l.slots.PushHead(&l.queue, l.slots.Add(it.ID, 0))
	}
}

// Hit moves id to the newest end.
func (l *LRU) Hit(id policy.ID, _ policy.Tick) {
	if slot, ok := l.slots.Find(id); ok && *l.slots.At(slot) == 0 {
		l.slots.ToHead(&l.queue, slot)
	}
}

// Victim names the oldest entry.
func (l *LRU) Victim() (policy.ID, bool) { return l.slots.Name(l.queue.Tail) }

// Remove drops id.
func (l *LRU) Remove(id policy.ID, _ policy.Reason) {
	slot, ok := l.slots.Find(id)
	if !ok {
		return
	}
	if *l.slots.At(slot) == 0 {
		l.slots.Unlink(&l.queue, slot)
	}
	l.slots.Free(slot)
}

// Pin takes id out of the queue.
func (l *LRU) Pin(id policy.ID) {
	slot, ok := l.slots.Find(id)
	if !ok {
		return
	}
	pins := l.slots.At(slot)
	if *pins == 0 {
		l.slots.Unlink(&l.queue, slot)
	}
	*pins++
}

// Unpin puts id at the newest end when it is the last one.
func (l *LRU) Unpin(id policy.ID, _ policy.Tick) {
	slot, ok := l.slots.Find(id)
	if !ok {
		return
	}
	pins := l.slots.At(slot)
	if *pins == 0 {
		return
	}
	*pins--
	if *pins == 0 {
		l.slots.PushHead(&l.queue, slot)
	}
}
