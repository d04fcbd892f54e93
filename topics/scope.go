package topics

import "sync"

// scope holds the entries of one scope.
type scope struct {
	id      ScopeID
	options *Options

	mu      sync.RWMutex // protects what follows and every entry, topic and chain of the scope; taken before access
	freed   bool         // removed from Topics' map, for good
	size    int
	topics  map[TopicID]*topic
	chains  map[ChainID]*chain
	rows    *rows    // the vector of every entry
	entries []*entry // of each row; nil: free
	index   index    // finds anchors, by their rows: a flat, or a graph above one
	stale   []*topic // topics that lost their anchor, in that order

	access sync.Mutex // protects recent and, of every entry, parent, last, attempts and importance, from others that hold mu for reading
	recent recent
}

// topic is a cluster of entries. It has at least one member while it is in its scope's map. Most have no other: the members are a ring of
// rows, which needs no list of its own.
type topic struct {
	id     TopicID
	scope  *scope
	anchor *entry // nil: stale
	first  int32  // row of a member
	size   int32
}

// chain is the set of entries under the same earlier turns.
type chain struct {
	id ChainID
	list
}

// entry is one member. id, topic, chain and born never change.
type entry struct {
	id         EntryID
	topic      *topic
	chain      *chain
	parent     EntryID
	importance float64
	born, last int64
	row        int32 // in scope.rows
	next, prev int32 // rows of the members of the topic beside it in the ring
	inChain    int32 // slot in chain.list
	attempts   int8  // searches for a parent that found none
	gone       bool
}

// newScope makes an empty scope. It has no graph, and so no background work, if the options of graphs name no builder.
func newScope(id ScopeID, o *Options, dim int, graphs graphOptions) *scope {
	s := &scope{
		id: id, options: o,
		topics: make(map[TopicID]*topic), chains: make(map[ChainID]*chain),
		rows: newRows(dim),
	}
	flat := newFlat(s.rows, s)
	s.index = flat
	if graphs.owner = &s.mu; graphs.builder != nil {
		s.index = newGraph(flat, graphs)
	}
	return s
}

// nameOf is the topic of which the entry of a row is the anchor.
func (s *scope) nameOf(row int32) uint64 { return uint64(s.entries[row].topic.id) }

// place notes the slot of the entry of a row in its chain.
func (s *scope) place(row, slot int32) { s.entries[row].inChain = slot }

// insertLocked adds m, whose vector is valid and whose id is new, to its topic (Alg. 5, OnInsert).
func (s *scope) insertLocked(m Member, sk *sketch) *entry {
	e := &entry{
		id: m.ID, topic: s.topicLocked(m.Topic), chain: s.chainLocked(m.Chain),
		parent: m.Parent, importance: m.Importance, born: m.Seq, last: max(m.Seq, m.Last),
	}
	if e.importance == 0 {
		e.importance = 1
	}
	s.size++
	e.row = s.rows.add(m.Vector, sk)
	if int(e.row) == len(s.entries) {
		s.entries = append(s.entries, nil)
	}
	s.entries[e.row] = e
	e.topic.add(e)
	e.chain.add(s.rows, e.row, s)
	if first := e.topic.size == 1; first || e.exceedsAnchor(1) {
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
		s.index.Remove(e.row)
	}
	if t.remove(e); t.size == 0 {
		delete(s.topics, t.id)
	} else if anchorLeft {
		s.stale = append(s.stale, t)
	}
	if e.chain.remove(e.inChain, s); e.chain.size() == 0 {
		delete(s.chains, e.chain.id)
	}
	s.rows.remove(e.row)
	s.entries[e.row] = nil
}

// add puts e, which has its row, into the ring.
func (t *topic) add(e *entry) {
	if t.size++; t.size == 1 {
		t.first, e.next, e.prev = e.row, e.row, e.row
		return
	}
	first := t.scope.entries[t.first]
	last := t.scope.entries[first.prev]
	e.next, e.prev = first.row, last.row
	last.next, first.prev = e.row, e.row
}

// remove takes e, which still has its row, out of the ring.
func (t *topic) remove(e *entry) {
	t.size--
	t.first = e.next
	t.scope.entries[e.prev].next, t.scope.entries[e.next].prev = e.next, e.prev
}

// members are all, in any order.
func (t *topic) members(yield func(*entry) bool) {
	for row, n := t.first, t.size; n > 0; n-- {
		e := t.scope.entries[row]
		if row = e.next; !yield(e) {
			return
		}
	}
}

// refreshLocked makes the most important member of every stale topic its anchor (Alg. 5, Refresh) and returns these members.
func (s *scope) refreshLocked() (chosen []EntryID) {
	for _, t := range s.stale {
		if t.anchor == nil && t.size > 0 {
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
	if s.wantsAnchor(e) {
		s.anchorLocked(e)
	}
}

// setImportance sets the importance of e beside searches where the anchors stay what they are; otherwise it changes nothing and returns
// false.
func (s *scope) setImportance(e *entry, importance float64) (done bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	s.access.Lock()
	defer s.access.Unlock()
	if e.gone {
		return true
	}
	before := e.importance
	if e.importance = importance; s.wantsAnchor(e) {
		e.importance = before
		return false
	}
	return true
}

// wantsAnchor reports whether e is to become the anchor of its topic.
func (s *scope) wantsAnchor(e *entry) bool { return !s.options.PaperAnchors && e.exceedsAnchor(2) }

// exceedsAnchor reports whether e is more than factor times as important as the anchor of its topic, another entry. It is
// false for a stale topic: there Refresh chooses among all members.
func (e *entry) exceedsAnchor(factor float64) bool {
	a := e.topic.anchor
	return a != nil && a != e && e.importance > factor*a.importance
}

// mostImportant is the member with the highest importance; ties go to the latest access, then to the lower id.
func (t *topic) mostImportant() *entry {
	top := t.scope.entries[t.first]
	for e := range t.members {
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

// anchorLocked makes e, a member that is not the anchor, the anchor of its topic.
func (s *scope) anchorLocked(e *entry) {
	if old := e.topic.anchor; old != nil {
		s.index.Remove(old.row)
	}
	e.topic.anchor = e
	s.index.Add(e.row)
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
	if g, ok := s.index.(*graph); ok {
		g.stop()
	}
}
