package proxy

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"reprise/proxy/internal/budget"
	"reprise/proxy/upstream"
	"reprise/proxy/upstream/dialect"
)

// fetch asks the upstream and copies its answer into a recording, for every waiter of f.
func (q *query) fetch(f *flight, found *finding) {
	s, ctx := q.s, f.Context()
	start := s.opts.Now()
	reply, err := q.call(ctx)
	if err != nil || allowsStale(reply.StatusCode) {
		if hit := q.staleHit(); hit != nil {
			if err == nil {
				reply.Body.Close()
				s.budget.End()
			}
			f.Publish(&outcome{served: hit})
			return
		}
	}
	if err != nil {
		if ctx.Err() == nil && err != errNoMemory && !errors.Is(err, upstream.ErrOverloaded) {
			s.faults.report(ctx, "upstream", err)
		}
		f.Fail(err)
		return
	}
	defer reply.Body.Close()
	o := &outcome{rec: upstream.NewRecording(reply.StatusCode, reply.Header), replica: reply.Replica, asker: q.http.Header, found: found,
		addedUsage: slices.Contains(reply.Added, dialect.StreamUsage), done: f.Done()}
	o.rec.ChargeTo(s.budget.Account(budget.Recordings), budget.Call)
	f.Publish(o)
	q.record(f, o, reply.Body, start)
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
	want := dialect.Intent{StreamUsage: q.needsUsage()}
	if want != (dialect.Intent{}) && !q.charge(len(body)) { // the dialect edits a copy
		return nil, errNoMemory
	}
	return q.s.upstream.Call(ctx, upstream.Request{Tenant: q.tenant, Original: q.http, Body: body, Want: want})
}

// record copies the upstream's answer, which was requested at start, into o's recording, and stores it if it may be kept.
func (q *query) record(f *flight, o *outcome, body io.Reader, start time.Time) {
	s, ctx := q.s, f.Context()
	err := o.rec.Fill(ctx, body, upstream.Bounds{Whole: s.opts.MaxEntryBytes, Patience: patience(s.live.Load().clients.Write),
		Seal: func() int { return s.flights.Seal(f) }})
	took := max(s.opts.Now().Sub(start), processingTime(o.rec.Header))
	s.metrics.step(stepUpstream, took)
	o.kept = q.keep(o.found, o.rec, err, took)
	if err != nil && o.kept.complete {
		err = nil // cut after its terminal event, by a client that left at [DONE]
	}
	if err != nil && ctx.Err() == nil {
		s.faults.report(ctx, "upstream", err)
	}
	o.rec.Finish(err)
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
	ms, err := strconv.ParseFloat(h.Get("Openai-Processing-Ms"), 64)
	if err != nil || !(ms > 0) || ms > 1e8 {
		return 0
	}
	return time.Duration(ms * float64(time.Millisecond))
}
