package proxy

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"reprise/proxy/answer"
	"reprise/proxy/cache"
	"reprise/proxy/observe/misses"
	"reprise/proxy/tracing"
	"reprise/proxy/upstream"
	"reprise/store"
)

// The path of a request that may be answered from the cache:
//
//	answer ─► once ─► exact ──────────────────────────────► hit ─► replay
//	  ▲        │                                             ▲
//	  │        └► join ─► lead ─► run ─► exact, search ──────┤
//	  │             │              └► led ─► fetch ─► instead ┘
//	  │             │                         └► upstream.Call ─► a recording
//	  │             └─► wait ─────────────────► relay ◄───────────┘
//	  └── again: what was found is gone
//
// answer is the only loop here. It looks again if what was found is no answer to this client after all, before a byte of it was written: a purge
// has removed it, it cannot be put into the form that the client asked for, or it is an error that another client's credential has caused. The
// first may happen a few times, the second three times (see unfit), the last once. An answer to a part of the items that does not fit the others
// takes two turns more at most. The other loop is that of package upstream, over replicas.
//
// A request asks the upstream once, and a second time only if the upstream has failed, a stored answer was to replace that failure, and is gone
// in turn, or if its answer to a part of the items does not fit the others (see items.go). So of n replicas it causes 2(n+1) calls at most, by the
// bound of package upstream, and a request that passes through n: no field is added to that.

// work is a request under way, from the first look into the cache to the end of its answer. A flight goes on with that of its leader, but not
// with w, v and what writes the answer: they belong to the handler.
type work struct {
	s *Server
	r request
	w http.ResponseWriter
	v *visit

	alone  bool       // it does not share a flight
	form   bool       // an answer could not be put into its form: it shares a flight with others that are in the same place
	stale  *cache.Hit // an expired answer, to be served if the upstream fails
	sent   bool       // to an upstream
	passes bool       // no stored answer is looked for any more
	lead   lead       // among the processes that share a store

	known  *known         // of its items; nil: it has none, or nothing is looked up
	found  *cache.Finding // of the last search by meaning; nil: there was none
	reused *cache.Hit     // what it has found, and is served
	detail []string       // for the response's header: what prevented a hit
	miss   *misses.Missed // why it missed

	// The answer of a flight while it is written to the client.
	o      *outcome
	reader *upstream.Reader
	status *cacheStatus
}

// mostTurns is how often a request looks for a stored answer while each that it finds is purged. Each turn takes a purge, or the moment in
// which a process that shares the store has lost sight of the others.
const mostTurns = 8

// answer writes the answer.
func (x *work) answer() (Result, error) {
	result, err := x.once()
	for turn := 1; x.again(err, turn); turn++ {
		result, err = x.once()
	}
	x.ended(result, err)
	x.s.faults.logRequest(x, result)
	return result, err
}

// Nothing has been written yet where these are the errors of a turn.
var (
	errPurged = errors.New("the answer was purged")
	errOthers = errors.New("the failure may concern another client alone")
)

// again reports whether what a turn has found, which ended with err, is no answer to this client, and prepares another turn.
func (x *work) again(err error, turn int) bool {
	failed, unfit := errors.AsType[*formError](err)
	switch {
	case err == errOthers:
		x.alone = true
		return true
	case err == errItems: // the next turn asks for all items at once, with those who are in the same place
		x.passes = turn > 1
	case err == errPurged:
		x.passes = turn >= mostTurns || x.sent
	case unfit:
		x.unfit(failed.entry)
	default:
		return false
	}
	x.stale, x.known, x.found, x.reused, x.miss, x.detail = nil, nil, nil, nil, nil, nil
	if x.passes {
		x.r.d.NoCache, x.r.req.NoCache = true, true
	}
	return true
}

// unfit prepares a turn after an answer that cannot be put into the client's form. What is kept of it, if anything, is e: the request looks
// beside that, and its own answer will be kept there. It waits from now on only with requests that go on in the same way, and so in the same
// form; where even these get an answer in the other form, because that is what the upstream sends, it asks for one of its own.
func (x *work) unfit(e *store.Entry) {
	beside := x.r.req.Key != store.Key(x.r.Key)
	switch {
	case beside || x.form && e == nil:
		x.alone, x.passes = true, true
	case e != nil:
		x.r.req.Beside(e)
	}
	x.form = true
}

// inForm returns h, or what is kept beside it where it cannot be put into the client's form; nil: there is nothing. It is for answers in place of
// an error: elsewhere again looks there.
func (x *work) inForm(h *served) *served {
	serves := func(h *served) bool { return h == nil || h.failed != nil || fits(h.frozen, x.r.Stream) }
	if serves(h) {
		return h
	}
	ctx, q, result := x.r.http.Context(), x.r.req, Exact
	q.Beside(h.entry)
	found, stale, err := x.s.cache.Lookup(ctx, &q)
	if x.s.faults.degraded(err); found == nil {
		found, result = x.s.cache.Stale(ctx, &q, stale), Stale
	}
	if found == nil {
		return nil
	}
	if h = x.r.serve(found, result); !serves(h) {
		return nil
	}
	return h
}

// ended notes for those who watch what became of the request in the cache.
func (x *work) ended(result Result, err error) {
	o := &x.v.seen
	o.Found, o.Reused = x.found, x.reused
	if x.sent {
		x.r.forwardedTo(o)
	}
	if result == Miss && err == nil && x.miss != nil {
		o.Missed = x.miss
	}
}

// once writes the answer to an equal request from the store, or that of a flight.
func (x *work) once() (Result, error) {
	if hit := x.exact(x.r.http.Context()); hit != nil {
		return x.hit(hit)
	}
	f, leads := x.join()
	if leads {
		defer x.run(f)()
	} else {
		defer x.s.flights.Leave(f)
	}
	if err := x.wait(f, leads); err != nil {
		return Refused, errClientGone
	}
	o, err := f.Outcome()
	switch {
	case err != nil && leads:
		return Refused, x.goneOr(err)
	case err != nil:
		if hit := x.staleHit(); hit != nil { // an expired answer of its own
			return x.hit(hit)
		}
		return Refused, err
	case o.served != nil:
		result, err := x.hit(o.served) // for all who waited: the request was not forwarded
		if err != nil {
			x.s.flights.Seal(f) // another request must not find this outcome again
		}
		return result, err
	}
	return x.relay(o, leads)
}

// join joins the flight of the key and the ids of the conversation, or makes it. A request with directives gets a flight of its own, because
// they may change the outcome.
func (x *work) join() (f *flight, leads bool) {
	if x.alone || x.r.d.private() {
		return x.s.flights.Solo(), true
	}
	key := x.r.set.FlightKey(x.r.Conversation())
	if x.form {
		key = store.Key(key).Beside()
	}
	return x.s.flights.Join(key)
}

// wait waits for the outcome of f.
func (x *work) wait(f *flight, leads bool) error {
	if !leads {
		defer x.r.span.Child(tracing.Wait).End()
	}
	return f.Wait(x.r.http.Context())
}

// run runs f until it has an outcome. If the client leaves meanwhile while others wait, this request goes on for them; if none does,
// f is cancelled. The caller must call leave when it needs the outcome no more.
func (x *work) run(f *flight) (leave func()) {
	stays := context.AfterFunc(x.r.http.Context(), func() { x.s.flights.Leave(f) })
	x.r.mem.Hold() // the flight may outlive this request
	x.s.flights.Run(f, x.find, x.r.mem)
	return func() {
		if stays() {
			x.s.flights.Leave(f)
		}
		if o, err := f.Outcome(); err == nil && o.filling != nil {
			o.filling.Detach()
		}
	}
}

// find finds the outcome of f: an entry, or the upstream's answer. It reports whether f has ended: an answer is still to be read.
func (x *work) find(f *flight) (ended bool) {
	if hit := x.exact(f.Context()); hit != nil { // it may have been stored since the first lookup
		f.Publish(&outcome{served: hit})
		return true
	}
	hit := x.search(f.Context())
	switch {
	case hit != nil:
		f.Publish(&outcome{served: hit})
	case x.r.d.OnlyIfCached:
		f.Fail(errOnlyIfCached)
	default:
		x.missed()
		return x.led(f)
	}
	return true
}

// exact looks the key up. An expired answer is kept for stale-if-error.
func (x *work) exact(ctx context.Context) *served {
	defer x.r.span.Child(tracing.Exact).End()
	hit, stale, err := x.s.cache.Lookup(ctx, &x.r.req)
	x.s.faults.degraded(err)
	if stale != nil && !x.passes {
		x.stale = stale
	}
	if hit == nil {
		if x.known == nil || !x.known.away {
			x.known = x.r.lookItems(ctx)
		}
		if x.known != nil && x.known.found == len(x.r.Items) {
			return x.r.joined(x.known.hits, Exact)
		}
		return nil
	}
	h := x.r.serve(hit, Exact)
	if h != nil && hit.Alias {
		h.status.detail = append(h.status.detail, "alias")
	}
	return h
}

// staleHit is the expired answer, where it may be served because the upstream has failed. By then it may be older than
// stale-if-error allows.
func (x *work) staleHit() *served {
	stale := x.s.cache.Stale(x.r.http.Context(), &x.r.req, x.stale)
	hit := x.staleItems()
	if stale != nil {
		hit = x.inForm(x.r.serve(stale, Stale))
	}
	if hit != nil {
		hit.status.detail = append(hit.status.detail, "stale-if-error")
	}
	return hit
}

// search looks for an answer by meaning, and notes in the detail of the response what prevents one.
func (x *work) search(ctx context.Context) *served {
	found, err := x.s.cache.Find(ctx, &x.r.req)
	x.s.faults.degraded(err)
	x.found, x.reused, x.detail = found, nil, nil
	if x.r.ExactOnly != "" {
		x.detail = append(x.detail, "exact-only="+x.r.ExactOnly)
	}
	if found.Degraded != "" {
		x.detail = append(x.detail, "degraded="+found.Degraded)
	}
	if found.Nothing {
		x.detail = append(x.detail, "ask=none")
	}
	for _, veto := range found.Vetoes {
		x.detail = append(x.detail, "veto="+string(veto))
	}
	switch {
	case found.Shadow:
		x.detail = append(x.detail, "shadow=hit")
	case found.Explore != nil:
		x.detail = append(x.detail, "explore")
		if t := &found.Verdict.Trust; t.Needed > 0 && !t.Holds() {
			x.detail = append(x.detail, "trust="+t.String())
		}
	}
	if found.Hit == nil {
		return nil
	}
	return x.reuse(found.Hit)
}

// reuse prepares the answer to another prompt that the search has found.
func (x *work) reuse(found *cache.Hit) *served {
	hit, by := x.r.serve(found, Semantic), x.found
	if hit == nil {
		return nil
	}
	x.reused = found
	hit.vector, hit.band = by.Vector, by.Band()
	hit.status.detail = append(append(hit.status.detail, foundBy(&by.Verdict, by.Basis)...), x.detail...)
	if found.Topic != 0 {
		hit.status.detail = append(hit.status.detail, "topic="+utoa(uint64(found.Topic)))
	}
	return hit
}

// Leads lets one of several processes at a time ask the upstream for a key. Package shared has the one of a shared store.
type Leads interface {
	// Lead returns when this process is to ask the upstream for key: at once where no other does, and otherwise when the other has ended,
	// or after some seconds. again says that it has waited, so that the answer may be stored by now. The caller calls done, once, when its
	// own answer is kept or will not be. No fault is an error: the caller then asks the upstream, as without the others.
	Lead(ctx context.Context, key store.Key) (again bool, done func())
}

// lead is a lead among the processes that share a store.
type lead struct {
	once sync.Once
	done func() // nil: there is none
}

// end ends the lead: the answer is kept, or will not be.
func (l *lead) end() {
	if l.done != nil {
		l.once.Do(l.done)
	}
}

// led is fetch, where processes share their flights: while another process asks the upstream for the same key, this one waits, and
// looks for the answer then. A request whose flight no other may share takes no part.
func (x *work) led(f *flight) (ended bool) {
	if x.s.opts.Leads == nil || x.alone || x.r.d.private() {
		return x.fetch(f)
	}
	waiting := x.r.span.Child(tracing.Wait)
	again, done := x.s.opts.Leads.Lead(f.Context(), x.r.req.Key)
	waiting.End()
	x.lead = lead{done: done}
	handed := false // to the answer that fetch has begun
	defer func() {
		if !handed {
			x.lead.end()
		}
	}()
	if again {
		x.r.req.Asked = false
		if hit := x.exact(f.Context()); hit != nil {
			f.Publish(&outcome{served: hit})
			return true
		}
	}
	ended = x.fetch(f)
	handed = !ended
	return ended
}

// hit writes an answer from the store.
func (x *work) hit(h *served) (Result, error) {
	if h.failed != nil {
		return Refused, h.failed
	}
	from := h.hits
	if from == nil {
		from = []*cache.Hit{h.found}
	}
	err := x.replay(h.frozen, &h.status, from...)
	if err == nil {
		if h.result == Exact {
			x.s.readings.keep(x.r.reading, x.r.req.Epoch, x.s.cache.Epoch)
		}
		x.r.span.Link(tracing.Origin(h.frozen.Origin))
		x.v.seen.Entry, x.v.seen.Band = h.entry, h.band
		x.s.hints.answered(&x.r)
		if h.hits != nil {
			x.touchItems(h.hits)
		} else {
			x.touch(h.entry, h.vector)
		}
	}
	return h.result, err
}

// touch counts a use of e, which answered the request, after the answer is written.
func (x *work) touch(e *store.Entry, vector []float32) {
	if x.s.cache.Touch(&x.r.req, e, vector) {
		x.flush() // the answer does not wait
		x.s.faults.degraded(x.s.cache.Settle())
	}
}

// flush sends what has been written. An error means that the client has left, and then the next write fails too.
func (x *work) flush() { _ = http.NewResponseController(x.w).Flush() }

// formError says that an answer cannot be put into the form that the client asks for. Nothing has been written yet.
type formError struct {
	entry *store.Entry // made of it; nil: none
	err   error
}

func (e *formError) Error() string { return "replay: " + e.err.Error() }

// replay writes a finished answer, with a new id and time, in the form that the client asked for. from is where it, or its parts, were
// found; none for an answer that the upstream gave to this request's own flight. Everything that a request holds of the cache passes here: this is the
// moment at which it is checked that no purge has removed it.
func (x *work) replay(z *answer.Frozen, status *cacheStatus, from ...*cache.Hit) error {
	if !x.r.chargeHit(len(z.Body)) {
		return errNoMemory
	}
	var at time.Time
	var entry *store.Entry
	if len(from) > 0 {
		at, entry = from[0].At, from[0].Entry
	} else {
		at = x.s.opts.Now()
	}
	buf := replayBuffers.get()
	defer replayBuffers.put(buf)
	random := nonce()
	body, contentType, err := z.Replay((*buf)[:0], answer.ReplayOptions{ID: x.r.family.ReplayID(random, originalID(z)), Nonce: random,
		Created: at.Unix(), Stream: x.r.Stream, IncludeUsage: x.r.IncludeUsage})
	if err != nil {
		return &formError{entry, err}
	}
	*buf = body
	for _, hit := range from {
		if !x.mayServe(hit) {
			return errPurged
		}
	}
	h := x.w.Header()
	h["Content-Type"] = contentTypes.of(contentType)
	if origin, ok := x.r.http.Header["Origin"]; ok {
		// A page may read the answer: its browser has sent JSON to another site only after the upstream had allowed it (a preflight).
		h["Access-Control-Allow-Origin"], h["Vary"] = origin[:1], []string{"Origin"}
	}
	own := *status // which others may share, whose requests had other parts that are ignored
	own.ignored = x.r.Ignored
	own.write(h, len(body))
	x.w.WriteHeader(http.StatusOK)
	x.w.Write(body) // an error means that the client has left
	return nil
}

// mayServe reports whether no purge has removed what was found, and it is of the client's own tenant: an answer of another is never served,
// whatever the records of a shared store say.
func (x *work) mayServe(hit *cache.Hit) bool {
	return x.s.cache.Serves(hit) && (hit.Entry.Labels == nil || hit.Entry.Tenant == x.r.tenant)
}

// goneOr is err, or errClientGone if the client has left.
func (x *work) goneOr(err error) error {
	if x.r.http.Context().Err() != nil {
		return errClientGone
	}
	return err
}
