package classic

import (
	"reprise/policy"
	"reprise/policy/internal/bound"
	"reprise/policy/internal/container"
	"reprise/policy/internal/spec"
)

// GDSFSpec describes gdsf and its parameters.
var GDSFSpec = spec.Spec{
	Name: "gdsf", Says: "greedy dual: uses times cost per size, over a floor that rises with each eviction",
	Params: []policy.Param{spec.ValueParam},
	New:    func(a spec.Args) policy.Evictor { return newGDSF(a.Value()) },
}

// LFU-DA, LFU with dynamic aging (Arlitt et al., "Evaluating content management techniques for Web proxy caches", 2000), is
// GDSF where every entry has the same worth: K = L + uses.

// LFUDASpec describes lfu-da.
var LFUDASpec = spec.Spec{
	Name: "lfu-da", Says: "LFU over a floor that rises with each eviction",
	New: func(spec.Args) policy.Evictor { return newGDSF(spec.Hits) },
}

// GDSF evicts the entry of least H = L + uses·worth, its insertion the first use; ties go to the least recently used. H is
// set at each use with the L of that moment, and L is the H of the last victim, so that entries no longer used fall
// behind. The parameter value chooses worth: 1, tokens, or tokens per byte.
//
// Every call is O(log n), Victim O(1). Memory per resident: some 65 bytes.
// Source: Cherkasova, "Improving WWW proxies performance with Greedy-Dual-Size-Frequency caching policy" (HP Labs, 1998).
type GDSF struct {
	keyed container.Keyed[policy.ID, gdsfEntry]
	mode  spec.Value
	floor float64 // L
}

type gdsfEntry struct {
	worth float32
	uses  uint32
}

var (
	_ policy.Evictor  = (*GDSF)(nil)
	_ policy.Replacer = (*GDSF)(nil)
)

func newGDSF(mode spec.Value) *GDSF { return &GDSF{mode: mode} }

// Insert stages the item; the one before it joins the others.
func (g *GDSF) Insert(it policy.Item, _ policy.Tick) {
	if _, ok := g.keyed.Slots.Find(it.ID); ok {
		return
	}
	g.link()
	g.keyed.Stage(it.ID, gdsfEntry{worth: float32(g.mode.Of(it))})
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

// use sets H, with the present floor.
func (g *GDSF) use(slot uint32) {
	e := &g.keyed.Slots.Cells[slot].Val
	bound.Increment(&e.uses)
	g.keyed.Heap.Set(slot, g.floor+float64(e.uses)*float64(e.worth))
}

func (g *GDSF) link() {
	if slot := g.keyed.Take(); slot != 0 {
		g.use(slot)
	}
}
