package rac

import (
	"math"

	"reprise/internal/container"
	"reprise/policy"
)

// entries holds the residents, and orders them within a topic.
type entries struct {
	opts  Options
	ids   container.Numbers[policy.ID]
	all   []entry         // by the number of the id; 0 is none
	seats container.Heaps // the places in the heaps of the topics
}

// entry is the state of one resident.
type entry struct {
	parent     policy.ID
	born, last int64 // Seq
	dep        float64
	freq       uint32
	worth      float32 // factor of the value
	topic      uint32
	held       bool // the newest, which is protected: its value is the highest
}

// add returns the number of a new entry.
func (s *entries) add(id policy.ID) uint32 {
	e := s.ids.Add(id)
	for len(s.all) <= int(e) {
		s.all = append(s.all, entry{})
		s.seats.Place = append(s.seats.Place, 0)
	}
	return e
}

// rank returns the rank of e among the members of its topic. The prevalence of the topic is no part of it.
func (s *entries) rank(e uint32) container.Node {
	return container.Node{Major: container.Rank(s.value(e)), Item: e}
}

func (s *entries) value(e uint32) float64 {
	if s.all[e].held {
		return math.Inf(1)
	}
	return s.importance(e) * float64(s.all[e].worth)
}

func (s *entries) importance(e uint32) float64 {
	if s.opts.NoTSI {
		return 1
	}
	x := &s.all[e]
	return float64(x.freq) + s.opts.Lambda*x.dep
}

// older reports whether e is evicted before f, an entry of the same value (D7): by least recent use, then earliest birth,
// then id.
func (s *entries) older(e, f uint32) bool {
	a, b := &s.all[e], &s.all[f]
	if a.last != b.last {
		return a.last < b.last
	}
	if a.born != b.born {
		return a.born < b.born
	}
	return s.ids.Key(e) < s.ids.Key(f)
}
