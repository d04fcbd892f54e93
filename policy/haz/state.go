package haz

import (
	"fmt"
	"math"

	"reprise/internal/container"
	"reprise/policy"
)

// AppendLearned appends the weights with their sums of squares.
func (h *haz) AppendLearned(b []byte) []byte {
	for j := range len(forecast{}) {
		for c := range h.model.cells {
			pace := float64(c.pace[j])
			b = policy.AppendFloats(b, float64(c.weight[j]), 1/(pace*pace)-1)
		}
	}
	return b
}

// ParseLearned reads weights. Features are relative to the capacity and so is what they foresee: they fit any.
func (h *haz) ParseLearned(b []byte) (apply func(), err error) {
	r := policy.ReadSnapshot(b)
	m := newModel()
	bad := false
	for j := range len(forecast{}) {
		for c := range m.cells {
			x, g := r.Float(), r.Float()
			bad = bad || math.Abs(x) > 1e4 || g < 0 || g > 1e9
			c.weight[j], c.pace[j] = float32(x), float32(1/math.Sqrt(1+g))
		}
	}
	if bad || !r.Done() {
		return nil, fmt.Errorf("%w: haz is damaged", policy.ErrSnapshot)
	}
	return func() { h.model = m }, nil
}

// ExportEntry returns the state of id. Born is its last use, because haz stores no other time.
func (h *haz) ExportEntry(id policy.ID) (policy.EntryState, bool) {
	e, ok := h.find(id)
	if !ok {
		return policy.EntryState{}, false
	}
	x := &h.rows[e]
	last := h.clock.now - int64(h.age(x))
	return policy.EntryState{ID: id, Freq: float64(x.bucket(featureFreq)), Born: last, Last: last}, true
}

// ImportEntry overwrites the state of a resident.
func (h *haz) ImportEntry(s policy.EntryState) {
	e, ok := h.find(s.ID)
	if !ok {
		return
	}
	h.advance(s.Last)
	x := &h.rows[e]
	x.set(featureFreq, uint8(container.Within(1, s.Freq, 12)))
	x.crf = float32(container.Within(1, s.Freq, 1<<24))
	x.last = uint32(max(s.Last, h.clock.now-math.MaxUint32))
	h.victim = 0
}

// ExportTopic returns the slow prevalence of a topic.
func (h *haz) ExportTopic(id policy.TopicID) (policy.TopicState, bool) {
	slot, ok := h.topics.slots.Find(id)
	if !ok || h.topics.at(slot).visits == 0 {
		return policy.TopicState{}, false
	}
	t, c := h.topics.at(slot), &h.clock
	return policy.TopicState{ID: id, LogW: math.Log2(float64(t.slow)) - float64(max(0, c.now-t.last))*c.slow.perSeq, Last: c.now}, true
}

// ImportTopic sets the prevalence of a topic. One without entries waits for them.
func (h *haz) ImportTopic(s policy.TopicState) {
	if s.ID == 0 || math.IsNaN(s.LogW) || math.IsInf(s.LogW, 0) {
		return
	}
	h.advance(s.Last)
	slot := h.topics.open(s.ID)
	t := h.topics.at(slot)
	slow := math.Exp2(min(s.LogW, 60))
	t.slow, t.fast = float32(slow), float32(slow*h.clock.slow.perSeq/h.clock.fast.perSeq)
	t.visits, t.last = max(t.visits, 1), s.Last
	h.topics.leave(slot)
	h.victim = 0
}

// Bytes returns an estimate of the memory in use.
func (h *haz) Bytes() int64 {
	const entryBytes, rowBytes, topicBytes = 40, 32, 48
	return h.slots.Bytes(entryBytes) + rowBytes*int64(cap(h.rows)) + 4*int64(cap(h.worth)) + h.topics.slots.Bytes(topicBytes) + 4*int64(cap(h.residents)) + h.ids.Bytes()
}
