package rac

import (
	"math"

	"reprise/internal/container"
	"reprise/policy"
)

// ExportEntry returns the state of id; Parent is 0 unless the parent is resident.
func (r *Policy) ExportEntry(id policy.ID) (policy.EntryState, bool) {
	e, ok := r.ids.Find(id)
	if !ok {
		return policy.EntryState{}, false
	}
	x := &r.all[e]
	s := policy.EntryState{ID: id, Freq: float64(x.freq), Dep: x.dep, Born: x.born, Last: x.last}
	if _, ok := r.ids.Find(x.parent); ok {
		s.Parent = x.parent
	}
	return s, true
}

// ImportEntry overwrites the state of a resident; an unknown ID is ignored. A Freq below 1 or a Dep below 0, which no
// export contains, is raised to it.
func (r *Policy) ImportEntry(s policy.EntryState) {
	e, ok := r.ids.Find(s.ID)
	if !ok {
		return
	}
	x := &r.all[e]
	x.parent, x.born, x.last = s.Parent, s.Born, s.Last
	x.freq, x.dep = uint32(container.Within(1, s.Freq, math.MaxUint32)), container.Within(0, s.Dep, 1<<53)
	r.rerank(e)
}

// ExportTopic returns the prevalence of a topic at the latest time.
func (r *Policy) ExportTopic(id policy.TopicID) (policy.TopicState, bool) {
	slot, ok := r.topics.ids.Find(id)
	if !ok {
		return policy.TopicState{}, false
	}
	time := &r.topics.time
	return policy.TopicState{ID: id, LogW: r.topics.all[slot].mass().log2() - time.log2(time.now), Last: time.now}, true
}

// ImportTopic sets the prevalence of a topic. One without members becomes a ghost, if there is room; a LogW that is no
// finite number is ignored.
func (r *Policy) ImportTopic(s policy.TopicState) {
	if s.ID == 0 || math.IsNaN(s.LogW) || math.IsInf(s.LogW, 0) {
		return
	}
	mass := r.topics.weight(s.Last).timesExp2(s.LogW)
	if r.opts.NoTP {
		mass = r.topics.weight(s.Last)
	}
	slot, ok := r.topics.ids.Find(s.ID)
	if !ok {
		slot = r.topics.start(s.ID, mass)
	}
	r.topics.all[slot].set(mass)
	r.topics.reseat(slot)
}
