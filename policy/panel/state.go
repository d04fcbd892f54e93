package panel

import "reprise/policy"

var (
	_ policy.Persistent = (*full)(nil)
	_ policy.Persistent = (*sampled)(nil)
)

// keeper returns the expert if it is Persistent.
func (x *expert) keeper() (policy.Persistent, bool) {
	k, ok := x.evictor.(policy.Persistent)
	return k, ok
}

// ExportEntry returns the highest figures that the experts have of id. Its parent is the first turn of its conversation, if that
// is resident.
func (p *full) ExportEntry(id policy.ID) (policy.EntryState, bool) {
	e := p.find(id)
	if e == 0 {
		return policy.EntryState{}, false
	}
	x := p.at(e)
	s := policy.EntryState{ID: id, Freq: 1, Born: x.used, Last: x.used}
	if r, ok := p.slots.Find(x.root); ok {
		s.Parent = p.at(r).id
	}
	for holder := range p.holders(e) {
		if k, ok := holder.keeper(); ok {
			known, _ := k.ExportEntry(policy.ID(p.key(e)))
			s.Freq, s.Dep = max(s.Freq, known.Freq), max(s.Dep, known.Dep)
		}
	}
	return s, true
}

// ImportEntry sets it in every expert that holds the entry.
func (p *full) ImportEntry(s policy.EntryState) {
	e := p.find(s.ID)
	if e == 0 {
		return
	}
	p.join(e, p.root(s.Parent))
	s.ID, s.Parent = policy.ID(p.key(e)), policy.ID(p.at(e).root)
	for holder := range p.holders(e) {
		if k, ok := holder.keeper(); ok {
			k.ImportEntry(s)
		}
	}
	p.victim = 0
}

// ExportTopic returns the state of the first expert that has the topic.
func (p *full) ExportTopic(id policy.TopicID) (policy.TopicState, bool) { return p.exportTopic(id) }

// ImportTopic sets it in every expert.
func (p *full) ImportTopic(s policy.TopicState) {
	p.importTopic(s)
	p.victim = 0
}

func (p *shadows) exportTopic(id policy.TopicID) (policy.TopicState, bool) {
	for i := range p.experts {
		if k, ok := p.experts[i].keeper(); ok {
			if s, ok := k.ExportTopic(id); ok {
				return s, true
			}
		}
	}
	return policy.TopicState{}, false
}

func (p *shadows) importTopic(s policy.TopicState) {
	for i := range p.experts {
		if k, ok := p.experts[i].keeper(); ok {
			k.ImportTopic(s)
		}
	}
}

// ImportEntry sets it in the leader and in the small shadows.
func (p *sampled) ImportEntry(s policy.EntryState) {
	p.full.ImportEntry(s)
	e := p.find(s.ID)
	m, ok := p.mini.slots.Find(p.key(e))
	if !ok {
		return
	}
	p.mini.join(m, p.at(e).root)
	s.ID, s.Parent = policy.ID(p.key(e)), policy.ID(p.at(e).root)
	s.Born, s.Last = p.mini.at(m).used, p.mini.at(m).used
	for holder := range p.mini.holders(m) {
		if k, ok := holder.keeper(); ok {
			k.ImportEntry(s)
		}
	}
}

// ExportTopic returns the leader's state of a topic, or the small shadows' while the leader has no topics.
func (p *sampled) ExportTopic(id policy.TopicID) (policy.TopicState, bool) {
	if s, ok := p.full.ExportTopic(id); ok {
		return s, true
	}
	return p.mini.exportTopic(id)
}

// ImportTopic sets it in the leader and, for a topic in the sample, in the small shadows.
func (p *sampled) ImportTopic(s policy.TopicState) {
	p.full.ImportTopic(s)
	if s.Last = p.played; p.sampled(s.ID, 0) {
		p.mini.importTopic(s)
	}
}
