package panel

import (
	"reprise/policy"
)

// sampled is rac+ for a cache that is too large for shadows of its size. It is a full of one expert, the leader, and chooses the leader by
// small shadows: they hold 1/k of the capacity and see the requests of 1/k of the topics, drawn by a hash; an item without a topic is drawn
// by its identity.
//
// The leader changes by the rule of full, applied to the small shadows. A new one starts from what its small twin has learned, and without
// entries: like any leader it comes to hold what is requested, and until then the residents that it does not hold go, the least recently used first.
//
// Cost per request: the leader's, and 1/k of that of full; a change of the leader looks at all entries once, 5 ms for a million. Memory
// per resident: some 100 bytes and the leader's. Source: miniature simulations (Waldspurger et al., USENIX ATC 2017).
type sampled struct {
	full
	members [2]member
	options policy.Options
	leads   int // the number of the leader
	mini    shadows
	k       uint64
	played  int64 // requests that the small shadows saw: their clock
}

var (
	_ policy.Evictor  = (*sampled)(nil)
	_ policy.Arriver  = (*sampled)(nil)
	_ policy.Linker   = (*sampled)(nil)
	_ policy.Replacer = (*sampled)(nil)
)

func newSampled(a policy.Args, members [2]member) *sampled {
	k := (a.Capacity + a.Whole("sample") - 1) / a.Whole("sample")
	small := a
	small.Capacity = max(1, a.Capacity/k)
	mini := newShadows(small, members[:])
	for i := range members {
		if m := &members[i]; m.large != "" {
			m.params = m.large
		}
	}
	return &sampled{full: full{shadows: newShadows(a, members[:1])}, members: members, options: expertOptions(a), k: uint64(k), mini: mini}
}

// Arrive passes a miss to the leader, and to the small shadows if they sample its topic.
func (p *sampled) Arrive(topic policy.TopicID, at policy.Tick) {
	p.full.Arrive(topic, at)
	if p.sampled(topic, 0) {
		p.mini.arrive(topic, policy.Tick{Seq: p.played + 1, At: at.At})
	}
}

// Insert makes it resident.
func (p *sampled) Insert(it policy.Item, at policy.Tick) {
	if p.find(it.ID) != 0 {
		return
	}
	p.mini.observe(p.resident / int64(p.k))
	p.full.Insert(it, at)
	p.simulate(it.ID, at, accessInsert)
}

// Hit counts a use of id.
func (p *sampled) Hit(id policy.ID, at policy.Tick) {
	p.full.Hit(id, at)
	p.simulate(id, at, accessArrive)
}

// Replace counts a use of it.ID, and takes over size and cost.
func (p *sampled) Replace(it policy.Item, at policy.Tick) {
	p.full.Replace(it, at)
	p.simulate(it.ID, at, accessReplace)
}

// Remove drops id. What is evicted stays in the small shadows.
func (p *sampled) Remove(id policy.ID, why policy.Reason) {
	e := p.find(id)
	if e == 0 {
		return
	}
	key := p.key(e)
	p.full.Remove(id, why)
	if why == policy.Evicted {
		p.mini.lost(p.ids.Len() / int(p.k))
	} else if m, ok := p.mini.slots.Find(key); ok {
		p.mini.drop(m, why)
		p.mini.freeUnused(m)
	}
}

// Link puts child into the conversation of parent.
func (p *sampled) Link(child, parent policy.ID) bool {
	if !p.full.Link(child, parent) {
		return false
	}
	if m, ok := p.mini.slots.Find(p.key(p.find(child))); ok {
		p.mini.join(m, p.root(parent))
	}
	return true
}

// simulate plays a request for a resident through the small shadows, if it is in the sample.
func (p *sampled) simulate(id policy.ID, at policy.Tick, as access) {
	e := p.find(id)
	if e == 0 {
		return
	}
	x, key := &p.at(e).described, p.key(e)
	if key == 0 || !p.sampled(x.topic, key) {
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
	if apart := max(s.held[1<<0], s.held[1<<1]); s.lazy.choose(at.Seq, s.experts, apart) {
		p.follow(s.lazy.leader)
	}
}

// sampled reports whether the small shadows see a topic, or an identity without one.
func (p *sampled) sampled(topic policy.TopicID, key uint64) bool {
	h := uint64(topic)
	if topic == 0 {
		h = ^key
	}
	h = (h ^ h>>32) * 0x9E3779B97F4A7C15
	h = (h ^ h>>29) * 0xD6E8FEB86659FD93
	return h>>32*p.k>>32 == 0
}

// follow makes the expert of that number the leader. It holds nothing yet.
func (p *sampled) follow(leader int) {
	p.leads = leader
	next := newExpert(p.members[leader], p.options, uint64(leader))
	inherit(next.evictor, p.mini.experts[leader].evictor)
	p.replaceOnly(next)
}

// replaceOnly gives the place of the only expert to another one, without entries.
func (p *full) replaceOnly(x expert) {
	p.experts[0] = x
	p.slots.Join(&p.lists[nobody], &p.lists[1<<0])
	p.victim = 0
	for e := range p.slots.Cells {
		if e := uint32(e); p.at(e).set != 0 {
			p.setSet(e, 0)
			p.freeUnused(e)
		}
	}
}

// fill inserts the residents into the only expert, the least recently used first.
func (p *sampled) fill() {
	for e := p.lists[nobody].Tail; e != 0; {
		next := p.slots.Cells[e].Prev
		if key := p.key(e); key != 0 {
			p.unlist(e)
			p.setSet(e, 1)
			p.experts[0].insert(p.at(e).item(key), policy.Tick{Seq: p.at(e).used})
			p.list(e)
		}
		e = next
	}
	p.victim = 0
}
