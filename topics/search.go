package topics

import "cmp"

// maxMatches bounds the answers of one search: guards may refuse the first ones.
const maxMatches = 4

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
	// Topic is the one whose anchor is nearest, if that passes the route gate, and Score its cosine. 0: a new topic. On a
	// hit the topic of the request is that of its match.
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

// Search routes q to a topic (paper 002, Alg. 4) and finds the entries that it may share an answer with. With a vector of
// another dimension, such as nil, it finds nothing. It costs some 100 µs for 10,000 entries of 384 dimensions in the scope.
func (t *Topics) Search(q Query) Route {
	s := t.scope(q.Scope)
	if s == nil || len(q.Vector) != t.options.Dim {
		return Route{}
	}
	s.readRefreshed()
	defer s.mu.RUnlock()
	set := s.chains[q.Chain]
	whole := set == nil || len(set.members) <= s.options.WholeScan
	near := s.shortlistLocked(q.Vector, whole)
	route := s.routeLocked(near)
	if set != nil {
		s.verifyLocked(q, set, near, &route)
	}
	return route
}

// readRefreshed takes the read lock of s in a state where every topic has an anchor.
func (s *scope) readRefreshed() {
	s.mu.RLock()
	for len(s.stale) > 0 { // between the two locks another anchor may leave
		s.mu.RUnlock()
		s.mu.Lock()
		s.refreshLocked()
		s.mu.Unlock()
		s.mu.RLock()
	}
}

// shortlistLocked finds the anchors nearest to v. Only the first matters where all entries are compared anyway.
func (s *scope) shortlistLocked(v []float32, whole bool) []Hit {
	k := s.options.Shortlist
	if whole {
		k = 1
	}
	return s.index.Search(v, k, make([]Hit, 0, k))
}

// routeLocked applies the route gate to the nearest anchor.
func (s *scope) routeLocked(near []Hit) (r Route) {
	if len(near) > 0 && near[0].Score >= float32(s.options.Route) {
		r.Topic, r.Score = TopicID(near[0].ID), float64(near[0].Score)
	}
	return r
}

// verifyLocked compares q with the members of set, or, where those are too many, with the ones in shortlisted topics.
func (s *scope) verifyLocked(q Query, set *chain, near []Hit, r *Route) {
	gate := float32(max(q.Hit, s.options.Hit))
	v := verification{scope: s, set: set, query: s.rest.query(q.Vector), min: gate}
	if q.Nearest {
		v.min = never
	}
	v.found = best[Match]{k: maxMatches, compare: compareMatches}
	switch {
	case len(set.members) > s.options.WholeScan:
		for _, h := range near {
			v.list(s.topics[TopicID(h.ID)].members)
		}
	case len(set.members) < s.size/4: // a scan would mostly meet others
		v.list(set.members)
	default:
		v.scan()
	}
	if len(v.found.items) == 0 {
		return
	}
	r.Nearest = v.found.items[0]
	over := 0
	for over < len(v.found.items) && v.found.items[over].Score >= float64(gate) {
		over++
	}
	r.Matches = v.found.items[:over]
}

// verification is one search for the best members of a chain.
type verification struct {
	scope *scope
	set   *chain
	query *query
	min   float32 // the score that the next one must reach
	found best[Match]
}

// list compares entries one by one.
func (v *verification) list(entries []*entry) {
	for _, e := range entries {
		if e.chain != v.set {
			continue
		}
		slab, row := &v.scope.rest, int(e.row)
		if e.topic.anchor == e {
			slab, row = &v.scope.anchors.slab, int(v.scope.anchors.pos[uint64(e.topic.id)])
		}
		if score, ok := slab.reach(row, v.query, v.min); ok {
			v.offer(e, score)
		}
	}
}

// scan compares all entries of the scope in the order of memory.
func (v *verification) scan() {
	s := v.scope
	s.anchors.slab.scan(v.query, v.min, func(row int, score float32) float32 {
		return v.offer(s.topics[TopicID(s.anchors.ids[row])].anchor, score)
	})
	s.rest.scan(v.query, v.min, func(row int, score float32) float32 {
		return v.offer(s.owners[row], score)
	})
}

// offer takes e if it belongs to the chain, and returns the minimum from there on.
func (v *verification) offer(e *entry, score float32) float32 {
	if e.chain == v.set {
		v.found.offer(Match{e.id, float64(score), e.topic.id})
		if last, full := v.found.worst(); full {
			v.min = float32(last.Score)
		}
	}
	return v.min
}
