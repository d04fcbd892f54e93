package kv

import (
	"iter"

	"reprise/internal/container"
	"reprise/policy"
)

// room is how many keys a shadow follows, at some 60 bytes each. They are the latest: with one key of 16 it is two million blocks.
const room = 1 << 17

// shadow follows when sampled keys are used, resident or not: if evictions ended the observation, the model would learn from the policy's
// own choices, and miss exactly the returns that they made a miss.
type shadow struct {
	every uint64 // one key of so many
	open  container.History[use]
	model reuse
	split bool // blocks that several topics used are categories of their own
}

// several is the bit of the category of a block that several topics used.
const several = 1 << 31

// use is the last use of a key.
type use struct {
	at       float64
	category uint32
	shared   bool // by several topics
	topic    policy.TopicID
}

func newShadow(every int) shadow {
	return shadow{every: uint64(every), open: container.History[use]{Room: room}}
}

// touch reports a use.
func (s *shadow) touch(key uint64, category uint32, topic policy.TopicID, now float64) {
	if s.every > 1 && container.Mix(key)%s.every != 0 {
		return
	}
	u := use{at: now, category: category, topic: topic}
	if last, ok := s.open.Take(key); ok {
		s.model.Again(last.category, now-last.at)
		u.shared = last.shared || last.topic != topic
	}
	if s.split && u.shared {
		u.category |= several
	}
	if oldest, dropped := s.open.Add(key, u); dropped {
		s.model.Lost(oldest.category, now-oldest.at)
	}
}

// forget drops a key without a trace.
func (s *shadow) forget(key uint64) { s.open.Take(key) }

// refit brings the model up to date where it is due.
func (s *shadow) refit(now float64) (changed bool) {
	if !s.model.Due(now) {
		return false
	}
	s.model.refit(now, s.idle(now))
	return true
}

// idle yields the category of each open use, and how long ago it was.
func (s *shadow) idle(now float64) iter.Seq2[uint32, float64] {
	return func(yield func(uint32, float64) bool) {
		for _, u := range s.open.All() {
			if !yield(u.category, now-u.at) {
				return
			}
		}
	}
}
