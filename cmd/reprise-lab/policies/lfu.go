package policies

import (
	"reprise/cmd/reprise-lab/policies/keyed"
	"reprise/internal/container"
	"reprise/policy"
)

// lfuSpec describes lfu and its parameters.
var lfuSpec = policy.Spec{
	Name: "lfu", Says: "least frequently used since its insertion",
	New: func(policy.Args) policy.Evictor { return &LFU{} },
}

// LFU evicts the entry with the fewest uses, its insertion the first of them; ties go to what came to that number first.
// The number is lost with the entry. It has no parameter. The zero value is ready.
//
// Every call is O(log n), Victim O(1). Memory per resident: some 55 bytes.
type LFU struct {
	keyed keyed.Entries[policy.ID, uint32] // the number of uses, which is the key
}

var _ policy.Evictor = (*LFU)(nil)

// Insert stages the item; the one before it joins the others.
func (l *LFU) Insert(it policy.Item, _ policy.Tick) {
	if _, ok := l.keyed.Slots.Find(it.ID); ok {
		return
	}
	l.link()
	l.keyed.Stage(it.ID, 0)
}

// Hit counts a use.
func (l *LFU) Hit(id policy.ID, _ policy.Tick) {
	if slot, ok := l.keyed.Slots.Find(id); ok {
		l.link()
		l.use(slot)
	}
}

// Victim names the entry with the fewest uses.
func (l *LFU) Victim() (policy.ID, bool) { return l.keyed.Least() }

// Remove drops id.
func (l *LFU) Remove(id policy.ID, _ policy.Reason) {
	if slot, ok := l.keyed.Slots.Find(id); ok {
		l.keyed.Drop(slot)
	}
}

// Pin keeps id and its uses.
func (l *LFU) Pin(id policy.ID) {
	if slot, ok := l.keyed.Slots.Find(id); ok {
		l.link()
		l.keyed.Pin(slot)
	}
}

// Unpin makes id the last that came to its number of uses.
func (l *LFU) Unpin(id policy.ID, _ policy.Tick) {
	if slot, ok := l.keyed.Slots.Find(id); ok && l.keyed.Unpin(slot) {
		l.rank(slot)
	}
}

func (l *LFU) link() {
	if slot := l.keyed.Take(); slot != 0 {
		l.use(slot)
	}
}

func (l *LFU) use(slot uint32) {
	container.Increment(l.keyed.Slots.At(slot))
	l.rank(slot)
}

func (l *LFU) rank(slot uint32) { l.keyed.Heap.Set(slot, float64(*l.keyed.Slots.At(slot))) }
