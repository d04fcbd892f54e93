package policy

import "math"

var agingLFUSpec = spec{
	name: "aging-lfu", says: "uses minus age: one use outweighs w requests of age",
	params: []Param{
		{Name: "w", Says: "requests of age that one use makes good: 1 is paper 003, 0 is LRU", Default: "C", Max: 1e12},
	},
	make: func(a args) Evictor { return newAgingLFU(a.num("w")) },
}

// AgingLFU evicts the entry of least w·N - A, where N counts its uses, its insertion the first, and A the requests since
// the last of them. All ages grow alike, so the key w·N + G, G the request of the last use, stands still in between. Ties
// go to the larger Item.Offset, then to the least recently used.
//
// With the w = 1 of its source it is LRU with a bonus of N requests; around the capacity it is worth having.
//
// Every call is O(log n), Victim O(1). Memory per resident: some 95 bytes. Source: paper 003.
type AgingLFU struct {
	keyed keyed[agingEntry]
	w     float64
	at    int64 // request of the entry that is held apart
}

type agingEntry struct {
	offset int32
	uses   uint32
}

var _ Evictor = (*AgingLFU)(nil)

func newAgingLFU(w float64) *AgingLFU { return &AgingLFU{w: w} }

// Insert holds it apart; the one before it joins the others.
func (a *AgingLFU) Insert(it Item, at Tick) {
	if _, ok := a.keyed.slab.find(it.ID); ok {
		return
	}
	a.link()
	a.keyed.stage(it.ID, agingEntry{offset: clamp32(it.Offset)})
	a.at = at.Seq
}

// Hit counts a use.
func (a *AgingLFU) Hit(id ID, at Tick) {
	if slot, ok := a.keyed.slab.find(id); ok {
		a.link()
		a.use(slot, at.Seq)
	}
}

// Victim names the entry of least key.
func (a *AgingLFU) Victim() (ID, bool) { return a.keyed.least() }

// Remove drops id.
func (a *AgingLFU) Remove(id ID, _ Reason) {
	if slot, ok := a.keyed.slab.find(id); ok {
		a.keyed.drop(slot)
	}
}

func (a *AgingLFU) use(slot uint32, seq int64) {
	e := &a.keyed.slab.cells[slot].val
	increment(&e.uses)
	a.keyed.heap.set(slot, a.w*float64(e.uses)+float64(seq), e.offset)
}

func (a *AgingLFU) link() {
	if slot := a.keyed.take(); slot != 0 {
		a.use(slot, a.at)
	}
}

func clamp32(n int) int32 { return int32(min(max(n, math.MinInt32), math.MaxInt32)) }
