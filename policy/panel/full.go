package panel

import (
	"reprise/internal/container"
	"reprise/policy"
)

// Spec describes rac+ and its parameters.
var Spec = policy.Spec{
	Name: "rac+", Says: "a panel: of haz and lirs, each with a shadow cache, the one leads that has been ahead for long enough",
	Params: []policy.Param{
		{Name: "sample", Says: "entries of a shadow; a larger cache is sampled by topic, and led by one expert", Default: "32768", Min: 1, Max: 1e12},
		{Name: "factor", Says: "hits that another expert must be ahead by, for each of its entries that is missing", Default: "2", Max: 1e6},
		policy.ValueParam,
	},
	New: func(a policy.Args) policy.Evictor {
		if a.Capacity > a.Whole("sample") {
			return newSampled(a, members)
		}
		return newFull(a, members)
	},
}

// full follows one of two experts. Each is a policy that runs a shadow cache of the same size, of metadata alone, over the same requests.
// The cache evicts what neither expert holds, then what only the other one holds, then what only the leader holds. Ties go to what was used
// first, or came first to be held by just these. The leader changes by the rule of lazy.
//
// Residents are kept in one list per set of experts that hold them. A resident's name in the shadows is its identity: what returns after an
// eviction is the same entry to them, so that links to it hold again and ghosts are recognised.
//
// HAZ is informed of what LIRS holds: LIRS is right about loops before anything can be learned of them, and HAZ learns where that counts.
//
// Parameters: factor, value; sample: see sampled. Cost per request: the sum of the experts', 2.5 us at
// 5,000 residents and 4 us at 30,000. Memory per resident: some 110 bytes and the sum of the experts'. Source: experts over
// shadow caches after ACME (Ari et al., 2002), and see lazy; the vote over sets is from here.
type full struct {
	shadows
	ids      container.Index[policy.ID] // residents
	resident int64                      // bytes
	victim   uint32                     // as last named, 0 when it has to be chosen again
}

var (
	_ policy.Evictor  = (*full)(nil)
	_ policy.Arriver  = (*full)(nil)
	_ policy.Linker   = (*full)(nil)
	_ policy.Replacer = (*full)(nil)
)

func newFull(a policy.Args, members [2]member) *full {
	p := &full{shadows: newShadows(a, members[:])}
	p.marked = 1 << 1
	return p
}

// Arrive notes a miss. It waits for the Insert that follows: to an expert that holds the answer it is a hit.
func (p *full) Arrive(topic policy.TopicID, at policy.Tick) { p.arrive(topic, at) }

// Insert makes it resident and plays the request through the shadows.
func (p *full) Insert(it policy.Item, at policy.Tick) {
	if p.find(it.ID) != 0 {
		return
	}
	p.observe(p.resident)
	as := p.expects(it.Topic)
	e, known := p.slots.Find(it.Identity())
	switch {
	case !known:
		e = p.slots.Add(it.Identity(), entry{})
	case p.at(e).id != 0:
		e = p.supersede(e)
	}
	p.at(e).id = it.ID
	p.ids.Add(it.ID, e)
	p.describe(e, it, p.root(it.Parent))
	p.resident += it.Size
	p.play(e, at, as)
	p.listed(e, at)
}

// Hit plays the request through the shadows.
func (p *full) Hit(id policy.ID, at policy.Tick) {
	p.settle()
	e := p.find(id)
	if e == 0 {
		return
	}
	p.observe(p.resident)
	p.unlist(e)
	p.use(e, at, accessArrive)
}

// Replace plays the request through the shadows, and the new size and cost.
func (p *full) Replace(it policy.Item, at policy.Tick) {
	p.settle()
	e := p.find(it.ID)
	if e == 0 {
		return
	}
	p.observe(p.resident)
	p.unlist(e)
	p.resident += it.Size - p.at(e).size
	p.resize(e, it)
	p.use(e, at, accessReplace)
}

// use plays a request for a resident that is in no list, and lists it.
func (p *full) use(e uint32, at policy.Tick, as access) {
	gain := p.play(e, at, as)
	p.hits += gain
	p.listed(e, at)
}

// listed lists e at the end of a request, and changes the leader if another one has earned it.
func (p *full) listed(e uint32, at policy.Tick) {
	p.list(e)
	p.victim = 0
	if p.lazy.ahead > leastAhead { // then there is another expert
		p.lazy.choose(at.Seq, p.experts, p.distance())
	}
}

// distance returns how many entries of the cache, or of the shadow of the expert that does not lead, are not in the other one: the larger number
// of the two. Under a limit in bytes the shadow of an expert that ignores sizes has few entries: the way there would be short, and the way back long.
func (p *full) distance() int {
	other := p.lazy.other()
	shared := p.lists[1<<other].Len + p.lists[both].Len
	return max(p.experts[other].entries, p.ids.Len()) - shared
}

// Victim names the resident that the vote finds.
func (p *full) Victim() (policy.ID, bool) {
	if p.ids.Len() == 0 {
		return 0, false
	}
	if p.victim == 0 {
		p.victim = p.least()
	}
	return p.at(p.victim).id, true
}

// Remove drops id. What is evicted stays in the shadows; what expired or is purged leaves them too.
func (p *full) Remove(id policy.ID, why policy.Reason) {
	e := p.find(id)
	if e == 0 {
		return
	}
	p.victim = 0
	p.unlist(e)
	p.ids.Remove(id, p.idOf)
	if why == policy.Evicted {
		p.lost(p.ids.Len())
	}
	p.at(e).id = 0
	p.resident -= p.at(e).size
	if why != policy.Evicted {
		p.drop(e, why)
	}
	p.freeUnused(e)
}

// Link puts child into the conversation of parent, for all experts that follow conversations.
func (p *full) Link(child, parent policy.ID) bool {
	c := p.find(child)
	return c != 0 && p.join(c, p.root(parent))
}

// Importance returns the importance of id in the first expert that follows conversations and holds id; 0 if there is none.
func (p *full) Importance(id policy.ID) float64 {
	e := p.find(id)
	if e == 0 {
		return 0
	}
	for s := range p.holders(e) {
		if s.linker != nil {
			return s.linker.Importance(policy.ID(p.key(e)))
		}
	}
	return 0
}

// find returns the resident of that ID, 0 if there is none.
func (p *full) find(id policy.ID) uint32 { return p.ids.Find(id, p.idOf) }

func (p *full) idOf(e uint32) policy.ID { return p.slots.Cells[e].Val.id }

// root returns the identity of the first turn of the conversation of a resident, 0 if there is none.
func (p *full) root(id policy.ID) uint64 {
	e := p.find(id)
	if e == 0 {
		return 0
	}
	if root := p.at(e).root; root != 0 {
		return root
	}
	return p.key(e)
}

// supersede gives the identity of a resident, and its place in the shadows, to a new entry. No request can reach the
// old one again, and as no expert holds it any more, it is evicted soon.
func (p *full) supersede(old uint32) uint32 {
	key := p.key(old)
	p.unlist(old)
	p.slots.Unname(old)
	e := p.slots.Add(key, entry{set: p.at(old).set, described: described{root: p.at(old).root}})
	p.at(old).set = 0 // the set goes to e as it is
	p.list(old)
	return e
}
