package topics

import "cmp"

// MaxMatches bounds the matches of one search: more than one, because guards may refuse the first ones.
const MaxMatches = 4

// Query is a request as Search takes it.
type Query struct {
	Scope  ScopeID
	Chain  ChainID
	Vector []float32 // of unit length; not kept
	// Hit raises the hit gate for this request; below Options.Hit it has no effect.
	Hit float64
	// Nearest asks for Route.Nearest below the gate too, which costs a few times as much: for an explanation.
	Nearest bool
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
	// Matches are the entries over the hit gate under equal earlier turns, best first, at most 4.
	Matches []Match
	// Nearest is the best entry under equal earlier turns: the first match, or, where the query asks, also one below the
	// gate. Its ID is 0 where there is none.
	Nearest Match
}

// compareMatches orders matches best first; ties go to the lower id.
func compareMatches(a, b Match) int {
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
// While few enough entries have the earlier turns of q, Search compares all of them first, and a hit needs no route. Among
// 10,000 entries of 384 dimensions a hit costs some 70 µs, a miss 100 to 200 by the number of topics.
func (t *Topics) Search(q Query) (r Route, ok bool) {
	s := t.scope(q.Scope)
	if s == nil || len(q.Vector) != t.options.Dim {
		return r, true
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if len(s.stale) > 0 {
		return r, false
	}
	set := s.chains[q.Chain]
	v := s.verification(q, set)
	switch whole := set == nil || len(set.members) <= s.options.WholeScan; {
	case whole && v.all():
	case whole:
		s.routeLocked(q.Vector, 1, &r)
	default:
		for _, n := range s.routeLocked(q.Vector, s.options.Shortlist, &r) {
			v.list(s.topics[TopicID(n.ID)].members)
		}
	}
	v.report(&r)
	return r, true
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

// routeLocked finds the shortlist, the k anchors nearest to v, and applies the route gate to the first.
func (s *scope) routeLocked(v []float32, k int, r *Route) []Neighbor {
	near := s.index.Search(v, k, make([]Neighbor, 0, k))
	if len(near) > 0 && near[0].Score >= float32(s.options.Route) {
		r.Topic, r.Score = TopicID(near[0].ID), float64(near[0].Score)
	}
	return near
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

func (s *scope) verification(q Query, set *chain) *verification {
	v := &verification{scope: s, set: set, query: s.rest.query(q.Vector)}
	v.found = best[Match]{k: MaxMatches, compare: compareMatches}
	v.gate = float32(max(q.Hit, s.options.Hit))
	v.min = v.gate
	if q.Nearest {
		v.min = anyScore
	}
	return v
}

// all compares every member of the chain, and reports whether there is a match.
func (v *verification) all() bool {
	if v.set == nil {
		return false
	}
	if len(v.set.members) < v.scope.size/4 { // a scan would mostly read other chains
		v.list(v.set.members)
	} else {
		v.scan()
	}
	return len(v.matches()) > 0
}

// matches are the entries found that pass the gate.
func (v *verification) matches() []Match {
	n := 0
	for n < len(v.found.items) && v.found.items[n].Score >= float64(v.gate) {
		n++
	}
	return v.found.items[:n]
}

// report copies the entries found to r. On a hit the topic of the request is that of the entry (D6).
func (v *verification) report(r *Route) {
	if len(v.found.items) > 0 {
		r.Nearest = v.found.items[0]
	}
	if r.Matches = v.matches(); len(r.Matches) > 0 {
		r.Topic, r.Score = r.Nearest.Topic, r.Nearest.Score
	}
}

// list compares entries one by one.
func (v *verification) list(entries []*entry) {
	for _, e := range entries {
		if e.chain != v.set {
			continue
		}
		vectors, row := &v.scope.rest, int(e.row)
		if e.topic.anchor == e {
			vectors, row = &v.scope.anchors.rows, int(v.scope.anchors.rowOf[uint64(e.topic.id)])
		}
		if score, ok := vectors.score(row, v.query, v.min); ok {
			v.offer(e, score)
		}
	}
}

// scan compares all entries of the scope in the order of memory.
func (v *verification) scan() {
	s := v.scope
	s.anchors.rows.scan(v.query, v.min, func(row int, score float32) float32 {
		return v.offer(s.topics[TopicID(s.anchors.ids[row])].anchor, score)
	})
	s.rest.scan(v.query, v.min, func(row int, score float32) float32 {
		return v.offer(s.restEntries[row], score)
	})
}

// offer takes e if it belongs to the chain, and returns the minimum for the next entry.
func (v *verification) offer(e *entry, score float32) float32 {
	if e.chain == v.set {
		v.found.offer(Match{e.id, float64(score), e.topic.id})
		if last, full := v.found.worst(); full {
			v.min = float32(last.Score)
		}
	}
	return v.min
}
