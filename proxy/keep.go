package proxy

import (
	"context"
	"net/http"
	"time"

	"reprise/policy"
	"reprise/proxy/answer"
	"reprise/proxy/canon"
	"reprise/proxy/upstream"
	"reprise/store"
)

// keptInfo is what became of a recording.
type keptInfo struct {
	complete bool      // the answer has come to its end
	id       policy.ID // the entry made of it; 0: not kept
	reason   string    // why not
}

// keep judges a recording that has ended, with cut as the reason if it broke off, and stores it if it is worth it.
func (s *Server) keep(q *query, found *finding, rec *upstream.Recording, cut error, took time.Duration) *keptInfo {
	k := &keptInfo{reason: "fault"}
	s.guarded("store", func() error {
		verdict, reason := s.judge(q, rec, cut)
		k.complete, k.reason = cut == nil || reason == "", reason
		if reason != "" || q.d.NoStore {
			return nil
		}
		e, err := s.entry(q, found, rec, verdict, took)
		if err != nil {
			return err
		}
		k.id, k.reason = s.cache.Keep(context.WithoutCancel(q.http.Context()), &q.req, found.Finding, e)
		return nil
	})
	if k.id != 0 {
		s.metrics.stored.Add(1)
	} else if k.reason != "" {
		s.metrics.notStored(k.reason)
	}
	return k
}

// judge says why a recording is not worth keeping, "" if it is.
func (s *Server) judge(q *query, rec *upstream.Recording, cut error) (answer.Verdict, string) {
	body := rec.Bytes()
	stream := answer.IsStream(rec.Header.Get("Content-Type"))
	switch {
	case rec.Status != http.StatusOK:
		return answer.Verdict{}, answer.ReasonStatus
	case cut != nil && !stream:
		return answer.Verdict{}, answer.ReasonIncomplete
	case rec.Size() > s.opts.MaxEntryBytes:
		return answer.Verdict{}, "size"
	case encoded(rec.Header):
		return answer.Verdict{}, "content-encoding"
	}
	v := answer.Judge(q.family.Answers, stream, body)
	switch {
	case !v.Keep && v.Reason != answer.ReasonToolCalls:
		return v, v.Reason
	case v.ToolCalls && !s.opts.CacheToolCalls:
		return v, answer.ReasonToolCalls
	}
	return v, ""
}

func encoded(h http.Header) bool {
	e := h.Get("Content-Encoding")
	return e != "" && e != "identity"
}

// entry makes the entry of a good answer.
func (s *Server) entry(q *query, found *finding, rec *upstream.Recording, v answer.Verdict, took time.Duration) (*store.Entry, error) {
	frozen, err := answer.Freeze(q.family.Answers, rec.Header.Get("Content-Type"), rec.Bytes())
	if err != nil {
		return nil, err
	}
	now := s.opts.Now()
	ttl := s.opts.TTL
	if q.d.TTL > 0 {
		ttl = min(ttl, q.d.TTL)
	}
	e := &store.Entry{
		Tenant: s.tenant(q.http.Header), Namespace: q.d.Namespace, Model: q.Model, Endpoint: q.http.URL.Path,
		Answer: frozen.Encode(nil), InputTokens: v.Usage.Input, OutputTokens: v.Usage.Output, UpstreamTime: took,
		Created: now, Expires: now.Add(ttl), StaleUntil: now.Add(ttl + s.opts.StaleIfError),
	}
	if v.Text != "" {
		e.AnswerHash = canon.AnswerText(v.Text)
	}
	if !v.ToolCalls && found.Vector != nil { // an answer that calls tools is for exact repeats only
		e.Prompt, e.Vector = q.Prompt, found.Vector
	}
	return e, nil
}
