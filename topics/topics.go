// Package topics groups cached requests by meaning and finds the ones that a new request may share an answer with.
//
// Requests meet only inside a scope, and answers are shared only under equal earlier turns (a chain). Inside a scope every
// request belongs to a topic, which is found by the vector of one member, its anchor: the most important one (paper 002 §8,
// Alg. 4 and 5). The route to a topic and the search for an answer are two things with two gates: the answer is searched in
// all shortlisted topics, or in the whole scope while that is small, because a look-up inside the routed topic alone loses
// hits.
//
// Anchors are found by an Index. Flat is an exact scan; Graph is the HNSW graph of coder/hnsw, which serves only where it
// has proved to be as good and faster.
//
// A departure from Alg. 5: an anchor that leaves is taken out of the index at once, because a purged vector must not stay,
// and its topic gets a new anchor before the next search of the scope instead of after it. So the shortlist never holds a
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

// TopicID names a topic. An id is never used twice, and 0 is none.
type TopicID uint64

// ScopeID is the digest of everything that must be equal for two requests to share an answer.
type ScopeID [32]byte

// ChainID is the digest of the earlier turns of a conversation. Zero: there are none.
type ChainID [32]byte

// ErrMember is wrapped by the errors of Add that are not about the vector.
var ErrMember = errors.New("bad member")

// Topics holds the vectors of all entries, by scope and topic. All methods are safe for concurrent use. Beyond the vector
// an entry costs some 250 bytes.
type Topics struct {
	options Options
	next    atomic.Uint64 // the last topic id given out

	mu      sync.RWMutex // protects what follows, not what the maps lead to; taken after a scope's lock or alone
	closed  bool
	scopes  map[ScopeID]*scope
	entries map[EntryID]*entry
}

// New makes an empty Topics, or returns an error that wraps ErrOptions.
func New(o Options) (*Topics, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	return newTopics(o), nil
}

// newTopics is New without the checks.
func newTopics(o Options) *Topics {
	return &Topics{options: o, scopes: make(map[ScopeID]*scope), entries: make(map[EntryID]*entry)}
}

// Close ends what runs in the background and waits for it. Everything else still works afterwards.
func (t *Topics) Close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	for _, s := range t.allScopes() {
		s.close()
	}
}

// NewTopic returns a topic id that was not used before. The topic exists from its first member on.
func (t *Topics) NewTopic() TopicID { return TopicID(t.next.Add(1)) }

// SetNext makes NewTopic return ids from next on: for a restart, where the ids of topics that are gone must not come back.
// It never goes backwards. Add does the same for the topic of its member.
func (t *Topics) SetNext(next TopicID) {
	for {
		now := t.next.Load()
		if uint64(next) <= now+1 || t.next.CompareAndSwap(now, uint64(next)-1) {
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
	Importance float64 // as told to Weigh; 0: 1
}

// Add lets m join its topic, which is made if it does not exist or is empty by now. It returns the topic of m. An entry that
// is known already stays as it is.
func (t *Topics) Add(m Member) (TopicID, error) {
	if m.ID == 0 {
		return 0, fmt.Errorf("%w: id 0", ErrMember)
	}
	if err := embed.Check(m.Vector, t.options.Dim); err != nil {
		return 0, fmt.Errorf("add entry %d: %w", m.ID, err)
	}
	for {
		if e := t.entry(m.ID); e != nil {
			return e.topic.id, nil
		}
		if id, ok := t.join(t.makeScope(m.Scope), m); ok {
			return id, nil
		}
	}
}

// join adds m to s. It fails when s was freed after it was looked up, or when m was added by somebody else: look again.
func (t *Topics) join(s *scope, m Member) (TopicID, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.freed || t.entry(m.ID) != nil {
		return 0, false
	}
	if m.Topic == 0 {
		m.Topic = t.NewTopic()
	}
	t.SetNext(m.Topic + 1)
	e := s.insertLocked(m)
	t.mu.Lock()
	t.entries[m.ID] = e
	t.mu.Unlock()
	return m.Topic, true
}

// Forget removes entries, evicted or purged: no search returns them from now on and their vectors are wiped. A topic
// without members is gone, a scope without entries is freed. Unknown ids are ignored.
func (t *Topics) Forget(ids ...EntryID) {
	for _, id := range ids {
		t.with(id, t.forgetLocked)
	}
}

func (t *Topics) forgetLocked(s *scope, e *entry) {
	s.removeLocked(e)
	s.freed = s.size == 0
	t.mu.Lock()
	delete(t.entries, e.id)
	if s.freed {
		delete(t.scopes, s.id)
	}
	t.mu.Unlock()
	if s.freed {
		s.close()
	}
}

// Weigh tells the importance of an entry (TSI, paper 002 §3.3), which an entry has as 1 until it is told. The anchor of its
// topic may move to it.
func (t *Topics) Weigh(id EntryID, importance float64) {
	t.with(id, func(s *scope, e *entry) { s.weighLocked(e, importance) })
}

// RestoreAnchor makes an entry the anchor of its topic, as it was before a restart. List tells the anchors.
func (t *Topics) RestoreAnchor(id EntryID) {
	t.with(id, func(s *scope, e *entry) {
		if e.topic.anchor != e {
			s.anchorLocked(e)
		}
	})
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

// scope looks a scope up; nil where nothing is known of it.
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
		t.scopes[id] = newScope(id, &t.options, t.closed)
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
