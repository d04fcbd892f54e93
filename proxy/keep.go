package proxy

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"reprise/proxy/answer"
	"reprise/proxy/answer/rawjson"
	"reprise/proxy/api"
	"reprise/proxy/cache"
	"reprise/proxy/canon"
	"reprise/proxy/internal/header"
	"reprise/proxy/observe"
	"reprise/proxy/tracing"
	"reprise/proxy/upstream"
	"reprise/store"
)

// keptInfo is the result of keep.
type keptInfo struct {
	complete bool         // the answer has its end
	split    bool         // it is the answers to the items that were asked for
	entry    *store.Entry // the entry made of it, without its answer; nil: not kept
	reason   string       // why not
}

// keep stores the upstream's answer, which has ended, if it may be kept, and notes that in call, with what the answer says. Slow readers hold
// the outcome, and nothing is charged for such a text: it must not stay there. body is the answer, and cut why it broke off, nil if it did not.
func (o *outcome) keep(body []byte, cut error, call *observe.Call) (k *keptInfo) {
	q, rec := &o.x.r, o.rec
	defer q.span.Child(tracing.Keep).End()
	k = &keptInfo{reason: "fault"}
	q.s.faults.guard("store", func() error {
		room, release := q.s.budget.Hold(keepFactor * int64(len(body)))
		if !room {
			k.complete, k.reason, call.NoText = cut == nil, "memory", "memory"
			return nil
		}
		defer release()
		verdict, frozen, reason := q.judge(rec, body, cut, o.known.body(q.body))
		k.complete = cut == nil || reason == ""
		if reason == "" && o.reply.Foreign {
			reason = "other-model"
		}
		if k.reason, call.NoText = reason, reason; reason != "" {
			return nil
		}
		if call.Text = verdict.Text; verdict.Keep && call.Text == "" {
			call.NoText = "form" // of a stream whose text is not proven
		}
		frozen.Origin = answer.Origin(o.origin)
		if !o.usageAsked() {
			frozen.ShowUsage()
		}
		switch {
		case o.keepItems(k, frozen, call.Took), q.d.NoStore:
			return nil
		case o.known.partial(): // and no answer to the request
			k.reason = answer.ReasonMalformed
			return nil
		case rec.Size() > q.s.opts.MaxEntryBytes:
			k.reason = "size"
			return nil
		}
		req := q.req
		if id := originalID(frozen); q.family.Handles != nil && id != "" {
			req.Name = nameOf(q.tenant, id)
		}
		o.store(k, &req, q.entry(o.x.found, frozen, verdict, call.Took))
		if k.entry != nil && q.s.gone.since(req.Name, o.start) {
			q.s.faults.degraded(q.s.cache.Drop(context.WithoutCancel(q.http.Context()), k.entry))
			k.entry, k.reason = nil, cache.ReasonPurged
		}
		return nil
	})
	if call.Kept = k.entry; k.entry != nil {
		call.Shortened = q.shortened(k.entry)
	} else {
		call.NotKept = k.reason
	}
	return k
}

// store stores e as the answer to r, and notes that in k. It returns k.entry.
func (o *outcome) store(k *keptInfo, r *cache.Request, e *store.Entry) *store.Entry {
	q := &o.x.r
	id, reason, err := q.s.cache.Keep(context.WithoutCancel(q.http.Context()), r, o.x.found, e)
	if k.entry, k.reason = nil, reason; id != 0 {
		k.entry = &store.Entry{ID: id, Created: e.Created, Expires: e.Expires, UpstreamTime: e.UpstreamTime, AnswerHash: e.AnswerHash}
	}
	q.s.faults.degraded(err)
	return k.entry
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

// judge returns why a recording, which holds an answer to a body that was sent, must not be kept, "" if it may, and then its stored form.
func (q *request) judge(rec *upstream.Recording, held []byte, cut error, sent []byte) (v answer.Verdict, z *answer.Frozen, reason string) {
	contentType := rec.Header.Get("Content-Type")
	switch {
	case rec.Status != http.StatusOK:
		return v, nil, answer.ReasonStatus
	case cut != nil && !answer.IsStream(contentType):
		return v, nil, answer.ReasonIncomplete
	case !rec.Whole():
		return v, nil, q.s.notHeld(rec)
	case encoded(rec.Header):
		return v, nil, "content-encoding"
	case header.HasDirective(rec.Header["Cache-Control"], "no-store"):
		return v, nil, "no-store"
	}
	v, z, strict := api.Read(q.family.Answers, contentType, held, sent)
	switch {
	case !strict:
		return v, nil, answer.ReasonMalformed
	case !v.Keep && v.Reason != answer.ReasonToolCalls && (v.Reason != answer.ReasonLiveWeb || !q.rule.LiveWeb):
		return v, nil, v.Reason
	case v.ToolCalls && !q.rule.ToolCalls:
		return v, nil, answer.ReasonToolCalls
	case len(q.Links) > 0 && q.Named(z.Object()): // the ids of another conversation that is the same request are others
		return v, nil, "names-ids"
	case v.ToolCalls && namesCalls(z):
		return v, nil, "names-ids"
	}
	return v, z, ""
}

// namesCalls reports whether an answer says the id of one of its calls: a replay has another one there, and would say that of no call. An id
// of digits alone is a number as well.
func namesCalls(z *answer.Frozen) bool {
	ids, rest := z.Calls()
	ids = slices.DeleteFunc(ids, func(id string) bool { return strings.Trim(id, "0123456789") == "" })
	return canon.Mentions(rest, ids)
}

// entry makes an entry of an answer.
func (q *request) entry(found *cache.Finding, z *answer.Frozen, v answer.Verdict, took time.Duration) *store.Entry {
	now := q.s.opts.Now()
	ttl := q.rule.TTL
	if q.d.TTL > 0 {
		ttl = min(ttl, q.d.TTL)
	}
	e := &store.Entry{
		Labels: &store.Labels{Tenant: q.tenant, Namespace: q.d.Namespace, Model: q.Model, Endpoint: q.family.Path},
		Answer: z.Encode(nil), InputTokens: v.Usage.Input, OutputTokens: v.Usage.Output, UpstreamTime: took,
		Created: now, Expires: now.Add(ttl), StaleUntil: now.Add(ttl + q.s.opts.StaleIfError),
	}
	if v.Text != "" {
		e.AnswerHash = canon.AnswerText(rawjson.Bytes(v.Text))
	}
	if v.Keep && v.Text != "" && found.Compared { // what a rule allows, and a text that is not proven, is for exact repeats only
		e.Prompt, e.Vector = q.Prompt, found.Vector
	}
	return e
}
