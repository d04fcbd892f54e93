package proxy

import (
	"context"
	"errors"
	"net/http"
	"time"

	"reprise/proxy/answer"
	"reprise/proxy/cache"
	"reprise/proxy/tracing"
	"reprise/store"
)

// exchange is a query with the writer of its response.
type exchange struct {
	*query
	w http.ResponseWriter
	v *visit
}

// answer writes the answer. If a stored one cannot be put into the form that the client asked for, it is dropped and the
// upstream is asked.
func (x exchange) answer() (Result, error) {
	result, err := x.unpurged()
	if failed, ok := errors.AsType[*replayError](err); ok {
		x.s.faults.report(x.http.Context(), "replay", failed)
		if failed.entry != nil {
			x.s.faults.degraded(x.s.cache.Drop(x.http.Context(), failed.entry))
		}
		x.d.NoCache, x.req.NoCache = true, true
		result, err = x.unpurged()
	}
	x.ended(result, err)
	x.s.faults.logRequest(x.query, result)
	return result, err
}

// ended notes for those who watch what became of the request in the cache.
func (x exchange) ended(result Result, err error) {
	o := &x.v.seen
	o.Found, o.Reused = x.found, x.reused
	if x.sent {
		x.forwardedTo(o)
	}
	if result == Miss && err == nil && x.miss != nil {
		o.Missed = x.miss
	}
}

// errPurged says that a purge has removed the stored answer that was about to be written. Nothing has been written yet.
var errPurged = errors.New("the answer was purged")

// unpurged is once, and again where what it found was purged meanwhile. Each turn takes a purge, or the moment in which a process that
// shares the store has lost sight of the others; after some of them the request goes to the upstream.
func (x exchange) unpurged() (Result, error) {
	for turn := 1; ; turn++ {
		result, err := x.once()
		if !errors.Is(err, errPurged) {
			return result, err
		}
		x.stale = nil
		if turn == mostTurns {
			x.d.NoCache, x.req.NoCache = true, true
		}
	}
}

// mostTurns is how often a request looks for a stored answer while each that it finds is purged.
const mostTurns = 8

// once writes the answer to an equal request from the store, or that of a flight.
func (x exchange) once() (Result, error) {
	if hit := x.exact(x.http.Context()); hit != nil {
		return x.hit(hit)
	}
	f, leader := x.join()
	if leader {
		defer x.lead(f)()
	} else {
		defer x.s.flights.Leave(f)
	}
	if err := x.wait(f, leader); err != nil {
		return Refused, errClientGone
	}
	o, err := f.Outcome()
	switch {
	case err != nil && leader:
		return Refused, x.goneOr(err)
	case err != nil:
		return x.afterFailure(err)
	case o.served != nil:
		result, err := x.hit(o.served) // for all who waited: the request was not forwarded
		if err != nil {
			x.s.flights.Seal(f) // another request must not find this outcome again
		}
		return result, err
	}
	r := newRelay(x, o, leader)
	if !leader && !o.replica.SameCredential(x.http.Header, o.asker) && r.failed() {
		r.reader.Close()
		x.alone = true // the error may concern the leader alone: its key, its limits
		return x.once()
	}
	return r.run()
}

// wait waits for the outcome of f.
func (x exchange) wait(f *flight, leader bool) error {
	if !leader {
		defer x.span.Child(tracing.Wait).End()
	}
	return f.Wait(x.http.Context())
}

// join joins the flight of the key and the ids of the conversation, or makes it. A request with directives gets a flight of its own, because they may change
// the outcome.
func (x exchange) join() (f *flight, leader bool) {
	if x.alone || x.d.private() {
		return x.s.flights.Solo(), true
	}
	return x.s.flights.Join(x.set.FlightKey(x.Conversation()))
}

// lead runs f until it has an outcome. If the client leaves meanwhile while others wait, this request goes on for them; if none does,
// f is cancelled. The caller must call leave when it needs the outcome no more.
func (x exchange) lead(f *flight) (leave func()) {
	stays := context.AfterFunc(x.http.Context(), func() { x.s.flights.Leave(f) })
	x.mem.Hold() // the flight may outlive this request
	x.s.flights.Run(f, x.run, x.mem.Drop)
	return func() {
		if stays() {
			x.s.flights.Leave(f)
		}
		if o, err := f.Outcome(); err == nil && o.filling != nil {
			o.filling.Detach()
		}
	}
}

// afterFailure is for a follower of a flight that failed with err: it may have an expired answer of its own.
func (x exchange) afterFailure(err error) (Result, error) {
	if hit := x.staleHit(); hit != nil {
		return x.hit(hit)
	}
	return Refused, err
}

// hit writes an answer from the store.
func (x exchange) hit(h *served) (Result, error) {
	if h.failed != nil {
		return Refused, h.failed
	}
	err := x.replay(h.frozen, &h.status, h.found)
	if err == nil {
		if h.result == Exact {
			x.s.readings.keep(x.reading, x.req.Epoch, x.s.cache.Epoch)
		}
		x.span.Link(tracing.Origin(h.frozen.Origin))
		x.v.seen.Entry, x.v.seen.Band = h.entry, h.band
		x.s.hints.answered(x.query)
		x.touch(h.entry, h.vector)
	}
	return h.result, err
}

// touch counts a use of e, which answered the request, after the answer is written.
func (x exchange) touch(e *store.Entry, vector []float32) {
	if x.s.cache.Touch(&x.req, e, vector) {
		_ = http.NewResponseController(x.w).Flush() // the answer does not wait; an error means that the client has left
		x.s.faults.degraded(x.s.cache.Settle())
	}
}

// replayError says that an answer could not be put into the form asked for. Nothing has been written yet.
type replayError struct {
	entry *store.Entry // nil: none
	err   error
}

func (e *replayError) Error() string {
	if e.entry == nil {
		return "replay an answer: " + e.err.Error()
	}
	return "replay entry " + utoa(uint64(e.entry.ID)) + ": " + e.err.Error()
}
func (e *replayError) Unwrap() error { return e.err }

// time is the time of an answer: the one at which it was found, or where it comes from an upstream the present.
func (x exchange) time(from *cache.Hit) time.Time {
	if from != nil {
		return from.At
	}
	return x.s.opts.Now()
}

// replay writes a finished answer, with a new id and time, in the form that the client asked for. from is where it was found, nil for
// an answer that the upstream gave to this request's own flight. Everything that a request holds of the cache passes here: this is the
// moment at which it is checked that no purge has removed it.
func (x exchange) replay(z *answer.Frozen, status *cacheStatus, from *cache.Hit) error {
	if !x.chargeHit(len(z.Body)) {
		return errNoMemory
	}
	buf := replayBuffers.get()
	defer replayBuffers.put(buf)
	random := nonce()
	body, contentType, err := z.Replay((*buf)[:0], answer.ReplayOptions{ID: x.family.ReplayID(random, originalID(z)), Nonce: random,
		Created: x.time(from).Unix(), Stream: x.Stream, IncludeUsage: x.IncludeUsage})
	if err != nil {
		failed := &replayError{nil, err}
		if from != nil {
			failed.entry = from.Entry
		}
		return failed
	}
	*buf = body
	if from != nil && (!x.s.cache.Serves(from) || from.Entry.Labels != nil && from.Entry.Tenant != x.tenant) {
		return errPurged // an answer of another tenant is never served, whatever the records of a shared store say
	}
	h := x.w.Header()
	h["Content-Type"] = contentTypes.of(contentType)
	if origin, ok := x.http.Header["Origin"]; ok {
		// A page may read the answer: its browser has sent JSON to another site only after the upstream had allowed it (a preflight).
		h["Access-Control-Allow-Origin"], h["Vary"] = origin[:1], []string{"Origin"}
	}
	own := *status // which others may share, whose requests had other parts that are ignored
	own.ignored = x.Ignored
	own.write(h, len(body))
	x.w.WriteHeader(http.StatusOK)
	x.w.Write(body) // an error means that the client has left
	return nil
}
