package panel

import (
	"reprise/policy"
	"reprise/policy/internal/container"
	"reprise/policy/internal/spec"
)

// Sampled is RACPlus for a cache that is too large for shadows of its size. The shadows are small: they hold 1/k of
// the capacity and see the requests of 1/k of the topics, drawn by a hash; an item without a topic is drawn by its
// identity. They have no say on most entries, so one expert of full size leads, the one with the best score in the small.
//
// The leader changes when another has 1 % more. The successor is then filled with the residents, 16 for each request and
// the least recently used first, so that no request waits for all of them, and takes over when it knows all. It starts
// from what the small one has learned, and from each entry's number of uses.
//
// Cost per request: the leader's, and 1/k of RACPlus's. Memory per resident: some 150 bytes and the leader's; while the
// leader changes, the successor's too. Source: miniature simulations (Waldspurger et al., USENIX ATC 2017).
type Sampled struct {
	mini   shadows
	k      uint64
	played int64 // requests that the small shadows saw: their clock
	seats  []member
	o      policy.Options

	ids     container.Table[uint64, uint32] // residents
	keys    container.Table[uint64, uint32] // their identities
	cells   []largeEntry                    // 0 is none
	spare   uint32                          // first unused, chained by next
	order   container.Queue                 // the latest used at its head
	orphans container.Queue                 // residents whose identity went to a newer one: they go first
	bytes   int64
	victim  uint32 // as last named

	leads     int // the number of the leader
	leader    expert
	next      int // of the successor
	successor expert
	filling   uint32 // number of the change under way, 0 if there is none
	changes   uint32
	cursor    uint32 // the next one to tell the heir of, towards the head
}

// largeEntry is what is kept of a resident, so that it can be told to a successor.
type largeEntry struct {
	panelEntry        // in no set: the small shadows have their own
	copied     uint32 // the change in which the heir was told of it
	uses       uint16
	orphan     bool
}

const (
	fillStep     = 16
	leaderMargin = 0.01
)

var (
	_ policy.Evictor  = (*Sampled)(nil)
	_ policy.Arriver  = (*Sampled)(nil)
	_ policy.Linker   = (*Sampled)(nil)
	_ policy.Replacer = (*Sampled)(nil)
)

func newSampled(a spec.Args, seats []member) *Sampled {
	k := (a.Capacity + a.Whole("sample") - 1) / a.Whole("sample")
	small := a
	small.Capacity = max(1, a.Capacity/k)
	p := &Sampled{k: uint64(k), mini: newShadows(small, seats), seats: large(seats), o: a.Options, cells: make([]largeEntry, 1)}
	p.mini.decay = scoreDecay(max(2000, a.Num("memory")/float64(k)))
	p.mini.experts[0].score /= float64(k)
	p.leader = newExpert(p.seats[0], p.o, 0)
	return p
}

// Arrive tells of a miss.
func (p *Sampled) Arrive(topic policy.TopicID, at policy.Tick) {
	p.leader.arrive(topic, at)
	if p.filling != 0 {
		p.successor.arrive(topic, at)
	}
	if p.sampled(topic, 0) {
		p.mini.arrive(topic, policy.Tick{Seq: p.played + 1, At: at.At})
	}
}

// Insert makes it resident.
func (p *Sampled) Insert(it policy.Item, at policy.Tick) {
	if _, ok := p.ids.Get(uint64(it.ID)); ok {
		return
	}
	p.victim = 0
	p.mini.observe(p.bytes / int64(p.k))
	p.bytes += it.Size
	if e, ok := p.keys.Get(it.Identity()); ok {
		p.supersede(e, it, at)
		return
	}
	e := p.take(it.ID)
	x := &p.cells[e]
	x.key, x.used, x.uses = it.Identity(), at.Seq, 1
	x.describe(it, p.root(it.Parent))
	p.keys.Put(x.key, e)
	p.push(e)
	p.leader.evictor.Insert(x.item(), at)
	p.simulate(x, at, accessInsert)
	p.changeLeader()
}

// Hit counts a use of id.
func (p *Sampled) Hit(id policy.ID, at policy.Tick) {
	e, ok := p.ids.Get(uint64(id))
	if !ok || p.cells[e].orphan {
		return
	}
	x := p.use(e, at)
	p.leader.evictor.Hit(policy.ID(x.key), at)
	if p.isCopied(x) {
		p.successor.evictor.Hit(policy.ID(x.key), at)
	}
	p.simulate(x, at, accessArrive)
	p.changeLeader()
}

// Replace counts a use of it.ID, and takes over size and cost.
func (p *Sampled) Replace(it policy.Item, at policy.Tick) {
	e, ok := p.ids.Get(uint64(it.ID))
	if !ok {
		return
	}
	p.bytes += it.Size - p.cells[e].size
	p.cells[e].size, p.cells[e].cost = it.Size, float32(it.Cost)
	if p.cells[e].orphan {
		return
	}
	x := p.use(e, at)
	p.leader.replace(&x.panelEntry, at)
	if p.isCopied(x) {
		p.successor.replace(&x.panelEntry, at)
	}
	p.simulate(x, at, accessReplace)
	p.changeLeader()
}

// use counts a use of e and moves it to the newest end.
func (p *Sampled) use(e uint32, at policy.Tick) *largeEntry {
	p.victim = 0
	x := &p.cells[e]
	x.used, x.uses = at.Seq, min(x.uses, 1<<16-2)+1
	p.pull(e)
	p.push(e)
	return x
}

// Victim is the leader's.
func (p *Sampled) Victim() (policy.ID, bool) {
	if p.victim == 0 && p.orphans.Len > 0 {
		p.victim = p.orphans.Tail
	}
	if p.victim == 0 {
		key, _ := p.leader.evictor.Victim()
		p.victim, _ = p.keys.Get(uint64(key))
	}
	return p.cells[p.victim].id, p.victim != 0
}

// Remove drops id.
func (p *Sampled) Remove(id policy.ID, why policy.Reason) {
	e, ok := p.ids.Get(uint64(id))
	if !ok {
		return
	}
	x := &p.cells[e]
	p.bytes -= x.size
	p.victim = 0
	if !x.orphan {
		p.removeFromExperts(x, why)
	}
	p.drop(e)
	if why == policy.Evicted {
		p.mini.lost(p.ids.Len() / int(p.k))
	}
}

// removeFromExperts takes x from the experts; what is evicted stays in the small shadows.
func (p *Sampled) removeFromExperts(x *largeEntry, why policy.Reason) {
	p.leader.evictor.Remove(policy.ID(x.key), why)
	if p.isCopied(x) {
		p.successor.evictor.Remove(policy.ID(x.key), why)
	}
	if e, ok := p.mini.keys.Get(x.key); ok && why != policy.Evicted {
		p.mini.drop(e, why)
		p.mini.freeUnused(e)
	}
}

// Link puts child into the conversation of parent.
func (p *Sampled) Link(child, parent policy.ID) bool {
	c, ok := p.ids.Get(uint64(child))
	root := p.root(parent)
	x := &p.cells[c]
	if !ok || x.orphan || root == 0 || root == x.key || x.root != 0 {
		return false
	}
	x.root = root
	if p.leader.linker != nil {
		p.leader.linker.Link(policy.ID(x.key), policy.ID(root))
	}
	if p.isCopied(x) && p.successor.linker != nil {
		p.successor.linker.Link(policy.ID(x.key), policy.ID(root))
	}
	if e, ok := p.mini.keys.Get(x.key); ok {
		p.mini.join(e, root)
	}
	return true
}

// Importance is the leader's; 0 if it follows no conversations.
func (p *Sampled) Importance(id policy.ID) float64 {
	e, ok := p.ids.Get(uint64(id))
	if !ok || p.leader.linker == nil {
		return 0
	}
	return p.leader.linker.Importance(policy.ID(p.cells[e].key))
}
