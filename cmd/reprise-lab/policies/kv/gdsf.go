package kv

import (
	"reprise/cmd/reprise-lab/policies/keyed"
	"reprise/internal/container"
	"reprise/policy"
)

// GDSFSpec describes gdsf and its parameters.
var GDSFSpec = policy.Spec{
	Name: "gdsf", Says: "greedy dual: uses times cost per size, over a floor that rises with each eviction",
	Params: []policy.Param{policy.ValueParam},
	New:    func(a policy.Args) policy.Evictor { return NewGDSF(a.Value()) },
}

// GDSF evicts the entry of least H = L + uses·worth, its insertion the first use; ties go to the least recently used. H is
// set at each use with the L of that moment, and L is the H of the last victim, so that entries no longer used fall
// behind. The parameter value chooses worth: 1, tokens, or tokens per byte.
//
// Every call is O(log n), Victim O(1). Memory per resident: some 65 bytes, 80 with ByOffset.
// Source: Cherkasova, "Improving WWW proxies performance with Greedy-Dual-Size-Frequency caching policy" (HP Labs, 1998).
type GDSF struct {
	keyed keyed.Entries[policy.ID, gdsfEntry]
	mode  policy.Value
	floor float64 // L
	deep  *depths // of ByOffset; else nil
}

// depths are what ByOffset orders equals by, by slot.
type depths struct {
	offset []int32
	last   []uint64 // which use of all was the last
	uses   uint64
}

type gdsfEntry struct {
	worth float32
	uses  uint32
}

var (
	_ policy.Evictor  = (*GDSF)(nil)
	_ policy.Replacer = (*GDSF)(nil)
)

// NewGDSF returns an empty GDSF with an objective.
func NewGDSF(mode policy.Value) *GDSF { return &GDSF{mode: mode} }

// ByOffset makes ties go to the larger Item.Offset, then to the least recently used.
func (g *GDSF) ByOffset() {
	g.deep = &depths{}
	g.keyed.Heap.Heap.Ties = func(x, y uint32) bool { return g.deep.last[x] < g.deep.last[y] }
}

// Insert stages the item; the one before it joins the others.
func (g *GDSF) Insert(it policy.Item, _ policy.Tick) {
	if _, ok := g.keyed.Slots.Find(it.ID); ok {
		return
	}
	g.link()
	g.keyed.Stage(it.ID, gdsfEntry{worth: float32(g.mode.Of(it))})
	if slot, _ := g.keyed.Slots.Find(it.ID); g.deep != nil {
		g.deep.set(slot, keyed.Int32(it.Offset))
	}
}

// Hit counts a use.
func (g *GDSF) Hit(id policy.ID, _ policy.Tick) {
	if slot, ok := g.keyed.Slots.Find(id); ok {
		g.link()
		g.use(slot)
	}
}

// Replace counts a use at the new worth.
func (g *GDSF) Replace(it policy.Item, at policy.Tick) {
	if slot, ok := g.keyed.Slots.Find(it.ID); ok {
		g.link()
		g.keyed.Slots.Cells[slot].Val.worth = float32(g.mode.Of(it))
		g.use(slot)
	}
}

// Victim names the entry of least H.
func (g *GDSF) Victim() (policy.ID, bool) {
	return g.keyed.Least()
}

// Remove drops id. At an eviction the floor rises to the least H.
func (g *GDSF) Remove(id policy.ID, why policy.Reason) {
	slot, ok := g.keyed.Slots.Find(id)
	if !ok {
		return
	}
	if heap := &g.keyed.Heap; why == policy.Evicted && heap.Has(slot) {
		g.floor = heap.Key(heap.Min())
	}
	g.keyed.Drop(slot)
}

// Pin keeps id and its uses.
func (g *GDSF) Pin(id policy.ID) {
	if slot, ok := g.keyed.Slots.Find(id); ok {
		g.link()
		g.keyed.Pin(slot)
	}
}

// Unpin sets H with the present floor.
func (g *GDSF) Unpin(id policy.ID, _ policy.Tick) {
	if slot, ok := g.keyed.Slots.Find(id); ok && g.keyed.Unpin(slot) {
		g.rank(slot)
	}
}

// use counts a use.
func (g *GDSF) use(slot uint32) {
	container.Increment(&g.keyed.Slots.At(slot).uses)
	g.rank(slot)
}

// rank sets H, with the present floor.
func (g *GDSF) rank(slot uint32) {
	e := g.keyed.Slots.At(slot)
	key := g.floor + float64(e.uses)*float64(e.worth)
	if g.deep == nil {
		g.keyed.Heap.Set(slot, key)
		return
	}
	g.keyed.Heap.SetMinor(slot, key, g.deep.use(slot))
}

func (g *GDSF) link() {
	if slot := g.keyed.Take(); slot != 0 {
		g.use(slot)
	}
}

// set is called before the first use of slot.
func (d *depths) set(slot uint32, offset int32) {
	for int(slot) >= len(d.offset) {
		d.offset, d.last = append(d.offset, 0), append(d.last, 0)
	}
	d.offset[slot] = offset
}

// use counts a use of slot, and is its rank among those of equal keys.
func (d *depths) use(slot uint32) uint32 {
	d.uses++
	d.last[slot] = d.uses
	return keyed.LargerFirst(d.offset[slot])
}
