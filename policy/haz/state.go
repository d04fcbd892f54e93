package haz

import (
	"fmt"
	"math"

	"reprise/policy"
	"reprise/policy/internal/bound"
	"reprise/policy/internal/snapshot"
)

// AppendLearned appends the weights with their sums of squares.
func (h *Policy) AppendLearned(b []byte) []byte {
	m := &h.model
	for j := range m.bias {
		b = snapshot.AppendFloats(b, float64(m.bias[j]), float64(m.biasG[j]))
		for i := range features {
			for k := range buckets {
				b = snapshot.AppendFloats(b, float64(m.weight[i][k][j]), float64(m.square[i][k][j]))
			}
		}
		for k := range 1 + jointGaps*jointAges {
			b = snapshot.AppendFloats(b, float64(m.joint[k][j]), float64(m.jointG[k][j]))
		}
	}
	return b
}

// ParseLearned reads weights. Features are relative to the capacity and so is what they foresee: they fit any.
func (h *Policy) ParseLearned(b []byte) (apply func(), err error) {
	r := snapshot.NewReader(b)
	m := model{rate: h.model.rate}
	bad := false
	read := func(w, square *float32) {
		x, g := r.Float(), r.Float()
		bad = bad || math.Abs(x) > 1e4 || g < 0
		*w, *square = float32(x), float32(g)
	}
	for j := range m.bias {
		read(&m.bias[j], &m.biasG[j])
		for i := range features {
			for k := range buckets {
				read(&m.weight[i][k][j], &m.square[i][k][j])
			}
		}
		for k := range 1 + jointGaps*jointAges {
			read(&m.joint[k][j], &m.jointG[k][j])
		}
	}
	if bad || !r.Done() {
		return nil, fmt.Errorf("%w: haz is damaged", policy.ErrSnapshot)
	}
	return func() { h.model = m }, nil
}

// ExportEntry is the state of id. Born is its last use, because HAZ keeps no other time.
func (h *Policy) ExportEntry(id policy.ID) (policy.EntryState, bool) {
	e, ok := h.find(id)
	if !ok {
		return policy.EntryState{}, false
	}
	x := h.at(e)
	return policy.EntryState{ID: id, Freq: float64(x.freq), Born: x.last, Last: x.last}, true
}

// ImportEntry overwrites the state of a resident.
func (h *Policy) ImportEntry(s policy.EntryState) {
	e, ok := h.find(s.ID)
	if !ok {
		return
	}
	x := h.at(e)
	x.freq = uint8(bound.Within(1, s.Freq, 12))
	x.crf = float32(bound.Within(1, s.Freq, 1<<24))
	x.last = s.Last
	h.advance(s.Last)
	h.victim = 0
}

// ExportTopic is the prevalence of a topic, of the slow kind.
func (h *Policy) ExportTopic(id policy.TopicID) (policy.TopicState, bool) {
	slot, ok := h.topics.slots.Find(id)
	if !ok || h.topics.at(slot).visits == 0 {
		return policy.TopicState{}, false
	}
	t, c := h.topics.at(slot), &h.clock
	return policy.TopicState{ID: id, LogW: math.Log2(float64(t.slow)) - float64(max(0, c.now-t.last))*c.slow.perSeq, Last: c.now}, true
}

// ImportTopic sets the prevalence of a topic. One without entries waits for them.
func (h *Policy) ImportTopic(s policy.TopicState) {
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

// Bytes is an estimate of the memory in use.
func (h *Policy) Bytes() int64 {
	const entryBytes, topicBytes = 64 + 16, 48 // an entry with its look
	return h.slots.Bytes(entryBytes) + h.topics.slots.Bytes(topicBytes) + 4*int64(cap(h.residents)) + h.ids.Bytes()
}
