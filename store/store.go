// Package store keeps the entries of the response cache under a capacity.
//
// A Store owns every entry with its keys and aliases, the policy with its ledger, and the numbers of the requests. All of it
// lives in memory under one mutex, so that a lookup is a map access. Every method that changes the store returns its
// changes as Events, in order; Apply repeats them in another store.
//
// A Backing keeps a copy that survives a restart. The dirty set, which is filled from the events, is written to it in the
// background, twice a second and at each Sync, removals first; Open reads it once. A fault of the backing is reported and changes
// nothing else: the store serves from memory and writes the dirty set when the backing works again. While it is Behind, its caller
// should put no new entries.
//
// Processes that share their entries have a store each, with Options.Outside: all of it except the answers. They follow one log by Apply,
// one of them evicts by Trim, and a process that has lost the log compares with a List.
package store

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"reprise/policy"
)

// Options of a Store.
type Options struct {
	// Limit is the capacity; whichever bound is reached first evicts. Bytes counts Entry.Size, not answers alone.
	Limit policy.Limit
	// Evictor names the victims; required. The store serialises its calls.
	Evictor policy.Evictor
	// Space names the vector space of the embedder. Vectors of another space that the backing holds are left out; see Lacking.
	Space string
	// Dim is the length of the vectors of Space: the size of an entry that lacks one counts it. 0 does not.
	Dim int
	// Former is asked if Space is "" because the embedder has not answered yet. It gets the space that the backing names, and returns it with the
	// length of its vectors if the embedder has the same space, else "". Without a space the store takes no vectors until SetSpace. If Former is
	// nil, "" is a space like any other.
	Former Former
	// Process is the number of this process among those that share entries. It is part of every id that the store makes, so
	// that two processes never make the same one.
	Process uint16
	// Outside: the answers are in a store that several processes share, and none is kept here; Entry.Size counts them all the same. The
	// log of that store has the entries, with vectors and aliases, so that the backing gets only the state of the policy, and only
	// while Keeper reports that it is for this process to write it; otherwise, and where Keeper is nil, it is dropped. Limit should be
	// zero: one process decides evictions for all, by Trim.
	Outside bool
	Keeper  Keeper
	// Secret is what Store.Secret returns; zero: that of the backing, or a new one.
	Secret [32]byte
	// Backing keeps the data; nil is memory only. The store closes it.
	Backing Backing
	// FlushEvery is how often changes are written to the backing; 0 is 500 ms.
	FlushEvery time.Duration
	// MaxUnwritten is how long the backing may lack a change until the store is Behind; 0 is for ever, and then what waits for a
	// backing that fails is bounded by the entries alone.
	MaxUnwritten time.Duration
	// MaxAliases is how many aliases an entry can have, the oldest that is not Refused makes room; 0 is 16.
	MaxAliases int
	// Now is the clock; nil is time.Now. It may jump in both directions.
	Now func() time.Time
	// OnFault is called with each fault: the step ("load", "write", "tidy", "policy") and what happened. Faults of the backing come
	// from Open and from the goroutine that writes, once in FlushEvery at most; a panic of the policy comes from the call
	// in which it occurs. It must not call the store. nil ignores.
	OnFault func(step string, err error)
}

// Former is an embedder that has not answered yet.
type Former interface {
	// Former returns a space that the embedder had before, with the length of its vectors, if the embedder still has it; else "".
	Former(space string) (name string, dim int)
}

// Keeper says whether this process decides evictions for all that share a store.
type Keeper interface{ Keeper() bool }

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
	opt   Options
	clock *clock

	mu        sync.RWMutex // protects everything to the next blank line; only the policy is called under it
	core      core
	lastFlush time.Time

	bytes atomic.Int64 // bytes in memory after the last change

	secret atomic.Pointer[[32]byte]

	// set by Open
	report  Report
	dropped []Event // removals of entries that Open found and left out, until Restored has returned them
	writer  *writer // nil: nothing is written
	closing sync.Once

	evidence []byte                  // what Open found of it
	counter  atomic.Pointer[Counter] // set by KeepEvidence
}

// Tick counts a request and returns its number, which goes on after a restart, and its time. The time never decreases,
// whatever the clock does.
func (s *Store) Tick() policy.Tick { return s.clock.tick() }

// Secret returns 32 random bytes that were made once and are kept with the data: callers digest credentials with it. Only Adopt changes it.
func (s *Store) Secret() [32]byte { return *s.secret.Load() }

// MaxTopic returns the highest topic id of this process that the store or its policy has ever seen, or the id before its first. A topic id is never
// used twice, so new ones start above it.
func (s *Store) MaxTopic() policy.TopicID {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.core.maxTopic
}

// Lookup finds the entry of an exact key or of an alias. It counts as no access, and it returns expired entries too: whether
// one may be served is the caller's decision.
func (s *Store) Lookup(k Key) (e *Entry, alias, ok bool) {
	s.mu.RLock()
	r := s.core.table.keys[k]
	more := r.rare()
	s.mu.RUnlock()
	if r == nil {
		return nil, false, false
	}
	return r.entry(more), r.Key != k, true
}

// Get returns an entry by its id.
func (s *Store) Get(id policy.ID) (*Entry, bool) {
	s.mu.RLock()
	r := s.core.table.ids[id]
	more := r.rare()
	s.mu.RUnlock()
	if r == nil {
		return nil, false
	}
	return r.entry(more), true
}

// Expired reports whether id must not answer any more by the policy. The caller then removes it as policy.Expired.
func (s *Store) Expired(id policy.ID, at policy.Tick) bool {
	if !s.core.keeper.ledger.Expires() { // which never changes
		return false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.core.keeper.ledger.Expired(id, at)
}

// Stats are the figures of a store. Bytes are those that Limit counts.
type Stats struct {
	Entries   int
	Bytes     int64
	Aliases   int
	Lacking   int   // entries with a prompt and without a vector
	Evictions int64 // since Open; removals for another reason are not among them
	Requests  int64 // since Open those that the policy has seen: Hits, and answers that were put
	Hits      int64
	Faults    int64 // writes that failed, panics of the policy, and victims that were missing or not resident
	// Of the backing: changes not yet written, the time of the last complete write, and what its Load found.
	Dirty     int
	Unwritten time.Duration // since the oldest of them was made, while it is being written too
	LastFlush time.Time
	Report    Report
	Panel     *policy.PanelStats // nil where the policy is not made of experts
	// FileBytes is what the backing takes, DeadBytes what of it holds no record; 0 where the backing is no Tidier.
	FileBytes, DeadBytes int64
}

// Bytes returns the memory that the entries take in this process: Stats.Bytes without answers that are kept elsewhere. It takes no lock.
func (s *Store) Bytes() int64 { return s.bytes.Load() }

// Stats returns the current figures.
func (s *Store) Stats() Stats {
	s.mu.RLock()
	defer s.mu.RUnlock()
	l := s.core.keeper.ledger
	st := Stats{Entries: l.Entries(), Bytes: l.Bytes(), Aliases: s.core.table.aliases, Lacking: len(s.core.table.lacking), Evictions: s.core.evictions, Requests: s.core.hits + s.core.puts, Hits: s.core.hits, Report: s.report}
	st.LastFlush, st.Faults = s.lastFlush, s.core.faults+int64(l.Faults())
	if s.core.dirty != nil {
		st.Dirty = s.core.dirty.len()
	}
	st.Unwritten = s.core.unwritten()
	st.Panel = s.core.keeper.panelStats()
	if t, ok := s.opt.Backing.(Tidier); ok {
		st.FileBytes, st.DeadBytes = t.Space()
	}
	return st
}
