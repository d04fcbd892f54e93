package kv

import (
	"reprise/cmd/reprise-lab/policies/keyed"
	"reprise/internal/container"
	"reprise/policy"
)

// AgingLFUSpec describes aging-lfu and its parameters.
var AgingLFUSpec = policy.Spec{
	Name: "aging-lfu", Says: "uses minus age: one use outweighs w requests of age",
	Params: []policy.Param{
		{Name: "w", Says: "requests of age that one use makes good: 1 is paper 003, 0 is LRU", Default: "C", Max: 1e12},
	},
	New: func(a policy.Args) policy.Evictor { return newAgingLFU(a.Num("w")) },
}

// AgingLFU evicts the entry of least w·N - A, where N counts its uses, its insertion the first, and A the requests since
// the last of them. All ages grow alike, so the key w·N + G, G the request of the last use, stands still in between. Ties
// go to the larger Item.Offset, then to the least recently used.
//
// With the w = 1 of its source it is LRU with a bonus of N requests; around the capacity it is worth having.
//
// Every call is O(log n), Victim O(1). Memory per resident: some 70 bytes. Source: paper 003.
type AgingLFU struct {
	keyed keyed.Entries[policy.ID, agingEntry]
	w     float64
	at    int64  // request of the entry that is staged
	last  uint64 // use, of all entries
}

type agingEntry struct {
	offset int32
	uses   uint32
	last   uint64 // which use of all was the last of this entry
}

var _ policy.Evictor = (*AgingLFU)(nil)

func newAgingLFU(w float64) *AgingLFU {
	a := &AgingLFU{w: w}
	a.keyed.Heap.Heap.Ties = func(x, y uint32) bool { return a.keyed.Slots.At(x).last < a.keyed.Slots.At(y).last }
	return a
}

// Insert stages the item; the one before it joins the others.
func (a *AgingLFU) Insert(it policy.Item, at policy.Tick) {
	if _, ok := a.keyed.Slots.Find(it.ID); ok {
		return
	}
	a.link()
	a.keyed.Stage(it.ID, agingEntry{offset: keyed.Int32(it.Offset)})
	a.at = at.Seq
}

// Hit counts a use.
func (a *AgingLFU) Hit(id policy.ID, at policy.Tick) {
	if slot, ok := a.keyed.Slots.Find(id); ok {
		a.link()
		a.use(slot, at.Seq)
	}
}

// Victim names the entry of least key.
func (a *AgingLFU) Victim() (policy.ID, bool) { return a.keyed.Least() }

// Remove drops id.
func (a *AgingLFU) Remove(id policy.ID, _ policy.Reason) {
	if slot, ok := a.keyed.Slots.Find(id); ok {
		a.keyed.Drop(slot)
	}
}

// Pin keeps id and its uses.
func (a *AgingLFU) Pin(id policy.ID) {
	if slot, ok := a.keyed.Slots.Find(id); ok {
		a.link()
		a.keyed.Pin(slot)
	}
}

// Unpin makes the age of id 0.
func (a *AgingLFU) Unpin(id policy.ID, at policy.Tick) {
	if slot, ok := a.keyed.Slots.Find(id); ok && a.keyed.Unpin(slot) {
		a.rank(slot, at.Seq)
	}
}

func (a *AgingLFU) use(slot uint32, seq int64) {
	container.Increment(&a.keyed.Slots.At(slot).uses)
	a.rank(slot, seq)
}

// rank sets the key for a use with a number.
func (a *AgingLFU) rank(slot uint32, seq int64) {
	e := a.keyed.Slots.At(slot)
	a.last++
	e.last = a.last
	a.keyed.Heap.SetMinor(slot, a.w*float64(e.uses)+float64(seq), keyed.LargerFirst(e.offset))
}

func (a *AgingLFU) link() {
	if slot := a.keyed.Take(); slot != 0 {
		a.use(slot, a.at)
	}
}
