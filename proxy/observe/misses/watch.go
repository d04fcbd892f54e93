package misses

import (
	"math"
	"sync"
	"time"

	"reprise/proxy/observe"
	"reprise/store"
)

// Options bound what a Watch keeps.
type Options struct {
	Bytes int // of all that is remembered of answers, and of examples; default DefaultBytes
	// Requests is how many requests were looked for in the cache since the start, hits too; nil: Report has no share of them.
	Requests func() int64
	Now      func() time.Time // default time.Now

	Prompts bool // examples of misses have prompts
	// Known reports whether a field of a body is one of an API's. After a purge of an entry only such names stay; nil: none is.
	Known func(field string) bool
	// Stored returns the prompt of an entry, and whether there is such an entry; nil: examples have the numbers of entries alone.
	Stored func(entry uint64) (prompt string, there bool)
}

// DefaultBytes is how many bytes are taken at most: for some 30,000 answers where each has a scope of its own, twice as many where they share
// scopes.
const DefaultBytes = 16 << 20

// Life is what has become of an entry.
type Life uint8

// The lives.
const (
	Gone Life = iota
	Stale
	Fresh
)

// Watch finds why requests missed. It is safe for concurrent use. Its lock is held for a microsecond or two, and while it is held nothing else
// is called but Options.Requests, and what says whether a purge has begun.
type Watch struct {
	o Options

	mu       sync.Mutex // protects what follows
	index    index
	window   window
	examples examples
	emptied  time.Time // by the last purge of more than one entry; zero: there was none
	forgot   time.Time // by the last purge of one entry
}

// NewWatch returns a Watch that remembers nothing.
func NewWatch(o Options) *Watch {
	if o.Bytes <= 0 {
		o.Bytes = DefaultBytes
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Requests == nil {
		o.Requests = func() int64 { return 0 }
	}
	w := &Watch{o: o}
	w.clearLocked()
	return w
}

// kept remembers that the answer to r is kept in an entry until a time; the zero time is for ever.
func (w *Watch) kept(came observe.Stamp, r *Request, id uint64, until time.Time) {
	if r.Asks == 0 {
		return
	}
	end := secondsOf(until)
	w.mu.Lock()
	defer w.mu.Unlock()
	x := &w.index
	var texts []Text
	if s := x.scopes[r.Scope]; (s == nil || !s.known) && r.System != nil {
		func() {
			w.mu.Unlock()
			defer w.mu.Lock() // also after a panic
			texts = r.System()
		}()
	}
	if came.Stale() {
		return
	}
	s := x.scope(r, texts)
	place := x.place(r)
	if old := x.at(x.places[place]); old != nil && old.scope == s {
		old.id, old.until, old.gone, old.reason = id, end, false, x.number(r.Short)
		return
	}
	x.add(record{own: x.own(r), asks: r.Asks, place: place, behind: r.Behind, talk: r.Talk, id: id, until: end, owner: ownerOf(r), scope: s, reason: x.number(r.Short)})
}

// secondsOf is a time in seconds since 1970; the zero time is never.
func secondsOf(t time.Time) int64 {
	if t.IsZero() {
		return math.MaxInt64
	}
	return t.Unix()
}

// Found remembers an entry that was kept before the start, or by another process. What its scope is made of is known only where a request in
// it has been seen, and its conversation is not known where it has one.
func (w *Watch) Found(r *Request, id uint64, until time.Time, turns bool) {
	if !turns {
		w.kept(observe.Stamp{}, r, id, until)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	x := &w.index
	own := x.own(r)
	if last := x.at(x.owns[own]); last != nil && last.id == id {
		return
	}
	s := x.scope(r, nil)
	x.add(record{own: own, asks: r.Asks, behind: r.Behind, id: id, until: secondsOf(until), owner: ownerOf(r), scope: s})
}

// notKept remembers why the answer to r was not kept.
func (w *Watch) notKept(came observe.Stamp, r *Request, reason string) {
	if r.Asks == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	x := &w.index
	place := x.place(r)
	if old := x.at(x.places[place]); old != nil && old.scope == nil {
		old.reason = x.number(reason)
	} else if !came.Stale() {
		x.add(record{place: place, owner: ownerOf(r), reason: x.number(reason)})
	}
}

// Missed is a request that missed, with the reason.
type Missed struct {
	*Diagnosis
	Request *Request
}

// Kind is the kind of the reason.
func (m *Missed) Kind() string { return string(m.Why) }

// Ended counts a miss, and remembers what became of the answer to a request that missed: an entry, or why there is none.
func (w *Watch) Ended(o *observe.Outcome) {
	m, known := o.Missed.(*Missed)
	switch call := &o.Call; {
	case !known:
	case o.Answered:
		w.count(m.Diagnosis, o)
	case o.NoStore || m.Why == whyForm: // what is remembered is the first answer, beside which that one is kept
	case call.Kept != nil:
		m.Request.Short = call.Shortened
		w.kept(o.Came, m.Request, uint64(call.Kept.ID), call.Kept.Expires)
	case call.NotKept != "":
		w.notKept(o.Came, m.Request, call.NotKept)
	}
}

// Forget forgets everything, the figures and examples of Report too. For a purge of one entry it forgets whatever a prompt may have left: what
// was asked, texts of system prompts, examples, and names of fields that are no API's own, because clients choose them. How many requests
// missed for which reason stays then, as it has no text: a look at one wrong answer must not cost the figures of the last hour.
func (w *Watch) Forget(f store.Filter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if f.Entry != 0 {
		w.forgetTextsLocked()
		w.window.forget(w.o.Known)
		w.forgot = w.o.Now().UTC()
		return
	}
	w.clearLocked()
	w.emptied, w.forgot = w.o.Now().UTC(), time.Time{}
}

// forgetTextsLocked makes index and examples empty.
func (w *Watch) forgetTextsLocked() {
	forExamples := w.o.Bytes / examplesShare
	w.index, w.examples = newIndex(w.o.Bytes-forExamples), newExamples(forExamples)
}

func (w *Watch) clearLocked() {
	w.forgetTextsLocked()
	w.window = window{minute: w.o.Now().Unix() / 60, total: w.o.Requests()}
}
