package topics

import "reprise/embed"

// maxAttempts bounds how often a parent is looked for on later accesses of an entry that has none (D13).
const maxAttempts = 3

// recent holds the last accesses of a scope, the oldest overwritten first. It grows to its full size only with use.
type recent struct {
	ring []*entry
	next int
}

func (r *recent) push(e *entry, size int) {
	if len(r.ring) < size {
		r.ring = append(r.ring, e)
		return
	}
	r.ring[r.next] = e
	r.next = (r.next + 1) % size
}

// Parent finds the entry that a request depends on (DETECTPARENT, paper 002 Alg. 3): among the last Options.Lookback
// accesses of the scope the one with the highest cosine / distance, where the distance is seq less the number of its last
// access and at least 1 (D12), the cosine passes the edge gate, and the topic and the earlier turns are the request's own
// (D14). self is the request's entry: it is not its own parent, and entries that are not older than it are none either, so
// that no two depend on each other (D13). For a request that has no entry yet self is 0.
func (t *Topics) Parent(scope ScopeID, topic TopicID, chain ChainID, self EntryID, v []float32, seq int64) (EntryID, bool) {
	s := t.scope(scope)
	if s == nil || len(v) != t.options.Dim {
		return 0, false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	child := child{topic: s.topics[topic], chain: s.chains[chain], vector: v, seq: seq, born: seq}
	if e := t.entry(self); e != nil {
		child.self, child.born = e, e.born
	}
	return s.parentLocked(child)
}

// child is what a parent is looked for.
type child struct {
	self      *entry // nil: not stored yet
	topic     *topic
	chain     *chain
	vector    []float32
	seq, born int64
}

func (s *scope) parentLocked(c child) (parent EntryID, ok bool) {
	if c.topic == nil {
		return 0, false
	}
	var top float64
	for _, e := range s.recent.ring {
		if e.gone || e == c.self || e.topic != c.topic || e.chain != c.chain || e.born >= c.born || e.last >= c.seq {
			continue
		}
		sim := float64(embed.Dot(c.vector, s.vectorLocked(e)))
		score := sim / float64(c.seq-e.last)
		if sim < s.options.Edge || score < top || score == top && e.id >= parent {
			continue
		}
		top, parent, ok = score, e.id, true
	}
	return parent, ok
}

// Touch records that id answered request seq. An entry without a living parent gets one if it can be found now, at most three
// searches long; then Touch returns it.
func (t *Topics) Touch(id EntryID, seq int64) (parent EntryID, ok bool) {
	t.with(id, func(s *scope, e *entry) {
		e.last = max(e.last, seq)
		if e.attempts < maxAttempts && t.entry(e.parent) == nil {
			parent, ok = s.adoptLocked(e, seq)
		}
		s.recent.push(e, s.options.Lookback)
	})
	return parent, ok
}

// adoptLocked looks for a parent of e, which has none.
func (s *scope) adoptLocked(e *entry, seq int64) (parent EntryID, ok bool) {
	parent, ok = s.parentLocked(child{self: e, topic: e.topic, chain: e.chain, vector: s.vectorLocked(e), seq: seq, born: e.born})
	if !ok {
		e.attempts++
		return 0, false
	}
	e.parent, e.attempts = parent, 0
	return parent, true
}

// vectorLocked returns a copy of the vector of e.
func (s *scope) vectorLocked(e *entry) []float32 {
	dst := make([]float32, 0, s.options.Dim)
	if e.topic.anchor != e {
		return s.rest.vector(int(e.row), dst)
	}
	v, _ := s.anchors.vector(uint64(e.topic.id), dst)
	return v
}
