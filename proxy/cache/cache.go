// Package cache is the response cache without HTTP: what a request finds, what is kept of an answer, and what follows from both
// for entries, topics and the policy.
//
// One request goes through it like this:
//
//	Lookup   the exact key, or an alias of it
//	Find     look the normal form of the prompt up; or else embed the prompt, compare it with the members of its scope, ask the judge;
//	         without a match, route it to a topic
//	Keep     store a complete answer; evicted entries leave the topics
//	Touch    count a hit: recency, importance, the parent in the conversation; see uses
//
// Store and topics are leaves that do not import each other. The cache carries what one returns to the other: which entries left,
// which became more important, which became the anchor of a topic. It makes every change under one lock, in one order, and writes
// each as an Event to its readers (the request log, tests, the log of a shared store). Apply makes the events of such a log happen in
// another cache. The lock is held while store and topics are called; neither calls back.
//
// Where several processes share a store, each has a cache over the metadata of all entries. The answers come from a Remote; a Log
// appends what happens here to the log of that store, and what the others have appended is applied: see Apply.
//
// A fault in embedder, topics, store or policy never fails a request. It is returned as a Fault beside a result that can be used:
// usually the request has no hit.
package cache

import (
	"errors"
	"time"

	"reprise/embed"
	"reprise/policy"
	"reprise/store"
	"reprise/topics"
	"reprise/topics/reuse/evidence"
)

// Event is one change of the cache.
type Event = store.Event

// Options of a Cache.
type Options struct {
	Store  *store.Store   // required; the cache does not close it
	Topics *topics.Topics // required; empty where nothing is compared by meaning. The cache does not close it

	Meaning    bool             // prompts are compared by meaning, of requests that are not ExactOnly
	Embedder   embed.Embedder   // required with Meaning, unless every Request brings its vector; of an embed.Remote see Revive
	EmbedLimit time.Duration    // for embedding one prompt; 0 is none
	Thresholds embed.Thresholds // the gates that Topics was made with; a request may only raise Hit
	// Judge returns the judge that goes by some rates: called by New, and again after each Learn. nil refuses no answer that was found.
	Judge func(*evidence.Rates) Judge
	// Quotes reports whether the answer of an entry quotes words in which what its prompt asks, stored, differs from what is asked: then it does not
	// serve it.
	// nil: none does.
	Quotes func(e *store.Entry, stored, asked string) bool
	// Draw returns random numbers in [0, 1) that decide when to explore; default math/rand. It must be safe for concurrent use.
	Draw func() float64
	// Evidence has what was counted before, and the cache owns it; default: what Store has kept. Then Store keeps it, and Log gets each sample.
	Evidence *evidence.Book
	// Found is called with each entry that was not kept by Keep, and may be found by the form of its prompt: those of before a restart, and those
	// of other processes. base is the scope of requests that find it, and asks and behind are as of Asks. It must not call the cache. nil: none.
	Found func(e *store.Entry, base store.Scope, asks, behind uint64)

	// GivenTopics takes the topic of each request from Request.Topic, where 0 is none. Otherwise the topic is that of the nearest
	// anchor over the route gate.
	GivenTopics bool

	// Readers get every event, with the request that caused it, in the order in which the cache changed. They must not block and
	// must not call the cache.
	Readers []Reader
	// Studied: Request.Passed, Finding.Passed and Finding.Judged are set, for a study of what other settings would do.
	Studied bool

	// Remote has the answers where the store is open with Outside. Log then gets every event, in the same order as the readers and before
	// them, always without a Cause: uses keep their batches and cost no more. The same rules hold for it.
	Remote Remote
	Log    Log
	// Ceiling is the capacity of a shared store, of which another process may be the one that evicts: no answer is kept that would exceed
	// it by more than 0.5 %. Zero is none.
	Ceiling policy.Limit

	Now func() time.Time // default time.Now
}

// Reader reads the log of a cache. by is nil where no request caused the event, as for a purge.
type Reader interface {
	Read(ev *Event, by *Cause)
}

// Log is the Reader that appends to the log of a shared store what happens here first: every event that is not Applied.
type Log interface {
	Reader
	// Overrides reports whether ev, which was read from the log and is about to be applied, comes too late: an own change that is later in
	// the log has happened here already. It is called in the same order as Read.
	Overrides(ev *Event) bool
}

// Cause is the request that caused an event.
type Cause struct {
	*Request
	// ParentKey is the identity of the entry that the request depends on: store.Key.Short of its key. Where that entry is not
	// stored it is the request before in the conversation, which another cache may have; 0 is none.
	ParentKey uint64
}

// Cache answers requests from what is stored. All methods are safe for concurrent use.
type Cache struct {
	opt      Options
	state    *state    // entries and topics, which change in one order
	learner  *learner  // judges what was found
	verdicts *Verdicts // which keys lead to what was found by meaning
	follower *Follower
	answers  answers
	embedder *embedder
}

// New returns a cache over a store and topics. Call Restore before anything else.
func New(o Options) (*Cache, error) {
	if o.Store == nil || o.Topics == nil {
		return nil, errors.New("make cache: a store and topics are required")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &state{store: o.Store, topics: o.Topics, readers: o.Readers, log: o.Log, studied: o.Studied}
	if o.Meaning && o.Judge != nil {
		s.forms = newForms(o.Store, &s.templates)
		s.forms.found = o.Found
	}
	l := newLearner(&o, s.forms, &s.templates)
	v := newVerdicts(&o, l, s)
	s.turns = turns{o.Store, v}
	return &Cache{opt: o, state: s, learner: l, verdicts: v, follower: &Follower{state: s, learner: l}, answers: answers{o.Remote, s},
		embedder: newEmbedder(o.Embedder, o.EmbedLimit)}, nil
}

// Rates returns the estimates by which answers that were found are judged.
func (c *Cache) Rates() *evidence.Rates { return c.learner.Rates() }

// Verdicts returns what takes verdicts on answers that were found by meaning.
func (c *Cache) Verdicts() *Verdicts { return c.verdicts }

// Follower returns what makes changes of other caches happen here.
func (c *Cache) Follower() *Follower { return c.follower }

// Epoch is how many purges have begun. A Request carries that of its arrival.
func (c *Cache) Epoch() uint64 { return c.state.epoch.Load() }

// Degraded reports whether the embedder is left alone for now, after repeated faults.
func (c *Cache) Degraded() bool { return c.embedder.open() }

// Embedder returns the state of an embedder that calls a server, and the error of the last check; "" if it calls none, or if nothing is
// compared by meaning. Revive makes the checks.
func (c *Cache) Embedder() (EmbedderState, error) {
	if !c.opt.Meaning {
		return "", nil
	}
	return c.embedder.state()
}

// Secret is the key with which callers digest credentials; it is kept with the entries.
func (c *Cache) Secret() [32]byte { return c.state.store.Secret() }

// Get returns an entry by its id.
func (c *Cache) Get(id policy.ID) (*store.Entry, bool) { return c.state.store.Get(id) }

// Stats are the figures of a cache.
type Stats struct {
	Store  store.Stats
	Topics topics.Stats
}

// Stats returns the current figures.
func (c *Cache) Stats() Stats {
	c.state.trySettle()
	return Stats{c.state.store.Stats(), c.state.topics.Stats()}
}

// Tick counts a request and returns its number and time.
func (c *Cache) Tick() policy.Tick { return c.state.store.Tick() }
