// Package observe has what watches requests: metrics, prices, the access log, spans, history, misses, alignment, the window of what-if, and
// the pairs for review. Each is an [Observer], and all of a proxy are in one [List].
//
// The path of a request fills an [Outcome] and calls [List.Ended] when the request has ended. It does not know who reads it. A purge calls
// [List.Forget], which reaches every observer: what an observer keeps of prompts has no other way to be forgotten, and needs none.
//
// Three things are no outcome, and are called while a request is under way: the children of a span, because they are timed where they happen;
// the reason of a miss, because it is written into the header of the answer; and the counter of faults, because most faults belong to no
// request.
package observe

import (
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"reprise/proxy/cache"
	"reprise/proxy/canon"
	"reprise/proxy/tracing"
	"reprise/proxy/upstream/usage"
	"reprise/store"
	"reprise/topics/reuse/evidence"
)

// Observer watches requests. It is safe for concurrent use, and no request waits long for it.
type Observer interface {
	// Ended reads the outcome of a request, of a call of the upstream, or of both. It keeps no reference to o, which is used again.
	Ended(o *Outcome)
	Memory
}

// Memory is what keeps something of requests.
type Memory interface {
	// Forget drops what is kept of the prompts that a purge of f concerns, or more than that. Figures without a text stay. A memory of
	// texts asks [Stamp.Stale] under the lock that Forget takes, and keeps nothing of a stale outcome.
	Forget(f store.Filter)
}

// Result is how a request was answered. Every request has exactly one.
type Result uint8

// The results, as X-Cache spells them.
const (
	Exact    Result = iota // the answer to an equal request, or to one recorded as its alias
	Semantic               // the answer to a request of the same meaning
	Shared                 // the answer of an equal request's flight
	Stale                  // expired, but the upstream failed
	Miss                   // the upstream's answer
	Bypass                 // passed through: the cache took no part
	Refused                // answered with an error of our own: bad input, upstream unreachable or cut
	Gone                   // the client left before its answer
	Results
)

// ResultNames are the names of the results.
var ResultNames = [Results]string{"exact", "semantic", "shared", "stale", "miss", "bypass", "error", "client-gone"}

func (r Result) String() string { return ResultNames[r] }

// Outcome is what became of a request, of a call of the upstream, or of both: a request that passes through is also a call. The call of a
// flight has an outcome of its own, because it may end long after the request that started it.
type Outcome struct {
	// What was asked, and by whom.
	Came                     Stamp
	Tenant, Namespace, Model string         // the tenant is a digest
	Route                    string         // the path of the API; "": the endpoint is not cached
	Endpoint                 string         // the name of the API; "": it is not cached
	Prompt                   string         // "": it is not known, or what is asked is no text
	Stream                   bool           // the client asked for a stream
	NoStore                  bool           // the client wants nothing of it to be kept
	Request                  *cache.Request // as the cache has it; nil: the cache took no part
	Span                     *tracing.Span  // of the request; nil: it has none

	// How the request was answered.
	Answered       bool // false: only a call of the upstream has ended
	Result         Result
	At             time.Time     // when it ended
	Took           time.Duration // from its arrival
	ID, UpstreamID string        // of the request, from the client or made by the proxy; and what the upstream has given to it
	Method, Scheme string
	Path           string        // as the client has sent it
	Upstream       string        // the name of the one that answered
	Waited         time.Duration // that the upstream took
	Status         int           // 0: no answer was begun
	Bytes          int64         // of the answer's body
	Header         http.Header   // of the answer: its last Cache-Status is the proxy's own
	Entry          *store.Entry  // the stored answer that was served; nil: there is none
	Band           int           // the similarity of a hit by meaning in hundredths, rounded down to a multiple of 5
	Missed         Missed        // why there was no stored answer; nil: it is not known

	// What was sent to an upstream that keeps prefixes, as segments of a body; nil: nothing was.
	Segments []canon.Segment
	Body     []byte

	// What a search by meaning has found; nil: there was none. Reused is the stored answer of it that was served; nil: none was.
	Found  *cache.Finding
	Reused *cache.Hit

	// The call of the upstream that has ended.
	Call Call

	// How a stored answer that a request has found compares with the upstream's, which may be known long after the request has ended: then
	// Request is the only other field.
	Compared evidence.Outcome
}

// Call is a call of the upstream that has ended. The zero value is none, or one whose tokens are not counted.
type Call struct {
	Status    int    // of its answer
	Model     string // that has answered
	Used      usage.Usage
	Took      time.Duration // 0: it is not timed
	Span      *tracing.Span
	Kept      *store.Entry // that was made of the answer, without the answer; nil: none
	Shortened string       // what has made the life of Kept another one than that of the settings
	NotKept   string       // why there is none; "": there is, or nothing was to be kept
	Text      string       // what the answer says, as long as the outcome is read; "": it cannot be compared
	NoText    string       // why not
}

// Missed is why a request missed, as package misses finds it.
type Missed interface {
	Kind() string // one word
}

// Saved is how many tokens the upstream did not have to read or make.
func (o *Outcome) Saved() int64 {
	if o.Entry == nil {
		return 0
	}
	return o.Entry.InputTokens + o.Entry.OutputTokens
}

// Place is the name of the API, or the path as it may be shown.
func (o *Outcome) Place() string {
	if o.Endpoint != "" {
		return o.Endpoint
	}
	return Path(o.Path)
}

// Why is the reason in the Cache-Status of an answer: its detail, or else why the request was forwarded.
func (o *Outcome) Why() string {
	all := o.Header["Cache-Status"]
	if len(all) == 0 || !strings.HasPrefix(all[len(all)-1], "reprise") {
		return ""
	}
	own := all[len(all)-1]
	if _, detail, ok := strings.Cut(own, `; detail="`); ok {
		return strings.Replace(strings.TrimSuffix(detail, `"`), "why=", "", 1)
	}
	_, fwd, _ := strings.Cut(own, "; fwd=")
	fwd, _, _ = strings.Cut(fwd, ";")
	return fwd
}

// Stamp says when a request came, by the purges before it.
type Stamp struct {
	list   *List
	purges uint64
}

// Stale reports whether a purge has begun since the request came: it may be one of those that the purge concerns.
func (s Stamp) Stale() bool { return s.list != nil && s.list.purges.Load() != s.purges }

// List has the observers of a proxy, and its other memories of requests.
type List struct {
	observers []Observer
	memories  []Memory // those of the observers first
	faults    Faults
	purges    atomic.Uint64
}

// Faults takes the error of an observer that has panicked.
type Faults interface{ Unobserved(err error) }

// NewList returns the list of some observers, which read each outcome in this order, and of other memories.
func NewList(faults Faults, observers []Observer, others ...Memory) *List {
	l := &List{observers: observers, faults: faults}
	for _, one := range observers {
		l.memories = append(l.memories, one)
	}
	l.memories = append(l.memories, others...)
	return l
}

// Stamp is that of a request which comes now.
func (l *List) Stamp() Stamp { return Stamp{l, l.purges.Load()} }

// Ended passes an outcome to all observers. A panic of one is a fault, and neither the others nor the request notice it.
func (l *List) Ended(o *Outcome) {
	for next := 0; next < len(l.observers); {
		next = l.endedFrom(next, o)
	}
}

// endedFrom passes an outcome to the observers from the i-th on, until one panics, and returns the place of the next.
func (l *List) endedFrom(i int, o *Outcome) (next int) {
	defer func() {
		if v := recover(); v != nil {
			l.faults.Unobserved(fmt.Errorf("%T: panic: %v\n%s", l.observers[i], v, debug.Stack()))
			next = i + 1
		}
	}()
	for ; i < len(l.observers); i++ {
		l.observers[i].Ended(o)
	}
	return i
}

// Forget makes all memories forget what a purge of f concerns. Requests that came before are stale from its start on.
func (l *List) Forget(f store.Filter) {
	l.purges.Add(1)
	for _, one := range l.memories {
		one.Forget(f)
	}
}
