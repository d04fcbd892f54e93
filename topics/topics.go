// Package topics groups cached requests by meaning and finds the ones that a new request may share an answer with.
//
// Requests are compared only inside a scope, and answers are shared only under equal earlier turns (a chain). Inside a scope
// every request belongs to a topic, which is found by the vector of one member, its anchor: the most important one (paper
// 002 §8, Alg. 4 and 5). Routing to a topic and searching for an answer have a gate each: the answer is searched in the whole scope,
// because a search inside the routed topic, or inside a few, loses hits.
//
// Both searches scan sketches: 512 sign bits of a vector, of which two vectors over a gate differ in few. The first 256 bits of all
// anchors lie side by side, and so do those of each chain, whose searches read nothing of others. Only rows whose sketches are near
// enough are scored, exactly. A pair that scores exactly the gate is lost with a probability of 1e-6 at the hit gate and 2e-4 at the
// route gate, a nearer one less often. On 22,000 real texts none of 1,113 pairs over 0.97 and none of 32,043 over 0.60 were lost.
//
// A search has bounds, whatever the vectors look like. Of more than 131,072 rows it reads those in the cells that are nearest to the
// query, 65,536 for answers and 32,768 for an anchor: among 1,000,000 real texts and variants of them it finds 99.2 % of the nearest
// over 0.9, and 95 % of those over 0.6 (see cells). Beyond that it reads at most 1,024 whole sketches and scores 256 vectors for
// answers, 512 and 128 for an anchor, the nearest first by what was read before: vectors are crowded behind a long text that all
// prompts share, and where they are equal; otherwise nothing was lost by this (see effort). Stats counts the searches that it cut.
//
// Anchors are found by an index. One scans sketches; the other is HNSW over sketches (internal/hnsw), which finds more of them where a
// scan reads only cells: from 1,000,000 anchors on it grows with the set in the background, and serves only after a self-check that
// compares its recall and speed with a scan of all on queries of requests. coder/hnsw, the library that was to do this, finds the
// nearest of 10,000 for a fifth of the queries in a graph of its own, and reads ours in the tests (BenchmarkLibrary in internal/hnsw).
//
// Which member is the anchor depends on the order of the calls that change something. None of them calls back: Add,
// SetImportance and Refresh return which entries became anchors, so that a caller can log that order, and RestoreAnchor
// repeats it.
//
// A departure from Alg. 5: an anchor that leaves is removed from the index at once, because a purged vector must not stay,
// and its topic gets a new anchor before the next search of the scope instead of after it. So a search never finds a
// stale anchor, several departures from one topic still cost one refresh, and nothing is scored twice.
package topics

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"reprise/embed"
)

// EntryID names a cached answer. An id is never used twice, and 0 is none.
type EntryID uint64

// TopicID names a topic. An id is never used twice, and 0 is none. Its low 37 bits count, the 16 above them are
// SetProcess: 53 bits in all, which every JSON reader keeps exact.
type TopicID uint64

const counterBits = 37

// ScopeID is the digest of everything that must be equal for two requests to share an answer.
type ScopeID [32]byte

// ChainID is the digest of the earlier turns of a conversation. Zero: there are none.
type ChainID [32]byte

// limited counts the searches of which a bound left out rows that could have been found.
type limited struct{ hits, anchors atomic.Int64 }

// Topics holds the vectors of all entries, by scope and topic. All methods are safe for concurrent use. Beyond the vector
// an entry costs some 328 bytes where each has a topic of its own, 140 of them its sketch and its places in lists, 60 the maps of entries and topics.
type Topics struct {
	options Options
	dim     dim
	made    atomic.Uint64 // the highest topic id of this process; its upper part is the number of the process
	limited limited       // searches that a bound cut
	builder builder       // of graphs, those of freed scopes too

	mu      sync.RWMutex // protects what follows, not the scopes and entries in the maps; taken after a scope's lock or alone
	scopes  map[ScopeID]*scope
	entries map[EntryID]*entry
	graphs  graphOptions // of scopes made from now on; Close takes their builder away
}

// New makes an empty Topics, or returns an error that names the option which is bad.
func New(o Options) (*Topics, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	return newTopics(o), nil
}

// newTopics is New without the checks.
func newTopics(o Options) *Topics {
	t := &Topics{options: o, scopes: make(map[ScopeID]*scope), entries: make(map[EntryID]*entry)}
	t.dim.Store(int64(o.Dim))
	t.graphs = graphOptions{min: graphFrom, share: worthwhile, route: o.Route, builder: &t.builder}
	return t
}

// SetDim sets the length of the vectors, where it was not known to New: until then searches find nothing. An error changes nothing.
func (t *Topics) SetDim(dim int) error {
	o := t.options
	if o.Dim = dim; dim == 0 || o.validate() != nil || !t.dim.CompareAndSwap(0, int64(dim)) {
		return fmt.Errorf("%w: Dim = %d, after %d", errOptions, dim, t.dim.get())
	}
	return nil
}

// dim is the length of every vector; 0 while it is not known.
type dim struct{ atomic.Int64 }

func (d *dim) get() int { return int(d.Load()) }

// Close ends all background work and waits for it. Everything else still works afterwards, and scopes made then are only scanned: a replay
// that must repeat itself calls it first.
func (t *Topics) Close() {
	t.mu.Lock()
	t.graphs.builder = nil
	t.mu.Unlock()
	for _, s := range t.allScopes() {
		s.stop()
	}
	t.builder.close()
}

// NewTopic returns a topic id that was not used before. The topic exists from its first member on.
func (t *Topics) NewTopic() TopicID { return TopicID(t.made.Add(1)) }

// Process is the number of the process that made the id.
func (id TopicID) Process() uint16 { return uint16(id >> counterBits) }

// SetProcess gives the number of this process in the topic ids that it makes, from the first on; 0 until it is called. Processes that share
// entries need different numbers, or two of them make the same id for different topics.
func (t *Topics) SetProcess(process uint16) { t.made.Store(uint64(process) << counterBits) }

// SetNext makes NewTopic return ids from next on: for a restart, where the ids of topics that are gone must not be used
// again. It never goes backwards, and ignores the ids of other processes. Add does the same for the topic of its member.
func (t *Topics) SetNext(next TopicID) {
	if next > 0 {
		t.markUsed(next - 1)
	}
}

// markUsed makes NewTopic return ids above id, if id is of this process.
func (t *Topics) markUsed(id TopicID) {
	for {
		now := t.made.Load()
		if uint64(id)>>counterBits != now>>counterBits || uint64(id) <= now || t.made.CompareAndSwap(now, uint64(id)) {
			return
		}
	}
}

// Member is an entry as Add takes it.
type Member struct {
	ID     EntryID
	Scope  ScopeID
	Chain  ChainID
	Vector []float32 // copied
	Topic  TopicID   // 0: a new one
	Parent EntryID   // the entry it depends on; 0: none known
	Seq    int64     // number of the request that made it

	// The rest restores an entry after a restart, and is zero for a new one. With all members added in the order of Last,
	// and RestoreAnchor for each topic, searches answer as before.
	Last       int64   // number of the last request it answered; 0: Seq
	Importance float64 // as set by SetImportance; 0: 1
}

// Add adds m to its topic, which is made if it does not exist or is empty by now. It returns the topic of m, and whether m
// became its anchor. An entry that is known already stays as it is.
func (t *Topics) Add(m Member) (topic TopicID, anchor bool, err error) {
	if m.ID == 0 {
		return 0, false, errors.New("add an entry: its id is 0")
	}
	dim := t.dim.get()
	if dim == 0 {
		return 0, false, fmt.Errorf("add entry %d: the length of vectors is not known yet", m.ID)
	}
	if err := embed.Check(m.Vector, dim); err != nil {
		return 0, false, fmt.Errorf("add entry %d: %w", m.ID, err)
	}
	sk := sketchOf(m.Vector)
	for {
		if e := t.entry(m.ID); e != nil {
			return e.topic.id, false, nil
		}
		if e, anchor := t.join(t.makeScope(m.Scope), m, &sk); e != nil {
			return e.topic.id, anchor, nil
		}
	}
}

// join adds m to s, and reports whether it became an anchor. It returns nil when s was freed, or m added by another call,
// since the caller looked: look again.
func (t *Topics) join(s *scope, m Member, sk *sketch) (e *entry, anchor bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.freed || t.entry(m.ID) != nil {
		return nil, false
	}
	if m.Topic == 0 {
		m.Topic = t.NewTopic()
	}
	t.markUsed(m.Topic)
	e = s.insertLocked(m, sk)
	t.mu.Lock()
	t.entries[m.ID] = e
	t.mu.Unlock()
	return e, e.topic.anchor == e
}

// Placed is the scope and the earlier turns under which an entry was added; false where it is unknown.
func (t *Topics) Placed(id EntryID) (ScopeID, ChainID, bool) {
	e := t.entry(id)
	if e == nil {
		return ScopeID{}, ChainID{}, false
	}
	return e.topic.scope.id, e.chain.id, true
}

// Forget removes entries, evicted or purged: no search returns them from now on and their vectors are wiped. A topic
// without members ends, a scope without entries is freed. Unknown ids are ignored. A topic that loses its anchor this way
// has none until Refresh.
func (t *Topics) Forget(ids ...EntryID) {
	for _, id := range ids {
		t.with(id, t.forgetLocked)
	}
}

func (t *Topics) forgetLocked(s *scope, e *entry) {
	s.removeLocked(e)
	if s.freed = s.size == 0; s.freed {
		s.stop() // a build that runs ends by itself: the lock of the scope is held here, and that of every change above it
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.entries, e.id)
	if s.freed {
		delete(t.scopes, s.id)
	}
}

// SetImportance sets the importance of an entry (TSI, paper 002 §3.3), which is 1 at first. It reports whether the entry
// became the anchor of its topic by that. Unless it did, no search waits for it, nor it for a search.
func (t *Topics) SetImportance(id EntryID, importance float64) (anchor bool) {
	if e := t.entry(id); e == nil || e.topic.scope.setImportance(e, importance) {
		return false
	}
	t.with(id, func(s *scope, e *entry) {
		before := e.topic.anchor
		s.setImportanceLocked(e, importance)
		anchor = before != e && e.topic.anchor == e
	})
	return anchor
}

// RestoreAnchor makes an entry the anchor of its topic: as it was before a restart (List returns the anchors), or as
// Add, SetImportance or Refresh chose it when the log that is applied was written. It has no effect on an anchor. It returns false for
// an unknown entry.
func (t *Topics) RestoreAnchor(id EntryID) (known bool) {
	t.with(id, func(s *scope, e *entry) {
		if known = true; e.topic.anchor != e {
			s.anchorLocked(e)
		}
	})
	return known
}

// with runs change on a known entry, with its scope locked.
func (t *Topics) with(id EntryID, change func(s *scope, e *entry)) {
	e := t.entry(id)
	if e == nil {
		return
	}
	s := e.topic.scope
	s.mu.Lock()
	defer s.mu.Unlock()
	if !e.gone {
		change(s, e)
	}
}

// entry looks an id up; nil where it is unknown.
func (t *Topics) entry(id EntryID) *entry {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.entries[id]
}

// scope looks a scope up; nil where it is unknown.
func (t *Topics) scope(id ScopeID) *scope {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.scopes[id]
}

func (t *Topics) makeScope(id ScopeID) *scope {
	if s := t.scope(id); s != nil {
		return s
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.scopes[id] == nil {
		t.scopes[id] = newScope(id, &t.options, t.dim.get(), t.graphs)
	}
	return t.scopes[id]
}

func (t *Topics) allScopes() []*scope {
	t.mu.RLock()
	defer t.mu.RUnlock()
	all := make([]*scope, 0, len(t.scopes))
	for _, s := range t.scopes {
		all = append(all, s)
	}
	return all
}
