package topics

import (
	"cmp"
	"sync"
	"sync/atomic"
)

// MaxMatches bounds the matches of one search: more than one, because guards may refuse the first ones.
const MaxMatches = 4

// queries are used again for the room that their scans took.
var queries = sync.Pool{New: func() any { return new(query) }}

// Query is a request as Search takes it.
type Query struct {
	Scope  ScopeID
	Chain  ChainID
	Vector []float32 // of unit length; not kept
	// Hit raises the hit gate for this request; below Options.Hit it has no effect.
	Hit float64
	// Nearest asks for Route.Nearest below the gate too, which costs more and may miss a better one far below the gate: for an explanation.
	Nearest bool
	// From asks for Route.Nearest from this score on, below the gate: the nearer to that, the less it costs. 0: it is not asked for.
	From float64
}

// Match is an entry that a query was compared with.
type Match struct {
	ID    EntryID
	Score float64 // cosine
	Topic TopicID
}

// Route is the answer of Search.
type Route struct {
	// Topic is the topic of the first match. Without a match it is the topic whose anchor is nearest, if that anchor passes
	// the route gate, else 0: a new topic. Score is the cosine to the match or the anchor.
	Topic TopicID
	Score float64
	// Anchor is the anchor of Topic, where there is no match; 0: there is no topic.
	Anchor EntryID
	// Matches are the entries over the hit gate under equal earlier turns, best first, at most 4.
	Matches []Match
	// Nearest is the best entry under equal earlier turns: the first match, or, where the query asks, also one below the
	// gate. Its ID is 0 where there is none.
	Nearest Match
}

// compare orders matches best first; ties go to the lower id.
func (a Match) compare(b Match) int {
	if c := cmp.Compare(b.Score, a.Score); c != 0 {
		return c
	}
	return cmp.Compare(a.ID, b.ID)
}

// Search finds the entries that q may share an answer with, and the topic that q belongs to (paper 002, Alg. 4). With a
// vector of another dimension, such as nil, it finds nothing.
//
// Search changes nothing. It returns false, and has not searched, while the scope has topics that lost their anchor: call
// Refresh, then Search again. These are two calls because Refresh changes state: a caller that puts all changes into one order (a
// log, from which the same state is built again) must see when it happens and what it chose.
//
// All entries under the earlier turns of q are compared first, and a hit needs no route. A pair at a gate is lost with a probability
// of 1e-6 at the hit gate and 2e-4 at the route gate, a nearer pair less often, and more often only where vectors are crowded (see the package
// comment); every score is exact.
func (t *Topics) Search(q Query) (r Route, ok bool) {
	s := t.scope(q.Scope)
	if s == nil || len(q.Vector) != t.dim.get() {
		return r, true
	}
	request := queries.Get().(*query)
	request.ask(q.Vector)
	defer request.release()
	s.mu.RLock()
	defer s.mu.RUnlock()
	if len(s.stale) > 0 {
		return r, false
	}
	hit := s.verification(q, request).all(&r)
	request.count(&t.limited.hits)
	if !hit {
		s.routeLocked(request, &r)
		request.count(&t.limited.anchors)
	}
	return r, true
}

// release makes q ready for another request.
func (q *query) release() {
	q.vector = nil
	queries.Put(q)
}

// count counts a search that a bound cut.
func (q *query) count(limited *atomic.Int64) {
	if q.limited {
		limited.Add(1)
	}
	q.limited = false
}

// Refresh chooses an anchor for every topic of the scope that lost its own (paper 002, Alg. 5): the most important member,
// of equal ones the last used, then the lower id. It returns the entries that became anchors.
func (t *Topics) Refresh(id ScopeID) []EntryID {
	s := t.scope(id)
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refreshLocked()
}

// routeLocked finds the anchor nearest to q that passes the route gate.
func (s *scope) routeLocked(q *query, r *Route) {
	var room [1]neighbor
	for _, n := range s.index.Search(q, 1, float32(s.options.Route), room[:0]) {
		r.Topic, r.Score = TopicID(n.name), float64(n.score)
		if topic := s.topics[r.Topic]; topic != nil && topic.anchor != nil {
			r.Anchor = topic.anchor.id
		}
	}
}

// verification is one search for the best members of a chain.
type verification struct {
	scope *scope
	set   *chain // nil: no entry has these earlier turns
	query *query
	gate  float32
	min   float32 // the score that the next entry must reach
	found best[Match]
}

func (s *scope) verification(q Query, request *query) *verification {
	v := &verification{scope: s, set: s.chains[q.Chain], query: request}
	v.found = best[Match]{k: MaxMatches}
	v.gate = float32(max(q.Hit, s.options.Hit))
	v.min = v.gate
	if q.From > 0 {
		v.min = min(v.gate, float32(q.From))
	}
	if q.Nearest {
		v.min = anyScore
	}
	return v
}

// all compares every member of the chain, and reports whether there is a match. On a hit the topic of the request is that of the entry
// (D6).
func (v *verification) all(r *Route) bool {
	if v.set == nil {
		return false
	}
	newScan(v.scope.rows, v.query, forHits, v.min, v).list(&v.set.list)
	if len(v.found.items) > 0 {
		r.Nearest = v.found.items[0]
	}
	if r.Matches = v.matches(); len(r.Matches) > 0 {
		r.Topic, r.Score = r.Nearest.Topic, r.Nearest.Score
	}
	return len(r.Matches) > 0
}

// matches are the entries found that pass the gate.
func (v *verification) matches() []Match {
	n := 0
	for n < len(v.found.items) && v.found.items[n].Score >= float64(v.gate) {
		n++
	}
	return v.found.items[:n]
}

// visit takes the entry of a row, and returns the minimum for the next one.
func (v *verification) visit(row int32, score float32) float32 {
	e := v.scope.entries[row]
	v.found.offer(Match{e.id, float64(score), e.topic.id})
	if last, full := v.found.worst(); full {
		v.min = float32(last.Score)
	}
	return v.min
}
