package topics

import (
	"cmp"
	"slices"
	"time"
)

// IndexStatus is which index serves and why.
type IndexStatus struct {
	Backend  string  // "flat" or "graph"
	Why      string  // in words
	Recall   float64 // of the last self-check of a graph, 0 before the first
	Rebuilds int     // graphs built, whether they served or not
	Faults   int     // panics of a graph, each answered by a scan

	// Of a graph, whether it serves or not: rows in it, rows that wait to be inserted and are scanned, nodes of rows that left, how many of
	// the nearest a search looks for (0 while the graph does not serve), and the time that the builder took.
	Nodes, Pending, Tombstones, Breadth int
	Built                               time.Duration
}

// The backends that IndexStatus names.
const (
	backendFlat  = "flat"
	backendGraph = "graph"
)

// Status implements index.
func (f *flat) Status() IndexStatus { return IndexStatus{Backend: backendFlat, Why: "chosen"} }

// ScopeStats counts what one scope holds.
type ScopeStats struct {
	Scope           ScopeID
	Topics, Entries int
	Index           IndexStatus
}

// Stats counts what a Topics holds.
type Stats struct {
	Topics, Entries int
	// LimitedHits and LimitedAnchors count the searches, for answers and for an anchor, of which a bound left out some that could have been found:
	// see the package comment. Anchors are so many in a scope of 50,000 topics that most searches that find none count.
	LimitedHits, LimitedAnchors int64
	Scopes                      []ScopeStats // the largest first
}

// Stats returns the counts. It costs O(scopes).
func (t *Topics) Stats() (all Stats) {
	all.LimitedHits, all.LimitedAnchors = t.limited.hits.Load(), t.limited.anchors.Load()
	for _, s := range t.allScopes() {
		one := s.stats()
		all.Topics += one.Topics
		all.Entries += one.Entries
		all.Scopes = append(all.Scopes, one)
	}
	slices.SortFunc(all.Scopes, func(a, b ScopeStats) int {
		return cmp.Or(cmp.Compare(b.Entries, a.Entries), slices.Compare(a.Scope[:], b.Scope[:]))
	})
	return all
}

func (s *scope) stats() ScopeStats {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return ScopeStats{Scope: s.id, Topics: len(s.topics), Entries: s.size, Index: s.index.Status()}
}

// TopicInfo describes one topic.
type TopicInfo struct {
	ID     TopicID
	Scope  ScopeID
	Size   int
	Anchor EntryID // 0: it was removed, and Refresh has not chosen another yet
}

// List returns up to limit topics with an id above after, by id: pass the last id of a page to get the next. It costs
// O(topics).
func (t *Topics) List(after TopicID, limit int) []TopicInfo {
	var page []TopicInfo
	for _, s := range t.allScopes() {
		page = s.list(after, page)
	}
	slices.SortFunc(page, func(a, b TopicInfo) int { return cmp.Compare(a.ID, b.ID) })
	return page[:min(limit, len(page))]
}

func (s *scope) list(after TopicID, page []TopicInfo) []TopicInfo {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, topic := range s.topics {
		if topic.id > after {
			page = append(page, topic.info())
		}
	}
	return page
}

func (t *topic) info() TopicInfo {
	i := TopicInfo{ID: t.id, Scope: t.scope.id, Size: int(t.size)}
	if t.anchor != nil {
		i.Anchor = t.anchor.id
	}
	return i
}
