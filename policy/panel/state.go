package panel

import (
	"math"

	"reprise/policy"
	"reprise/policy/haz"
	"reprise/policy/internal/bound"
)

var (
	_ policy.Persistent = (*haz.Policy)(nil)
	_ policy.Persistent = (*Full)(nil)
	_ policy.Persistent = (*Sampled)(nil)
)

// keeper is the expert where its state outlives a restart, and the half-life of its topics, in capacities.
type keeper struct {
	policy.Persistent
	memory float64
}

func (x *expert) keeper() (k keeper, ok bool) {
	k.Persistent, ok = x.evictor.(policy.Persistent)
	k.memory = x.memory
	return k, ok && x.memory > 0
}

// ExportEntry is the highest state that an expert with id has of it. Its parent is the first turn of its conversation, if that
// is resident.
func (p *Full) ExportEntry(id policy.ID) (policy.EntryState, bool) {
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
			k.raiseTo(&s, p.key(e))
		}
	}
	return s, true
}

func (k keeper) raiseTo(s *policy.EntryState, key uint64) {
	known, _ := k.ExportEntry(policy.ID(key))
	s.Freq, s.Dep = max(s.Freq, known.Freq), max(s.Dep, known.Dep)
}

// ImportEntry sets it in every expert that holds the entry.
func (p *Full) ImportEntry(s policy.EntryState) {
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

// ExportTopic is the prevalence of a topic at a half-life of one capacity.
func (p *Full) ExportTopic(id policy.TopicID) (policy.TopicState, bool) { return p.exportTopic(id) }

// ImportTopic sets it in every expert, at its own half-life.
func (p *Full) ImportTopic(s policy.TopicState) {
	p.importTopic(s)
	p.victim = 0
}

func (p *shadows) exportTopic(id policy.TopicID) (policy.TopicState, bool) {
	for i := range p.experts {
		if k, ok := p.experts[i].keeper(); ok {
			if s, ok := k.ExportTopic(id); ok {
				s.LogW = rescale(s.LogW, 1/k.memory)
				return s, true
			}
		}
	}
	return policy.TopicState{}, false
}

func (p *shadows) importTopic(s policy.TopicState) {
	for i := range p.experts {
		if k, ok := p.experts[i].keeper(); ok {
			k.importTopic(s)
		}
	}
}

func (k keeper) importTopic(s policy.TopicState) {
	s.LogW = rescale(s.LogW, k.memory)
	k.ImportTopic(s)
}

// rescale gives a prevalence the half-life that is times as long. The last visit counts 1 at any; what came before it is
// proportional, if visits are steady.
func rescale(log, times float64) float64 {
	if !(log > 0) {
		return log
	}
	return math.Log2(1 + (math.Exp2(min(log, 60))-1)*times)
}

// ExportEntry is the leader's state of id, and its number of uses.
func (p *Sampled) ExportEntry(id policy.ID) (policy.EntryState, bool) {
	e := p.find(id)
	if e == 0 {
		return policy.EntryState{}, false
	}
	x := p.at(e)
	s := policy.EntryState{ID: id, Freq: max(1, float64(x.uses)), Born: x.used, Last: x.used}
	if r, ok := p.slots.Find(x.root); ok {
		s.Parent = p.at(r).id
	}
	if k, ok := p.leader.keeper(); ok {
		k.raiseTo(&s, p.key(e))
	}
	return s, true
}

// ImportEntry sets it in the leader and in the small shadows.
func (p *Sampled) ImportEntry(s policy.EntryState) {
	e := p.find(s.ID)
	if e == 0 || p.at(e).orphan {
		return
	}
	p.Link(s.ID, s.Parent)
	x := p.at(e)
	x.uses = uint16(bound.Within(1, s.Freq, 1<<16-1))
	s.ID, s.Parent = policy.ID(p.key(e)), policy.ID(x.root)
	if k, ok := p.leader.keeper(); ok {
		k.ImportEntry(s)
	}
	p.victim = 0
	m, ok := p.mini.slots.Find(p.key(e))
	if !ok {
		return
	}
	s.Born, s.Last = p.mini.at(m).used, p.mini.at(m).used
	for holder := range p.mini.holders(m) {
		if k, ok := holder.keeper(); ok {
			k.ImportEntry(s)
		}
	}
}

// ExportTopic is the prevalence of a topic at a half-life of one capacity. While the leader has no topics, it is that of
// the small shadows.
func (p *Sampled) ExportTopic(id policy.TopicID) (policy.TopicState, bool) {
	if k, ok := p.leader.keeper(); ok {
		s, ok := k.ExportTopic(id)
		s.LogW = rescale(s.LogW, 1/k.memory)
		return s, ok
	}
	return p.mini.exportTopic(id)
}

// ImportTopic sets it in the leader and, for a topic in the sample, in the small shadows.
func (p *Sampled) ImportTopic(s policy.TopicState) {
	if k, ok := p.leader.keeper(); ok {
		k.importTopic(s)
		p.victim = 0
	}
	if s.Last = p.played; p.sampled(s.ID, 0) {
		p.mini.importTopic(s)
	}
}
