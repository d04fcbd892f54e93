package policy

var racPlusSpec = spec{
	name: "rac+", says: "a panel: shadow caches of RAC's forms, haz, w-tinylfu, s3fifo and lru vote on what goes",
	params: []Param{
		{Name: "memory", Says: "half-life of the experts' scores in requests, never below 2000", Default: "2C", Min: 1, Max: 1e12},
		{Name: "panel", Says: "which experts", Default: "seven", Choices: panelNames()},
		worthParam,
	},
	make: func(a args) Evictor { return newRACPlus(a, panels[a.choice("panel")]) },
}

// RACPlus evicts by vote. Each expert is a policy that runs a shadow cache of the same size, of metadata alone, over the
// same requests; its score counts the hits that it would have had, the older the less (S <- S·2^(-1/h) + hit), and its
// weight is exp(100·(S-S_max)/(S_max+5)). The victim is the resident, the new one included, for which the least weight
// speaks: the sum over the experts that still hold it. Ties go to the least recently used. With a limit in bytes, scores
// count the tokens that hits save.
//
// Entries are kept in one list per set of experts that hold them, so that a victim costs a look at each set that occurs, at
// most 2^experts. A resident's name in the shadows is its identity: what returns after an eviction is the same entry to
// them, so that links to it hold again and ghosts are recognised.
//
// Cost per request: the sum of the experts', some 3 us. Memory per resident: about 120 bytes and the sum of the experts'.
// Source: an expert panel over shadow caches, after ACME (Ari et al., 2002) and the voting of LeCaR (HotStorage 2018).
type RACPlus struct {
	limit   Limit // of each shadow
	gains   gains
	decay   float64 // of the scores, per request
	experts []expert

	ids      table[uint32] // residents
	keys     table[uint32] // identity of residents and of what is in a shadow
	cells    []panelEntry  // 0 is none
	spare    uint32        // first unused, chained by next
	ballot   ballot
	requests int64
	arrived  arrival
	victim   uint32 // as last named, 0 when that is to be thought over
}

// panelEntry is what the panel knows of an identity that is resident or in a shadow.
type panelEntry struct {
	item       Item   // ID 0: not resident; Parent is the identity of the first turn of its conversation
	used       int64  // number of the last request
	set        uint16 // the experts that hold it
	prev, next uint32 // in the list of its set, if it is resident
}

var (
	_ Evictor = (*RACPlus)(nil)
	_ Arriver = (*RACPlus)(nil)
	_ Linker  = (*RACPlus)(nil)
)

func newRACPlus(a args, seats []seat) *RACPlus {
	p := &RACPlus{
		limit: Limit{Entries: a.Capacity},
		gains: gains{tokens: a.worthMode() != worthHits},
		decay: scoreDecay(max(2000, a.num("memory"))),
		cells: make([]panelEntry, 1),
	}
	for i, s := range seats {
		p.experts = append(p.experts, newExpert(s, a.Options, uint64(i)))
	}
	p.ballot = newBallot(len(seats))
	return p
}

// Arrive tells of a miss. It waits for the Insert that follows: to an expert that holds the answer it is a hit.
func (p *RACPlus) Arrive(topic TopicID, at Tick) {
	p.settle()
	p.arrived = arrival{topic, at}
}

// Insert makes it resident and plays the request through the shadows.
func (p *RACPlus) Insert(it Item, at Tick) {
	if _, ok := p.ids.get(uint64(it.ID)); ok {
		return
	}
	if p.arrived.topic != it.Topic {
		p.settle()
	}
	e := p.enter(it)
	p.play(e, at, p.arrived.topic != 0)
	p.arrived = arrival{}
}

// Hit plays the request through the shadows.
func (p *RACPlus) Hit(id ID, at Tick) {
	p.settle()
	e, ok := p.ids.get(uint64(id))
	if !ok {
		return
	}
	p.unlist(e)
	p.play(e, at, true)
}

// Victim names the resident for which the least weight speaks.
func (p *RACPlus) Victim() (ID, bool) {
	if p.ids.n == 0 {
		return 0, false
	}
	if p.victim == 0 {
		p.ballot.weigh(p.experts)
		p.victim = p.ballot.least(p.cells)
	}
	return p.cells[p.victim].item.ID, true
}

// Remove lets the last victim live on in the shadows, and forgets any other entry.
func (p *RACPlus) Remove(id ID) {
	e, ok := p.ids.get(uint64(id))
	if !ok {
		return
	}
	evicted := e == p.victim
	p.victim = 0
	p.unlist(e)
	p.ids.del(uint64(id))
	p.cells[e].item.ID = 0
	if !evicted {
		p.purge(e)
	}
	p.reap(e)
}
