package topics

import "reprise/embed"

// maxAttempts bounds how often a parent is searched for on later accesses of an entry that has none (D13).
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

// Parent finds the entry that a new request, which has no entry yet, depends on (DETECTPARENT, paper 002 Alg. 3): among the
// last Options.Lookback accesses of the scope the one with the highest cosine / distance, where the distance is seq less the
// number of its last access and at least 1 (D12), the cosine passes the edge gate, and topic and earlier turns are those of
// the request (D14). It changes nothing.
func (t *Topics) Parent(scope ScopeID, topic TopicID, chain ChainID, v []float32, seq int64) (EntryID, bool) {
	s := t.scope(scope)
	if s == nil || len(v) != t.dim.get() {
		return 0, false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	s.access.Lock()
	defer s.access.Unlock()
	parent := s.parentLocked(child{topic: s.topics[topic], chain: s.chains[chain], vector: v, seq: seq, born: seq})
	return parent, parent != 0
}

// ParentOf is Parent for an entry that answers request seq. The parent must be older than the entry, so that no two depend
// on each other (D13). No search is made where the entry is unknown, has a parent that is still stored (D16), or had
// three searches that found none (D13); then searched is false. A search that finds none returns 0, true. ParentOf changes
// nothing: pass what it returns to Touch.
func (t *Topics) ParentOf(id EntryID, seq int64) (parent EntryID, searched bool) {
	e := t.entry(id)
	if e == nil {
		return 0, false
	}
	s := e.topic.scope
	s.mu.RLock()
	defer s.mu.RUnlock()
	s.access.Lock()
	defer s.access.Unlock()
	if e.gone || !t.wantsParentLocked(e) {
		return 0, false
	}
	return s.parentLocked(child{self: e, topic: e.topic, chain: e.chain, vector: s.rows.vector(e.row), seq: seq, born: e.born}), true
}

// Touch records that an entry answered request seq, and the result of ParentOf before it. An entry that got a parent in
// between keeps that one. Unknown ids are ignored. It does not wait for a search to end.
func (t *Topics) Touch(id EntryID, seq int64, parent EntryID, searched bool) {
	e := t.entry(id)
	if e == nil {
		return
	}
	s := e.topic.scope
	s.mu.RLock()
	defer s.mu.RUnlock()
	s.access.Lock()
	defer s.access.Unlock()
	if e.gone {
		return
	}
	e.last = max(e.last, seq)
	if searched && t.wantsParentLocked(e) {
		e.setParent(parent)
	}
	s.recent.push(e, s.options.Lookback)
}

// wantsParentLocked reports whether a parent of e is to be searched for.
func (t *Topics) wantsParentLocked(e *entry) bool {
	return e.attempts < maxAttempts && t.entry(e.parent) == nil
}

// setParent records the result of a search, 0 for none.
func (e *entry) setParent(parent EntryID) {
	if parent == 0 {
		e.attempts++
		return
	}
	e.parent, e.attempts = parent, 0
}

// child is a request or an entry whose parent is searched for.
type child struct {
	self      *entry // nil: not stored yet
	topic     *topic
	chain     *chain
	vector    []float32
	seq, born int64
}

// parentLocked is the parent of c, 0 where there is none.
func (s *scope) parentLocked(c child) (parent EntryID) {
	if c.topic == nil {
		return 0
	}
	var top float64
	for _, e := range s.recent.ring {
		if e.gone || e == c.self || e.topic != c.topic || e.chain != c.chain || e.born >= c.born || e.last >= c.seq {
			continue
		}
		sim := float64(embed.Dot(c.vector, s.rows.vector(e.row)))
		score := sim / float64(c.seq-e.last)
		if sim < s.options.Edge || score < top || score == top && e.id >= parent {
			continue
		}
		top, parent = score, e.id
	}
	return parent
}
