package proxy

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"reprise/proxy/cache"
	"reprise/proxy/internal/budget"
	"reprise/proxy/observe"
	"reprise/proxy/tracing"
	"reprise/proxy/upstream"
	"reprise/proxy/upstream/dialect"
	"reprise/proxy/upstream/usage"
)

// flight is one key on its way to an answer, which all callers with that key wait for.
type flight = upstream.Flight[*outcome]

// outcome is what a flight found: an answer from the cache, or the upstream's.
type outcome struct {
	served *served             // from the cache; or
	rec    *upstream.Recording // from the upstream, perhaps still being written

	// With rec:
	filling    *upstream.Filling // copies the answer into rec
	replica    *upstream.Replica // that answered
	measured   bool              // the upstream's client counts its tokens
	foreign    bool              // another model has answered than the one asked for
	asker      http.Header       // of the request that the upstream answered
	found      *finding          // what the search by meaning found
	origin     tracing.Origin    // the call that made the answer
	addedUsage bool              // the stream reports its usage because the proxy asked for it
	start      time.Time         // when the upstream was asked
	took       atomic.Int64      // nanoseconds that its answer took; 0 before that has ended
	kept       *keptInfo         // set before rec ends: whether it was stored
	done       <-chan struct{}   // closed when the flight has ended
}

// Release takes back what the recording was charged.
func (o *outcome) Release() {
	if o.rec != nil {
		o.rec.Release()
	}
}

// Abort cuts the recording.
func (o *outcome) Abort(err error) {
	if o.rec != nil {
		o.rec.Finish(err)
	}
}

// fetch asks the upstream and publishes the recording into which its answer is copied, for every waiter of f. It reports whether f has
// ended.
func (q *query) fetch(f *flight, found *finding) (ended bool) {
	s, ctx := q.s, f.Context()
	start := s.opts.Now()
	reply, err := q.callWithin(ctx, found)
	if hit := q.instead(reply, err, found); hit != nil {
		if err == nil {
			reply.Body.Close()
			reply.Span.End()
			s.budget.End()
		}
		f.Publish(&outcome{served: hit})
		return true
	}
	if err != nil {
		if ctx.Err() == nil && err != errNoMemory && !errors.Is(err, upstream.ErrOverloaded) {
			s.faults.report(ctx, "upstream", err)
		}
		f.Fail(err)
		return true
	}
	o := &outcome{rec: upstream.NewRecording(reply.StatusCode, reply.Header), replica: reply.Replica, foreign: reply.Foreign, measured: reply.Measured, asker: q.http.Header, found: found, start: start,
		origin: reply.Span.Origin(), addedUsage: slices.Contains(reply.Added, dialect.StreamUsage), done: f.Done()}
	o.rec.ChargeTo(s.budget.Account(budget.Recordings), budget.Call)
	body := &metered{ReadCloser: reply.Body, meter: usage.NewMeter(), span: reply.Span}
	a := &fetched{query: q, f: f, o: o, body: body}
	q.outcome(&a.seen)
	if a.seen.Found = found.Finding; q.miss != nil {
		a.seen.Missed = q.miss
	}
	o.filling = o.rec.Fill(ctx, body, upstream.Bounds{Length: reply.ContentLength, Whole: s.opts.MaxEntryBytes,
		Patience: patience(s.live.Load().clients.Write)}, a)
	f.Publish(o)
	return false
}

// instead is a stored answer to be served because the upstream has failed before its first byte: an expired one, or one that would have
// been served if it were not to be compared. The second replaces every error, because without the comparison there would be none.
func (q *query) instead(reply *upstream.Reply, err error, found *finding) *served {
	if err != nil || reply.StatusCode >= http.StatusBadRequest {
		if hit := q.candidate(found); hit != nil {
			return hit
		}
	}
	if err != nil || allowsStale(reply.StatusCode) {
		return q.staleHit()
	}
	return nil
}

// callWithin is call, which ends early where the upstream takes too long over an answer that is only to be compared with a stored one.
func (q *query) callWithin(ctx context.Context, found *finding) (*upstream.Reply, error) {
	if !found.Fallback {
		return q.call(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	var decided atomic.Bool // by the answer or by the timer, whichever comes first
	timer := time.AfterFunc(explorePatience(found), func() {
		if cache.Fallback(ctx, q.s.cache, &q.req, found.Finding) != nil && decided.CompareAndSwap(false, true) { // after a purge only the upstream has an answer
			cancel()
		}
	})
	reply, err := q.call(ctx)
	timer.Stop()
	if err != nil {
		cancel()
		return nil, err
	}
	reply.Body = &cancelled{reply.Body, cancel}
	if !decided.CompareAndSwap(false, true) {
		reply.Body.Close()
		reply.Span.End()
		q.s.budget.End()
		return nil, context.Canceled
	}
	return reply, nil
}

// cancelled is a body whose Close ends its context.
type cancelled struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (c *cancelled) Close() error {
	defer c.cancel()
	return c.ReadCloser.Close()
}

// call sends the request to the upstream. The caller must End the call in the budget, or pass its charge on, once there is a reply.
func (q *query) call(ctx context.Context) (reply *upstream.Reply, err error) {
	if !q.s.budget.Begin() {
		return nil, errNoMemory
	}
	defer func() {
		if reply == nil { // also after a panic
			q.s.budget.End()
		}
	}()
	body, err := q.forwarded()
	if err != nil {
		return nil, err
	}
	q.sent = true
	chain := q.s.hints.chain(q)
	defer q.s.hints.drop(chain)
	want := q.s.hints.intent(q, chain)
	if want != (dialect.Intent{}) && !q.charge(len(body)) { // the dialect edits a copy
		return nil, errNoMemory
	}
	return q.s.upstream.Call(ctx, upstream.Request{Tenant: q.tenant, Original: q.http, Body: body, Model: q.Model, Chain: chain, Want: want,
		Rate: q.s.hints.missed(q, chain), Span: q.span})
}

// fetched is an answer of the upstream that is being copied into a recording. It implements upstream.Owner.
type fetched struct {
	*query
	f    *flight
	o    *outcome
	body *metered
	seen observe.Outcome // of the call
}

// metered is the body of an answer, from which the tokens that it took are read.
type metered struct {
	io.ReadCloser
	meter *usage.Meter
	span  *tracing.Span // of the call
	begun bool
}

func (m *metered) Read(p []byte) (int, error) {
	n, err := m.ReadCloser.Read(p)
	if n > 0 && !m.begun {
		m.begun = true
		m.span.Event(tracing.FirstByte)
	}
	m.meter.Write(p[:n])
	return n, err
}

// called returns the call of the upstream whose answer meter has read, notes its tokens in the span of the call, and gives up the meter. model
// is "" where it is not known.
func called(model string, status int, meter *usage.Meter, span *tracing.Span) observe.Call {
	if status/100 != 2 {
		meter.Free()
		return observe.Call{Status: status, Span: span}
	}
	if span.Recording() {
		span.Text(tracing.ResponseModel, meter.Model())
	}
	model = cmp.Or(model, meter.Model())
	used := meter.End()
	if used.Prompt != 0 || used.Output != 0 {
		span.Used(used.Prompt, used.Cached, used.Written, used.Output)
	}
	return observe.Call{Status: status, Model: model, Used: used, Span: span}
}

// Seal keeps further requests from joining the flight.
func (a *fetched) Seal() (readers int) { return a.s.flights.Seal(a.f) }

// End stores the answer if it may be kept, and ends the flight. err is why the answer was cut, nil if it was not.
func (a *fetched) End(err error) {
	s, ctx, rec := a.s, a.f.Context(), a.o.rec
	took := s.opts.Now().Sub(a.o.start)
	a.o.took.Store(int64(took))
	took = max(took, processingTime(rec.Header))
	seen := &a.seen
	seen.Call = called(a.o.replica.Answers(a.Model), rec.Status, a.body.meter, a.body.span)
	seen.Call.Took = took
	if !a.o.measured {
		a.o.replica.Reported(seen.Call.Used)
	}
	a.endSpan(err)
	a.o.kept = a.keep(a.o, err, &seen.Call)
	s.observers.Ended(seen)
	seen.Call.Text = "" // a part of what the recording holds
	a.unlead()
	if err != nil && a.o.kept.complete {
		err = nil // cut after its terminal event, by a client that left at [DONE]
	}
	if err != nil && ctx.Err() == nil {
		s.faults.report(ctx, "upstream", err)
	}
	rec.Finish(err)
	a.body.Close()
	s.flights.End(a.f)
}

// endSpan ends the span of the call, whose answer broke off with err.
func (a *fetched) endSpan(err error) {
	switch {
	case err == nil:
	case a.f.Context().Err() != nil:
		a.body.span.Text(tracing.ErrorType, Gone.String())
	default:
		a.body.span.Fail("cut")
	}
	a.body.span.End()
}

// Crash ends the flight after a panic with v.
func (a *fetched) Crash(v any) {
	a.unlead()
	a.body.Close()
	a.body.span.End()
	a.s.flights.Crash(a.f, v)
}

// patience is how long one client may hold up the others that share a large answer, where a write to it may take limit. It is longer
// than that, because the write should fail first: this is for writes without a limit.
func patience(limit time.Duration) time.Duration { return 2 * max(limit, 30*time.Second) }

// needsUsage reports whether the proxy must ask for the usage of a stream in the client's place: a stored answer must have
// it.
func (q *query) needsUsage() bool {
	return q.Stream && !q.IncludeUsage && q.family.UsageOption && !q.d.NoStore
}

// allowsStale reports whether a status is an error in the sense of RFC 5861, for which a stale answer may be served.
func allowsStale(status int) bool {
	switch status {
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// processingTime is the upstream's own figure for the time of an answer, 0 where it gives none.
func processingTime(h http.Header) time.Duration {
	given := h["Openai-Processing-Ms"]
	if len(given) == 0 {
		return 0
	}
	ms, err := strconv.ParseFloat(given[0], 64)
	if err != nil || !(ms > 0) || ms > 1e8 {
		return 0
	}
	return time.Duration(ms * float64(time.Millisecond))
}
