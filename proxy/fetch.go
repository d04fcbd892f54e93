package proxy

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/cache"
	"reprise/proxy/internal/clientio"
	"reprise/proxy/observe"
	"reprise/proxy/tracing"
	"reprise/proxy/upstream"
	"reprise/proxy/upstream/dialect"
	"reprise/proxy/upstream/usage"
)

// flight is one key on its way to an answer, which all callers with that key wait for.
type flight = upstream.Flight[*outcome]

// outcome is what a flight found: an answer from the cache, or the upstream's. It is then also what copies that into its recording, and keeps
// it (an upstream.Owner).
type outcome struct {
	served *served // from the cache; or

	x       *work // of the leader
	f       *flight
	known   *known              // of the items, when the upstream was asked for the others
	rec     *upstream.Recording // from the upstream, perhaps still being written
	filling *upstream.Filling   // copies the answer into rec
	reply   *upstream.Reply     // the answer
	cancel  context.CancelFunc  // of the call, where it had a limit of its own; nil: it had none
	start   time.Time           // when the upstream was asked
	origin  tracing.Origin      // the call that made the answer
	took    atomic.Int64        // nanoseconds that its answer took; 0 before that has ended
	meter   *usage.Meter        // of the answer, from which the tokens that it took are read
	begun   bool                // a byte of it has come
	seen    observe.Outcome     // of the call
	stream  bool                // the answer is one

	mu   sync.Mutex   // held while the answer is judged and kept, by Settle or by End
	kept *keptInfo    // set before rec ends, or has its whole answer: whether it was stored
	size int          // bytes that kept is about, where Settle has set it
	call observe.Call // what Settle knows of it
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
func (x *work) fetch(f *flight) (ended bool) {
	s, ctx := x.s, f.Context()
	start := s.opts.Now()
	x.askRest()
	reply, cancel, err := x.callWithin(ctx)
	if hit := x.instead(reply, err); hit != nil {
		if err == nil {
			x.drop(reply, cancel)
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
	o := &outcome{x: x, f: f, known: x.known, rec: upstream.NewRecording(reply.StatusCode, reply.Header), reply: reply, cancel: cancel, start: start, origin: reply.Span.Origin(),
		meter: usage.NewMeter(), stream: answer.IsStream(reply.Header.Get("Content-Type"))}
	o.rec.ChargeTo(s.budget.Account(), clientio.CallCharge)
	x.r.outcome(&o.seen)
	if o.seen.Found = x.found; x.miss != nil {
		o.seen.Missed = x.miss
	}
	o.filling = o.rec.Fill(ctx, o, upstream.Bounds{Length: reply.ContentLength, Whole: s.opts.MaxEntryBytes * int64(max(len(x.r.Items), 1)), Patience: patience(s.live.Load().client)}, o)
	f.Publish(o)
	return false
}

// drop ends a call whose answer is not used.
func (x *work) drop(reply *upstream.Reply, cancel context.CancelFunc) {
	reply.Body.Close()
	reply.Span.End()
	x.s.budget.End()
	if cancel != nil {
		cancel()
	}
}

// instead is a stored answer to be served because the upstream has failed before its first byte: an expired one, or one that would have
// been served if it were not to be compared. The second replaces every error, because without the comparison there would be none.
func (x *work) instead(reply *upstream.Reply, err error) *served {
	if x.passes {
		return nil
	}
	if err != nil || reply.StatusCode >= http.StatusBadRequest {
		if hit := x.candidate(); hit != nil {
			return hit
		}
	}
	if err != nil || allowsStale(reply.StatusCode) {
		return x.staleHit()
	}
	return nil
}

// candidate is the stored answer that was to be compared only, where it may be served because the upstream has failed.
func (x *work) candidate() *served {
	found := x.s.cache.Fallback(x.r.http.Context(), &x.r.req, x.found)
	if found == nil {
		return nil
	}
	hit := x.inForm(x.reuse(found))
	switch {
	case hit == nil || hit.found != found:
		x.reused = nil
	case hit.failed == nil:
		x.s.cache.FellBack(&x.r.req, x.found)
	}
	return hit
}

// explorePatience is how long the upstream may take before an answer that is there is served in place of its own: some times what it took
// for that one.
func explorePatience(f *cache.Finding) time.Duration {
	return max(10*time.Second, min(4*f.Explore.Entry.UpstreamTime, time.Minute))
}

// callWithin is call, which ends early where the upstream takes too long over an answer that is only to be compared with a stored one. Such a
// call must be cancelled in the end.
func (x *work) callWithin(ctx context.Context) (*upstream.Reply, context.CancelFunc, error) {
	if !x.found.Fallback {
		reply, err := x.call(ctx)
		return reply, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	var decided atomic.Bool // by the answer or by the timer, whichever comes first
	timer := time.AfterFunc(explorePatience(x.found), func() {
		if x.s.cache.Fallback(ctx, &x.r.req, x.found) != nil && decided.CompareAndSwap(false, true) { // after a purge only the upstream has an answer
			cancel()
		}
	})
	reply, err := x.call(ctx)
	timer.Stop()
	switch {
	case err != nil:
		cancel()
		return nil, nil, err
	case !decided.CompareAndSwap(false, true):
		x.drop(reply, cancel)
		return nil, nil, context.Canceled
	}
	return reply, cancel, nil
}

// call sends the request to the upstream. The caller must End the call in the budget, or pass its charge on, once there is a reply.
func (x *work) call(ctx context.Context) (reply *upstream.Reply, err error) {
	s, r := x.s, &x.r
	if !s.budget.Begin() {
		return nil, errNoMemory
	}
	defer func() {
		if reply == nil { // also after a panic
			s.budget.End()
		}
	}()
	body, err := r.forwarded(x.known.body(r.body))
	if err != nil {
		return nil, err
	}
	x.sent = true
	chain := s.hints.chain(r)
	defer s.hints.drop(chain)
	want := s.hints.intent(r, chain)
	if want != (dialect.Intent{}) && !r.charge(len(body)) { // the dialect edits a copy
		return nil, errNoMemory
	}
	return s.upstream.Call(ctx, upstream.Request{Tenant: s.account(r.http, r.tenant), Original: r.http, Body: body, Model: r.Model, Chain: chain, Want: want,
		Rate: s.hints.missed(r, chain), Span: r.span})
}

// Read reads the next bytes of the answer.
func (o *outcome) Read(p []byte) (int, error) {
	n, err := o.reply.Body.Read(p)
	if n > 0 && !o.begun {
		o.begun = true
		o.reply.Span.Event(tracing.FirstByte)
	}
	o.meter.Write(p[:n])
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

// calledFor is called for a call of the proxy's own, whose answer, or its beginning, is text.
func calledFor(model string, reply *upstream.Reply, text []byte) observe.Call {
	meter := usage.NewMeter()
	meter.Write(text)
	return called(model, reply.StatusCode, meter, nil)
}

// Seal keeps further requests from joining the flight.
func (o *outcome) Seal() (readers int) { return o.x.s.flights.Seal(o.f) }

// Ended reports whether what has come looks like the whole answer. That of a list of embeddings becomes many entries, and is never settled early.
func (o *outcome) Ended(body []byte) bool {
	return o.rec.Status == http.StatusOK && len(o.x.r.Items) == 0 && o.x.r.family.Answers.Ended(o.stream, body)
}

// Settle stores the answer if it may be kept, before its connection has ended: those who wait for the object, or come later, need not wait for
// that. It reports whether body is the whole answer.
func (o *outcome) Settle(body []byte) (whole bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.kept != nil || !o.stream && !gjson.ValidBytes(body) {
		return false
	}
	took := o.x.s.opts.Now().Sub(o.start)
	o.took.Store(int64(took))
	o.call.Took, o.size = max(took, processingTime(o.rec.Header)), len(body)
	o.kept = o.keep(body, nil, &o.call)
	o.x.lead.end()
	o.Seal() // who comes now looks the answer up
	return true
}

// settled completes call by what Settle has stored, and reports whether that stays. An answer after which an event came, or anything but space
// behind an object, leaves the cache: clients may read on. Nothing else can make it worse, so it is judged once.
func (o *outcome) settled(call *observe.Call) (stays bool) {
	was := &o.call
	call.Took, call.Kept, call.Shortened, call.NotKept, call.Text, call.NoText = was.Took, was.Kept, was.Shortened, was.NotKept, was.Text, was.NoText
	reason := answer.ReasonMalformed
	if !o.rec.Whole() {
		reason = o.x.s.notHeld(o.rec)
	} else if late := o.rec.Bytes()[o.size:]; o.stream && !o.x.r.family.Answers.HasEvent(late) || len(bytes.TrimSpace(late)) == 0 {
		return true
	}
	if o.kept.entry != nil {
		o.x.s.faults.degraded(o.x.s.cache.Drop(o.x.r.http.Context(), o.kept.entry))
		call.Kept, call.NotKept, call.Text, call.NoText = nil, reason, "", reason
	}
	return false
}

// End stores the answer if it may be kept, and ends the flight. err is why the answer was cut, nil if it was not.
func (o *outcome) End(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s, ctx, seen := o.x.s, o.f.Context(), &o.seen
	took := s.opts.Now().Sub(o.start)
	o.took.CompareAndSwap(0, int64(took))
	seen.Call = called(o.reply.Replica.Answers(o.x.r.Model), o.rec.Status, o.meter, o.reply.Span)
	seen.Call.Took = max(took, processingTime(o.rec.Header))
	if !o.reply.Measured {
		o.reply.Replica.Reported(seen.Call.Used)
	}
	switch {
	case o.kept == nil:
		o.endSpan(err)
		o.kept = o.keep(o.rec.Bytes(), err, &seen.Call)
	case o.settled(&seen.Call):
		err = nil
		fallthrough
	default:
		o.endSpan(err)
	}
	s.observers.Ended(seen)
	seen.Call.Text = "" // a part of what the recording holds
	o.x.lead.end()
	if err != nil && o.kept.complete && o.size == 0 {
		err = nil // cut after its terminal event, by a client that left at [DONE]
	}
	if err != nil && ctx.Err() == nil {
		s.faults.report(ctx, "upstream", err)
	}
	o.rec.Finish(err)
	o.close()
	s.flights.End(o.f)
}

// endSpan ends the span of the call, whose answer broke off with err.
func (o *outcome) endSpan(err error) {
	switch {
	case err == nil:
	case o.f.Context().Err() != nil:
		o.reply.Span.Text(tracing.ErrorType, Gone.String())
	default:
		o.reply.Span.Fail("cut")
	}
	o.reply.Span.End()
}

// Crash ends the flight after a panic with v.
func (o *outcome) Crash(v any) {
	o.x.lead.end()
	o.close()
	o.reply.Span.End()
	o.x.s.flights.Crash(o.f, v)
}

// close ends the call.
func (o *outcome) close() {
	o.reply.Body.Close()
	if o.cancel != nil {
		o.cancel()
	}
}

// patience is how long one client may hold up the others that share a large answer, where a write to it may take limit. It is longer
// than that, because the write should fail first: this is for writes without a limit.
func patience(limit time.Duration) time.Duration { return 2 * max(limit, 30*time.Second) }

// needsUsage reports whether the proxy must ask for the usage of a stream in the client's place: a stored answer must have
// it.
func (q *request) needsUsage() bool {
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
