package policy

var racPlusSpec = spec{
	name: "rac+", relational: true, says: "a panel: shadow caches of haz, w-tinylfu, s3fifo, lirs and lru vote on what goes",
	params: []Param{
		{Name: "memory", Says: "half-life of the experts' scores in requests, never below 2000", Default: "2C", Min: 1, Max: 1e12},
		{Name: "panel", Says: "which experts; study: those of the first study", Default: "six", Choices: panelNames()},
		{Name: "sample", Says: "entries of a shadow; a larger cache is sampled by topic, and led by one expert", Default: "32768", Min: 1, Max: 1e12},
		{Name: "prior", Says: "hits that the first expert is credited with at the start, against leads that do not last", Default: "0.02C", Max: 1e12},
		worthParam,
	},
	make: func(a args) Evictor {
		seats := panels[a.choice("panel")]
		if a.Capacity > a.whole("sample") {
			return newRACPlusLarge(a, seats)
		}
		return newRACPlus(a, seats)
	},
}

// RACPlus evicts by vote. Each expert is a policy that runs a shadow cache of the same size, of metadata alone, over the
// same requests; its score counts the hits that it would have had, the older the less (S <- S·2^(-1/h) + hit), and its weight
// is exp(100·(S-S_max)/(S_max+5)), but for what loyalty adds. The victim is the resident, the new one included, for which
// the least weight speaks: the sum over the experts that still hold it. Ties go to what was used, or came to be held by just
// these, first. With a limit in bytes, scores count the tokens that hits save.
//
// The first expert starts with the score of some hits. A lead of others among the first hundreds of requests seldom lasts,
// and what has been evicted under it only misses bring back.
//
// Entries are kept in one list per set of experts that hold them, so that a victim costs a look at each set that occurs, at
// most 2^experts. A resident's name in the shadows is its identity: what returns after an eviction is the same entry to
// them, so that links to it hold again and ghosts are recognised.
//
// Parameters: memory (h), panel, prior, value; sample: see RACPlusLarge. Cost per request: the sum of the experts', 2.5 us at
// 5,000 residents and 4 us at 30,000. Memory per resident: some 140 bytes and the sum of the experts'. Source: experts over
// shadow caches after ACME (Ari et al., 2002), weighed by regret as in LeCaR (HotStorage 2018); the vote over sets is from
// here.
type RACPlus struct {
	shadows
	ids      table[uint32] // residents
	resident int64         // bytes
	victim   uint32        // as last named, 0 when that is to be thought over
}

var (
	_ Evictor  = (*RACPlus)(nil)
	_ Arriver  = (*RACPlus)(nil)
	_ Linker   = (*RACPlus)(nil)
	_ Replacer = (*RACPlus)(nil)
)

func newRACPlus(a args, seats []seat) *RACPlus {
	return &RACPlus{shadows: newShadows(a, seats)}
}

// Arrive tells of a miss. It waits for the Insert that follows: to an expert that holds the answer it is a hit.
func (p *RACPlus) Arrive(topic TopicID, at Tick) { p.arrive(topic, at) }

// Insert makes it resident and plays the request through the shadows.
func (p *RACPlus) Insert(it Item, at Tick) {
	if _, ok := p.ids.get(uint64(it.ID)); ok {
		return
	}
	p.observe(p.resident)
	as := p.expects(it.Topic)
	e, known := p.keys.get(it.Identity())
	switch {
	case !known:
		e = p.take(it.Identity())
	case p.cells[e].id != 0:
		e = p.supersede(e)
	}
	p.ids.put(uint64(it.ID), e)
	p.describe(e, it, p.root(it.Parent))
	p.cells[e].id = it.ID
	p.resident += it.Size
	p.play(e, at, as)
	p.loyalty.count(0, p.decay, p.experts)
	p.list(e)
	p.victim = 0
}

// Hit plays the request through the shadows.
func (p *RACPlus) Hit(id ID, at Tick) {
	p.settle()
	e, ok := p.ids.get(uint64(id))
	if !ok {
		return
	}
	p.observe(p.resident)
	p.unlist(e)
	p.use(e, at, accessArrive)
}

// Replace plays the request through the shadows, and the new size and cost.
func (p *RACPlus) Replace(it Item, at Tick) {
	p.settle()
	e, ok := p.ids.get(uint64(it.ID))
	if !ok {
		return
	}
	p.observe(p.resident)
	p.unlist(e)
	p.resident += it.Size - p.cells[e].size
	p.resize(e, it)
	p.use(e, at, accessReplace)
}

// use plays a request for a resident that is in no list, and lists it.
func (p *RACPlus) use(e uint32, at Tick, as access) {
	gain := p.play(e, at, as)
	p.loyalty.count(gain, p.decay, p.experts)
	p.list(e)
	p.victim = 0
}

// Victim names the resident for which the least weight speaks.
func (p *RACPlus) Victim() (ID, bool) {
	if p.ids.n == 0 {
		return 0, false
	}
	if p.victim == 0 {
		p.ballot.weigh(p.experts, &p.loyalty)
		p.victim = p.ballot.least(p.cells)
	}
	return p.cells[p.victim].id, true
}

// Remove drops id. What is evicted stays in the shadows; what expired or is purged leaves them too.
func (p *RACPlus) Remove(id ID, why Reason) {
	e, ok := p.ids.get(uint64(id))
	if !ok {
		return
	}
	p.victim = 0
	p.unlist(e)
	p.ids.del(uint64(id))
	if why == Evicted {
		p.lost(p.ids.n)
	}
	p.cells[e].id = 0
	p.resident -= p.cells[e].size
	if why != Evicted {
		p.drop(e, why)
	}
	p.reap(e)
}

// Link puts child into the conversation of parent, for all experts that follow conversations.
func (p *RACPlus) Link(child, parent ID) bool {
	c, ok := p.ids.get(uint64(child))
	return ok && p.join(c, p.root(parent))
}

// Importance is what the first expert that follows conversations and holds id says; 0 if there is none.
func (p *RACPlus) Importance(id ID) float64 {
	e, ok := p.ids.get(uint64(id))
	if !ok {
		return 0
	}
	for s := range p.holders(e) {
		if s.linker != nil {
			return s.linker.Importance(ID(p.cells[e].key))
		}
	}
	return 0
}

// root is the identity of the first turn of the conversation of a resident, 0 if there is none.
func (p *RACPlus) root(id ID) uint64 {
	e, ok := p.ids.get(uint64(id))
	if !ok {
		return 0
	}
	if root := p.cells[e].root; root != 0 {
		return root
	}
	return p.cells[e].key
}

// supersede takes the identity of a resident for another one. Nobody will ask for the old one again, and as no expert
// holds it any more, it goes soon.
func (p *RACPlus) supersede(old uint32) uint32 {
	key := p.cells[old].key
	e := p.take(key)
	x, y := &p.cells[old], &p.cells[e]
	p.unlist(old)
	y.set, y.root = x.set, x.root
	x.set, x.key = 0, 0
	p.list(old)
	return e
}
