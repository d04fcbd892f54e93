package proxy

import (
	"context"
	"net/http"
	"time"

	"reprise/policy"
	"reprise/proxy/answer"
	"reprise/proxy/api"
	"reprise/proxy/canon"
	"reprise/proxy/upstream"
	"reprise/store"
)

// keptInfo is the result of keep.
type keptInfo struct {
	complete bool         // the answer has its end
	entry    *store.Entry // the entry made of it, without its answer; nil: not kept
	reason   string       // why not
}

// keep stores the answer of a recording that has ended, if it may be kept. cut is why it broke off, nil if it did not.
func (q *query) keep(found *finding, rec *upstream.Recording, cut error, took time.Duration) *keptInfo {
	k := &keptInfo{reason: "fault"}
	q.s.faults.guard("store", func() error {
		room, release := q.s.budget.Hold(keepFactor * int64(len(rec.Bytes())))
		if !room {
			k.complete, k.reason = cut == nil, "memory"
			return nil
		}
		defer release()
		verdict, reason := q.judge(rec, cut)
		k.complete, k.reason = cut == nil || reason == "", reason
		if reason != "" || q.d.NoStore {
			return nil
		}
		e, err := q.entry(found, rec, verdict, took)
		if err != nil {
			return err
		}
		var id policy.ID
		id, k.reason, err = q.s.cache.Keep(context.WithoutCancel(q.http.Context()), &q.req, found.Finding, e)
		if id != 0 {
			k.entry = &store.Entry{ID: id, Created: e.Created, UpstreamTime: e.UpstreamTime, AnswerHash: e.AnswerHash}
		}
		q.s.faults.degraded(err)
		return nil
	})
	if k.entry != nil {
		q.s.metrics.stored.Add(1)
	} else if k.reason != "" {
		q.s.metrics.notStored(k.reason)
	}
	return k
}

// keepFactor is how many times the size of an answer it takes for a moment to judge, freeze and pack it.
const keepFactor = 4

// notHeld is why a recording is not held whole.
func (s *Server) notHeld(rec *upstream.Recording) string {
	if rec.Size() > s.opts.MaxEntryBytes {
		return "size"
	}
	return "memory"
}

// judge returns why a recording must not be kept, "" if it may.
func (q *query) judge(rec *upstream.Recording, cut error) (answer.Verdict, string) {
	body := rec.Bytes()
	stream := answer.IsStream(rec.Header.Get("Content-Type"))
	switch {
	case rec.Status != http.StatusOK:
		return answer.Verdict{}, answer.ReasonStatus
	case cut != nil && !stream:
		return answer.Verdict{}, answer.ReasonIncomplete
	case !rec.Whole():
		return answer.Verdict{}, q.s.notHeld(rec)
	case encoded(rec.Header):
		return answer.Verdict{}, "content-encoding"
	}
	v := answer.Judge(q.family.Answers, stream, body)
	switch {
	case !api.Strict(stream, body):
		return v, answer.ReasonMalformed
	case !v.Keep && v.Reason != answer.ReasonToolCalls:
		return v, v.Reason
	case v.ToolCalls && !q.s.opts.CacheToolCalls:
		return v, answer.ReasonToolCalls
	}
	return v, ""
}

// entry makes an entry of the recording.
func (q *query) entry(found *finding, rec *upstream.Recording, v answer.Verdict, took time.Duration) (*store.Entry, error) {
	frozen, err := answer.Freeze(q.family.Answers, rec.Header.Get("Content-Type"), rec.Bytes())
	if err != nil {
		return nil, err
	}
	now := q.s.opts.Now()
	ttl := q.s.opts.TTL
	if q.d.TTL > 0 {
		ttl = min(ttl, q.d.TTL)
	}
	e := &store.Entry{
		Tenant: q.tenant, Namespace: q.d.Namespace, Model: q.Model, Endpoint: q.family.Path,
		Answer: frozen.Encode(nil), InputTokens: v.Usage.Input, OutputTokens: v.Usage.Output, UpstreamTime: took,
		Created: now, Expires: now.Add(ttl), StaleUntil: now.Add(ttl + q.s.opts.StaleIfError),
	}
	if v.Text != "" {
		e.AnswerHash = canon.AnswerText(v.Text)
	}
	if !v.ToolCalls && found.Vector != nil { // an answer that calls tools is for exact repeats only
		e.Prompt, e.Vector = q.Prompt, found.Vector
	}
	return e, nil
}
