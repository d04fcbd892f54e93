package panel

import (
	"reprise/policy"
	"reprise/policy/internal/spec"
)

// Sampled is rac+ for a cache that is too large for shadows of its size. The shadows are small: they hold 1/k of the capacity
// and see the requests of 1/k of the topics, drawn by a hash; an item without a topic is drawn by its identity. They do not
// know most entries, so one expert of full size leads: the one with the best score in the small shadows.
//
// The leader changes by the rule of Full, applied to the small shadows. Its successor is then filled with the residents, 16 for each request
// and the least recently used first, so that no request waits for all of them, and takes over when it has them all. It
// starts from what the small expert has learned, and from each entry's number of uses.
//
// Cost per request: the leader's, and 1/k of that of Full. Memory per resident: some 100 bytes and the leader's; while the
// leader changes, the successor's too. Source: miniature simulations (Waldspurger et al., USENIX ATC 2017).
type Sampled struct {
	residents
	leadership
	mini   shadows
	k      uint64
	played int64  // requests that the small shadows saw: their clock
	victim uint32 // as last named
}

var (
	_ policy.Evictor  = (*Sampled)(nil)
	_ policy.Arriver  = (*Sampled)(nil)
	_ policy.Linker   = (*Sampled)(nil)
	_ policy.Replacer = (*Sampled)(nil)
)

func newSampled(a spec.Args, members []member) *Sampled {
	k := (a.Capacity + a.Whole("sample") - 1) / a.Whole("sample")
	small := a
	small.Capacity = max(1, a.Capacity/k)
	p := &Sampled{k: uint64(k), mini: newShadows(small, members), leadership: newLeadership(members, expertOptions(a))}
	p.mini.decay = scoreDecay(max(2000, a.Num("memory")/float64(k)))
	return p
}

// Arrive passes a miss to the experts of full size, and to the small shadows if they sample its topic.
func (p *Sampled) Arrive(topic policy.TopicID, at policy.Tick) {
	p.leader.arrive(topic, at)
	if p.copying != 0 {
		p.successor.arrive(topic, at)
	}
	if p.sampled(topic, 0) {
		p.mini.arrive(topic, policy.Tick{Seq: p.played + 1, At: at.At})
	}
}

// Insert makes it resident.
func (p *Sampled) Insert(it policy.Item, at policy.Tick) {
	if p.find(it.ID) != 0 {
		return
	}
	p.victim = 0
	p.mini.observe(p.bytes / int64(p.k))
	p.bytes += it.Size
	if e, ok := p.slots.Find(it.Identity()); ok {
		p.supersede(e, it)
		p.Hit(it.ID, at)
		return
	}
	e := p.add(it, at.Seq)
	p.leader.evictor.Insert(p.item(e), at)
	p.simulate(e, at, accessInsert)
	p.changeLeader(at.Seq)
}

// Hit counts a use of id.
func (p *Sampled) Hit(id policy.ID, at policy.Tick) {
	e := p.find(id)
	if e == 0 || p.at(e).orphan {
		return
	}
	p.victim = 0
	p.use(e, at.Seq)
	name := policy.ID(p.key(e))
	p.leader.evictor.Hit(name, at)
	if p.isCopied(e) {
		p.successor.evictor.Hit(name, at)
	}
	p.simulate(e, at, accessArrive)
	p.changeLeader(at.Seq)
}

// Replace counts a use of it.ID, and takes over size and cost.
func (p *Sampled) Replace(it policy.Item, at policy.Tick) {
	e := p.find(it.ID)
	if e == 0 {
		return
	}
	p.bytes += it.Size - p.at(e).size
	p.at(e).size, p.at(e).cost = it.Size, float32(it.Cost)
	if p.at(e).orphan {
		return
	}
	p.victim = 0
	p.use(e, at.Seq)
	p.leader.replace(p.item(e), at)
	if p.isCopied(e) {
		p.successor.replace(p.item(e), at)
	}
	p.simulate(e, at, accessReplace)
	p.changeLeader(at.Seq)
}

// Victim is the oldest orphan, or else what the leader names.
func (p *Sampled) Victim() (policy.ID, bool) {
	if p.victim == 0 {
		p.victim = p.orphans.Tail
	}
	if p.victim == 0 {
		name, _ := p.leader.evictor.Victim()
		p.victim, _ = p.slots.Find(uint64(name))
	}
	if p.victim == 0 {
		return 0, false
	}
	return p.at(p.victim).id, true
}

// Remove drops id.
func (p *Sampled) Remove(id policy.ID, why policy.Reason) {
	e := p.find(id)
	if e == 0 {
		return
	}
	p.victim = 0
	if !p.at(e).orphan {
		p.removeFromExperts(e, why)
	}
	p.drop(e)
	if why == policy.Evicted {
		p.mini.lost(p.ids.Len() / int(p.k))
	}
}

// removeFromExperts takes e from the experts; what is evicted stays in the small shadows.
func (p *Sampled) removeFromExperts(e uint32, why policy.Reason) {
	key := p.key(e)
	p.leader.evictor.Remove(policy.ID(key), why)
	if p.isCopied(e) {
		p.successor.evictor.Remove(policy.ID(key), why)
	}
	if m, ok := p.mini.slots.Find(key); ok && why != policy.Evicted {
		p.mini.drop(m, why)
		p.mini.freeUnused(m)
	}
}

// Link puts child into the conversation of parent.
func (p *Sampled) Link(child, parent policy.ID) bool {
	c := p.find(child)
	if c == 0 || p.at(c).orphan {
		return false
	}
	root, key := p.root(parent), p.key(c)
	if root == 0 || root == key || p.at(c).root != 0 {
		return false
	}
	p.at(c).root = root
	p.leader.link(key, root)
	if p.isCopied(c) {
		p.successor.link(key, root)
	}
	if m, ok := p.mini.slots.Find(key); ok {
		p.mini.join(m, root)
	}
	return true
}

// Importance is the leader's; 0 if it follows no conversations.
func (p *Sampled) Importance(id policy.ID) float64 {
	e := p.find(id)
	if e == 0 || p.leader.linker == nil {
		return 0
	}
	return p.leader.linker.Importance(policy.ID(p.key(e)))
}

// simulate plays a request for a resident through the small shadows, if it is in the sample.
func (p *Sampled) simulate(e uint32, at policy.Tick, as access) {
	x, key := &p.at(e).described, p.key(e)
	if !p.sampled(x.topic, key) {
		return
	}
	s := &p.mini
	p.played++
	hit := as != accessInsert
	if !hit {
		as = s.expects(x.topic)
	} else {
		s.settle()
	}
	m, ok := s.slots.Find(key)
	if !ok {
		m = s.slots.Add(key, entry{})
	}
	s.describe(m, x.item(key), x.root)
	if gain := s.play(m, policy.Tick{Seq: p.played, At: at.At}, as); hit {
		s.hits += gain
	}
	s.freeUnused(m)
}

// sampled reports whether the small shadows see a topic, or an identity without one.
func (p *Sampled) sampled(topic policy.TopicID, key uint64) bool {
	h := uint64(topic)
	if topic == 0 {
		h = ^key
	}
	h = (h ^ h>>32) * 0x9E3779B97F4A7C15
	h = (h ^ h>>29) * 0xD6E8FEB86659FD93
	return h>>32*p.k>>32 == 0
}

// changeLeader lets another expert take over, a step at a time.
func (p *Sampled) changeLeader(seq int64) {
	if p.copying != 0 {
		p.fill()
		return
	}
	l := &p.mini.lazy
	if l.choose(seq, p.mini.experts, func(expert int) int { return l.apart(p.mini.held, expert) }) {
		p.startSuccessor(l.leader)
	}
}

// startSuccessor makes a successor of the expert of that number, to be filled.
func (p *Sampled) startSuccessor(next int) {
	p.startCopy()
	p.prepare(next, p.mini.experts[next].evictor)
}

// fill copies some residents more to the successor, which takes over when it has them all.
func (p *Sampled) fill() {
	for range fillStep {
		e := p.nextCopy()
		if e == 0 {
			p.takeOver()
			p.endCopy()
			return
		}
		if !p.isCopied(e) {
			p.at(e).copied = p.copying
			p.successor.copy(p.item(e), p.at(e))
		}
	}
}
