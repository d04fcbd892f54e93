package policy

import "math"

// ExportEntry is what RAC knows of id; Parent is 0 unless it lives.
func (r *RAC) ExportEntry(id ID) (EntryState, bool) {
	e, ok := r.index[id]
	if !ok {
		return EntryState{}, false
	}
	x := r.entries[e]
	s := EntryState{ID: id, Freq: x.freq, Dep: x.dep, Born: x.born, Last: r.last(e)}
	if _, ok := r.parent(x.parent); ok {
		s.Parent = x.parent
	}
	return s, true
}

// ImportEntry overwrites what RAC knows of a resident; an unknown ID is ignored. A Freq below 1 or a Dep below 0, which no
// export contains, is raised to it.
func (r *RAC) ImportEntry(s EntryState) {
	e, ok := r.index[s.ID]
	if !ok {
		return
	}
	x := &r.entries[e]
	x.parent, x.born = s.Parent, s.Born
	x.freq, x.dep = atLeast(1, s.Freq), atLeast(0, s.Dep)
	r.members(x.topic).move(r.rank(e, s.Last))
	r.topics.reseat(x.topic)
}

// ExportTopic is the prevalence of a topic, brought to the latest Seq.
func (r *RAC) ExportTopic(id TopicID) (TopicState, bool) {
	slot, ok := r.topics.index[id]
	if !ok {
		return TopicState{}, false
	}
	now := r.topics.now
	return TopicState{ID: id, LogW: r.topics.all[slot].mass.log2() - r.topics.weight(now).log2(), Last: now}, true
}

// ImportTopic sets the prevalence of a topic. One without members becomes a ghost, if there is room; a LogW that is no
// finite number is ignored.
func (r *RAC) ImportTopic(s TopicState) {
	if s.ID == 0 || math.IsNaN(s.LogW) || math.IsInf(s.LogW, 0) {
		return
	}
	mass := r.topics.weight(s.Last).timesExp2(s.LogW)
	slot, ok := r.topics.index[s.ID]
	if !ok {
		slot = r.topics.start(s.ID, mass)
	}
	r.topics.all[slot].mass = mass
	r.topics.reseat(slot)
}

// atLeast is v made finite and no less than floor; NaN becomes floor.
func atLeast(floor, v float64) float64 {
	if !(v >= floor) {
		return floor
	}
	return min(v, 1<<53)
}
