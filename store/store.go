// Package store keeps the entries of the response cache under a capacity.
//
// A Store owns every entry, its keys and its aliases, the policy's ledger, and the number of the request; all of it lives
// in memory under one mutex, so that a lookup is a map access. A Backing keeps a copy that survives: changes are
// gathered and written behind the requests, twice a second, and read once, by Open. A fault of the backing is told and
// otherwise changes nothing: the store serves on from memory and writes what it owes when the backing is well again.
package store

import (
	"fmt"
	"sync"
	"time"

	"reprise/policy"
)

// Options of a Store.
type Options struct {
	// Limit is the capacity; whichever bound is reached first evicts. Bytes counts Entry.Footprint, not answers alone.
	Limit policy.Limit
	// Evictor names the victims; required. The store serialises its calls.
	Evictor policy.Evictor
	// Space names the vector space of the embedder. A backing that holds vectors of another space is refused (ErrSpace).
	Space string
	// Backing keeps the data; nil is memory only. The store closes it.
	Backing Backing
	// FlushEvery is how often changes are written to the backing; 0 is 500 ms.
	FlushEvery time.Duration
	// MaxAliases is how many aliases an entry can have, the oldest makes room; 0 is 16.
	MaxAliases int
	// Now is the clock; nil is time.Now. It may jump in both directions.
	Now func() time.Time
	// OnFault is told of each fault: the step ("load", "write", "policy") and what happened. Faults of the backing come
	// from Open and from the goroutine that writes, once in FlushEvery at most; a panic of the policy comes from the call
	// that met it. nil ignores.
	OnFault func(step string, err error)
}

func (o *Options) fill() error {
	if o.Evictor == nil {
		return fmt.Errorf("open store: no evictor")
	}
	if o.Limit.Entries < 0 || o.Limit.Bytes < 0 {
		return fmt.Errorf("open store: negative capacity %+v", o.Limit)
	}
	if o.FlushEvery <= 0 {
		o.FlushEvery = 500 * time.Millisecond
	}
	if o.MaxAliases <= 0 {
		o.MaxAliases = 16
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.OnFault == nil {
		o.OnFault = func(string, error) {}
	}
	return nil
}

// Store holds the entries. All methods are safe for concurrent use.
type Store struct {
	opt Options

	mu        sync.RWMutex // protects everything to the next blank line; nothing is called back under it but the policy
	ledger    *policy.Ledger
	keys      map[Key]*resident // exact keys and aliases
	ids       map[policy.ID]*resident
	labels    map[string]string // one copy of each tenant, namespace, model and endpoint
	restored  map[policy.ID][]float32
	seq       int64
	opened    time.Time
	base, at  float64 // seconds of the clock at opened, and the last ones given out
	nextID    policy.ID
	maxTopic  policy.TopicID
	aliases   int
	evictions int64

	debts     *debts // nil: nothing is written
	faults    int64
	lastFlush time.Time

	// set by Open
	persistent policy.Persistent // the evictor, where it is one
	panel      policy.Panel      // the same
	secret     [32]byte
	report     Report
	flusher    *flusher // nil: nothing is written
	closing    sync.Once

	// of the goroutine that writes
	written   counters
	reserved  policy.ID
	learned   lesson
	toldTopic policy.TopicID // the highest that the backing can have heard of
}

// resident is an entry and what changes about it.
type resident struct {
	Entry
	aliases []Key // oldest first
	last    int64 // Seq of the last access: the order in which a restart inserts again
}

// Tick counts a request in and returns its number, which goes on after a restart, and its time. The time never runs
// backwards, whatever the clock does.
func (s *Store) Tick() policy.Tick {
	now := s.opt.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq++
	s.at = max(s.at, s.base+now.Sub(s.opened).Seconds())
	return policy.Tick{Seq: s.seq, At: s.at}
}

// Secret is 32 random bytes, made once and kept with the data: the key with which callers digest credentials.
func (s *Store) Secret() [32]byte { return s.secret }

// MaxTopic is the highest topic id that the store or its policy has ever heard of. A topic id is never used twice, so
// new ones start above it.
func (s *Store) MaxTopic() policy.TopicID {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.maxTopic
}

// Lookup finds the entry of an exact key or of an alias. It counts as no access, and it returns expired entries too:
// whether one may be served is the caller's judgement.
func (s *Store) Lookup(k Key) (e *Entry, alias, ok bool) {
	s.mu.RLock()
	r := s.keys[k]
	s.mu.RUnlock()
	if r == nil {
		return nil, false, false
	}
	return &r.Entry, r.Key != k, true
}

// Get returns an entry by its id.
func (s *Store) Get(id policy.ID) (*Entry, bool) {
	s.mu.RLock()
	r := s.ids[id]
	s.mu.RUnlock()
	if r == nil {
		return nil, false
	}
	return &r.Entry, true
}

// Stats is what a store can tell of itself. Bytes are those that Limit counts.
type Stats struct {
	Entries   int
	Bytes     int64
	Aliases   int
	Evictions int64 // since Open; removals on request are not among them
	Faults    int64 // writes that failed, panics of the policy, and victims that it owed or that were none
	// Of the backing: changes not yet written, the time of the last complete write, and what its Load found.
	Dirty     int
	LastFlush time.Time
	Report    Report
	Panel     *policy.PanelStats // nil where the policy is not made of experts
}

// Stats returns the current figures.
func (s *Store) Stats() Stats {
	s.mu.RLock()
	defer s.mu.RUnlock()
	st := Stats{Entries: s.ledger.Entries(), Bytes: s.ledger.Bytes(), Aliases: s.aliases, Evictions: s.evictions, Report: s.report}
	st.LastFlush, st.Faults = s.lastFlush, s.faults+int64(s.ledger.Faults())
	if s.debts != nil {
		st.Dirty = s.debts.len()
	}
	st.Panel = s.panelStatsLocked()
	return st
}
