package topics

import "sync"

// scope holds the entries of one scope. Every vector is stored once: in anchors if its entry is an anchor, else in rest.
type scope struct {
	id      ScopeID
	options *Options

	mu          sync.RWMutex // protects what follows and every entry, topic and chain of the scope
	freed       bool         // removed from Topics' map, for good
	size        int
	topics      map[TopicID]*topic
	chains      map[ChainID]*chain
	anchors     *Flat       // the vector of each topic's anchor, by TopicID
	index       anchorIndex // finds anchors: anchors itself, or a Graph above it
	rest        rows        // the vectors of all entries that are not anchors
	restEntries []*entry    // the entry of each row of rest
	stale       []*topic    // topics that lost their anchor, in that order
	recent      recent
	moved       []float32 // room for vectors on their way between anchors and rest
}

// anchorIndex is an Index that reports which form serves.
type anchorIndex interface {
	Index
	Status() IndexStatus
}

// topic is a cluster of entries. It has at least one member while it is in its scope's map.
type topic struct {
	id      TopicID
	scope   *scope
	anchor  *entry // nil: stale
	members []*entry
}

// chain is the set of entries under the same earlier turns.
type chain struct {
	id      ChainID
	members []*entry
}

// entry is one member. id, topic, chain and born never change.
type entry struct {
	id         EntryID
	topic      *topic
	chain      *chain
	parent     EntryID
	importance float64
	born, last int64
	row        int32 // in scope.rest; unused for an anchor
	inTopic    int32 // index in topic.members
	inChain    int32 // index in chain.members
	attempts   int8  // searches for a parent that found none
	gone       bool
}

// newScope makes an empty scope. It has no Graph, and so no background work, if background is nil.
func newScope(id ScopeID, o *Options, background *sync.WaitGroup) *scope {
	s := &scope{
		id: id, options: o,
		topics: make(map[TopicID]*topic), chains: make(map[ChainID]*chain),
		anchors: NewFlat(o.Dim), rest: newRows(o.Dim),
	}
	s.index = s.anchors
	if o.Index != KindFlat && background != nil {
		s.index = NewGraph(s.anchors, GraphOptions{Min: o.graphFrom(), Route: o.Route, Seed: o.Seed, builds: background})
	}
	return s
}

// insertLocked adds m, whose vector is valid and whose id is new, to its topic (Alg. 5, OnInsert).
func (s *scope) insertLocked(m Member) *entry {
	e := &entry{
		id: m.ID, topic: s.topicLocked(m.Topic), chain: s.chainLocked(m.Chain),
		parent: m.Parent, importance: m.Importance, born: m.Seq, last: max(m.Seq, m.Last),
	}
	if e.importance == 0 {
		e.importance = 1
	}
	e.inTopic, e.inChain = int32(len(e.topic.members)), int32(len(e.chain.members))
	e.topic.members, e.chain.members = append(e.topic.members, e), append(e.chain.members, e)
	s.size++
	s.addRestLocked(e, m.Vector)
	if first := len(e.topic.members) == 1; first || e.exceedsAnchor(1) {
		s.anchorLocked(e)
	}
	s.recent.push(e, s.options.Lookback)
	return e
}

// removeLocked removes e from its topic, its chain and the vectors (Alg. 5, OnEvict). A topic that loses its anchor is
// stale until refreshLocked.
func (s *scope) removeLocked(e *entry) {
	e.gone = true
	s.size--
	t := e.topic
	anchorLeft := t.anchor == e
	if anchorLeft {
		t.anchor = nil
		s.index.Delete(uint64(t.id))
	} else {
		s.removeRestLocked(e.row)
	}
	if t.members = cut(t.members, e.inTopic, func(e *entry, at int32) { e.inTopic = at }); len(t.members) == 0 {
		delete(s.topics, t.id)
	} else if anchorLeft {
		s.stale = append(s.stale, t)
	}
	c := e.chain
	if c.members = cut(c.members, e.inChain, func(e *entry, at int32) { e.inChain = at }); len(c.members) == 0 {
		delete(s.chains, c.id)
	}
}

// refreshLocked makes the most important member of every stale topic its anchor (Alg. 5, Refresh) and returns these members.
func (s *scope) refreshLocked() (chosen []EntryID) {
	for _, t := range s.stale {
		if t.anchor == nil && len(t.members) > 0 {
			e := t.mostImportant()
			s.anchorLocked(e)
			chosen = append(chosen, e.id)
		}
	}
	s.stale = nil
	return chosen
}

// setImportanceLocked sets the importance of e, and moves the anchor to e if it is now more than twice as important as the
// present anchor (D10).
func (s *scope) setImportanceLocked(e *entry, importance float64) {
	e.importance = importance
	if !s.options.PaperAnchors && e.exceedsAnchor(2) {
		s.anchorLocked(e)
	}
}

// exceedsAnchor reports whether e is more than factor times as important as the anchor of its topic, another entry. It is
// false for a stale topic: there Refresh chooses among all members.
func (e *entry) exceedsAnchor(factor float64) bool {
	a := e.topic.anchor
	return a != nil && a != e && e.importance > factor*a.importance
}

// mostImportant is the member with the highest importance; ties go to the latest access, then to the lower id.
func (t *topic) mostImportant() *entry {
	top := t.members[0]
	for _, e := range t.members[1:] {
		switch {
		case e.importance != top.importance:
			if e.importance > top.importance {
				top = e
			}
		case e.last > top.last || e.last == top.last && e.id < top.id:
			top = e
		}
	}
	return top
}

// anchorLocked makes e, a member that is not the anchor, the anchor of its topic: its vector moves from rest to anchors, and
// that of the old anchor the other way.
func (s *scope) anchorLocked(e *entry) {
	t := e.topic
	s.moved = s.rest.vector(int(e.row), s.moved[:0])
	s.removeRestLocked(e.row)
	if old := t.anchor; old != nil {
		s.moved, _ = s.anchors.vector(uint64(t.id), s.moved) // behind the other
		s.addRestLocked(old, s.moved[s.options.Dim:])
	}
	t.anchor = e
	_ = s.index.Upsert(uint64(t.id), s.moved[:s.options.Dim]) // cannot fail: Add checked the vector
	clear(s.moved)                                            // no purged vector stays in memory
}

// addRestLocked stores the vector of e, which is not an anchor, in rest.
func (s *scope) addRestLocked(e *entry, v []float32) {
	e.row = int32(len(s.restEntries))
	s.restEntries = append(s.restEntries, e)
	s.rest.add(v)
}

// removeRestLocked removes a row of rest; the last row takes its place.
func (s *scope) removeRestLocked(row int32) {
	s.rest.remove(int(row))
	s.restEntries = cut(s.restEntries, row, func(e *entry, at int32) { e.row = at })
}

func (s *scope) topicLocked(id TopicID) *topic {
	if s.topics[id] == nil {
		s.topics[id] = &topic{id: id, scope: s}
	}
	return s.topics[id]
}

func (s *scope) chainLocked(id ChainID) *chain {
	if s.chains[id] == nil {
		s.chains[id] = &chain{id: id}
	}
	return s.chains[id]
}

// stop ends the background work of the index, and does not wait for its end.
func (s *scope) stop() {
	if g, ok := s.index.(*Graph); ok {
		g.stop()
	}
}

// cut removes list[at]. The last element takes its place, and moved is called with it and its new index.
func cut(list []*entry, at int32, moved func(e *entry, at int32)) []*entry {
	last := len(list) - 1
	list[at] = list[last]
	moved(list[at], at)
	list[last] = nil
	return list[:last]
}
