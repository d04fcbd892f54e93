package policy

var gdsfSpec = spec{
	name: "gdsf", says: "greedy dual: uses times cost per size, over a floor that rises with each eviction",
	params: []Param{worthParam},
	make:   func(a args) Evictor { return newGDSF(a.worthMode()) },
}

// GDSF evicts the entry of least H = L + uses·worth, its insertion the first use; ties go to the least recently used. H is
// set at each use with the L of that moment, and L is the H of the last victim, so that what is not used any more is
// overtaken. The parameter value chooses worth: 1, tokens, or tokens per byte.
//
// Every call is O(log n), Victim O(1). Memory per resident: some 95 bytes.
// Source: Cherkasova, "Improving WWW proxies performance with Greedy-Dual-Size-Frequency caching policy" (HP Labs, 1998).
type GDSF struct {
	keyed keyed[gdsfEntry]
	mode  worthMode
	floor float64 // L
}

type gdsfEntry struct {
	worth float32
	uses  uint32
}

var (
	_ Evictor  = (*GDSF)(nil)
	_ Replacer = (*GDSF)(nil)
)

func newGDSF(mode worthMode) *GDSF { return &GDSF{mode: mode} }

// Insert holds it apart; the one before it joins the others.
func (g *GDSF) Insert(it Item, _ Tick) {
	if _, ok := g.keyed.slab.find(it.ID); ok {
		return
	}
	g.link()
	g.keyed.stage(it.ID, gdsfEntry{worth: float32(worth(g.mode, it))})
}

// Hit counts a use.
func (g *GDSF) Hit(id ID, _ Tick) {
	if slot, ok := g.keyed.slab.find(id); ok {
		g.link()
		g.use(slot)
	}
}

// Replace counts a use at the new worth.
func (g *GDSF) Replace(it Item, at Tick) {
	if slot, ok := g.keyed.slab.find(it.ID); ok {
		g.link()
		g.keyed.slab.cells[slot].val.worth = float32(worth(g.mode, it))
		g.use(slot)
	}
}

// Victim names the entry of least H.
func (g *GDSF) Victim() (ID, bool) {
	return g.keyed.least()
}

// Remove drops id. At an eviction the floor rises to the least H.
func (g *GDSF) Remove(id ID, why Reason) {
	slot, ok := g.keyed.slab.find(id)
	if !ok {
		return
	}
	if heap := &g.keyed.heap; why == Evicted && heap.has(slot) {
		g.floor = heap.key(heap.min())
	}
	g.keyed.drop(slot)
}

// use sets H, under the floor of this moment.
func (g *GDSF) use(slot uint32) {
	e := &g.keyed.slab.cells[slot].val
	increment(&e.uses)
	g.keyed.heap.set(slot, g.floor+float64(e.uses)*float64(e.worth), 0)
}

func (g *GDSF) link() {
	if slot := g.keyed.take(); slot != 0 {
		g.use(slot)
	}
}
