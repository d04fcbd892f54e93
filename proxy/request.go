package proxy

import (
	"net/http"
	"unsafe"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/answer/rawjson"
	"reprise/proxy/api"
	"reprise/proxy/cache"
	"reprise/proxy/canon"
	"reprise/proxy/internal/clientio"
	"reprise/proxy/observe"
	"reprise/proxy/rules"
	"reprise/proxy/tracing"
	"reprise/store"
)

// request is what was read of a client's request that has a key. A flight keeps that of its leader, which may outlive its handler. Nothing
// changes it, except that work may decide to look up nothing any more (NoCache of d and req), and that package cache notes things in req.
type request struct {
	reading
	s      *Server
	family *api.Family
	http   *http.Request
	body   []byte
	d      Directives
	req    cache.Request   // what was read, for the cache
	mem    *clientio.Lease // what body and request are charged to
	span   *tracing.Span   // of the request; nil: it has none
	came   observe.Stamp
}

// fill adds what was read of the body. The request has no tick yet: requests that pass through are no requests to the policy.
func (q *request) fill(body []byte, read reading) {
	s, parsed, d := q.s, read.Request, &q.d
	d.tighten(bodyDirectives(parsed.Directive))
	q.reading, q.body = read, body
	q.req = cache.Request{Key: store.Key(parsed.Key), Scope: store.Scope(parsed.Scope), Prompt: parsed.Prompt, Epoch: s.cache.Epoch(),
		NoCache: d.NoCache, NoStore: d.NoStore, ExactOnly: d.ExactOnly, MaxAge: d.MaxAge, Threshold: d.Threshold, Narrow: d.Ask, Private: d.private(), NoExplore: d.OnlyIfCached}
	byRule(&q.req, read.rule)
	q.req.ExactOnly = q.req.ExactOnly || parsed.Uncacheable != ""
	q.req.Family = func() uint64 { return s.families.of(q) }
	if len(parsed.Turns) > 0 {
		q.req.Turns = make([]cache.Turn, len(parsed.Turns))
	}
	for i, t := range parsed.Turns {
		q.req.Turns[i] = cache.Turn{Key: store.Key(t.Key), Answer: t.Answer, AnswerText: t.AnswerText}
	}
}

// byRule gives a request what its rule says of it.
func byRule(r *cache.Request, rule *rules.Rule) {
	r.ExactOnly = r.ExactOnly || !rule.Mode.Compares()
	r.Shadow = rule.Mode == rules.Shadow
	r.Gate, r.TTL, r.Trust, r.Ask = rule.Threshold, rule.TTL, rule.Trust, rule.Ask
	if r.MaxError = rule.MaxErrorRate; r.MaxError == 0 {
		r.MaxError = -1 // none, and not the judge's
	}
}

// forbidden is why nothing of the request may be kept or served, "" where it may, under its rule.
func (r *request) forbidden() string {
	if r.Uncacheable == answer.ReasonLiveWeb && r.rule.LiveWeb {
		return ""
	}
	return r.Uncacheable
}

// turnBytes is the size of a cache.Turn in memory.
const turnBytes = 3 * 32

// parse reads a body, and finds its rule in set, for which team is what the client has called its tenant. What that takes, and what is kept of it, is charged to mem; for a small body that is done already.
func parse(family *api.Family, body []byte, identity canon.Identity, team string, set *rules.Set, mem *clientio.Lease) (r *canon.Request, rule *rules.Rule, err error) {
	ignore := func(model, namespace string) *canon.Ignore {
		d := Directives{Namespace: identity.Namespace}
		d.tighten(Directives{Namespace: namespace})
		rule = set.Of(rules.Request{Tenant: identity.Tenant, Team: team, Namespace: d.Namespace, Path: family.Path, Model: model})
		return rule.Ignore
	}
	if len(body) <= firstBuffer {
		r, err = family.ParseIgnoring(body, identity, ignore)
		return r, rule, err
	}
	most := canon.Memory(body)
	if !mem.Grow(most) {
		return nil, nil, errNoMemory
	}
	r, err = family.ParseIgnoring(body, identity, ignore)
	kept := int64(0)
	if err == nil {
		kept = r.Kept() + int64(len(r.Turns)*turnBytes)
	}
	mem.Shrink(most - kept)
	return r, rule, err
}

// forwarded is body, the client's or one made of it, as the upstream gets it: without the directives for this proxy, and with its own ids. Where neither is
// there, it is the client's; a copy is charged too.
func (r *request) forwarded(body []byte) ([]byte, error) {
	if r.OwnCache {
		body = rawjson.Bytes(rawjson.Edited(gjson.Parse(rawjson.View(body)), rawjson.Remove("cache")))
	}
	body = r.family.OriginalBody(body)
	if unsafe.SliceData(body) != unsafe.SliceData(r.body) && !r.charge(len(body)) {
		return nil, errNoMemory
	}
	return body, nil
}

// charge charges a copy of a body, and reports whether there is room for it. A small one is charged with the request.
func (r *request) charge(size int) bool { return size <= firstBuffer || r.mem.Grow(int64(size)) }

// chargeHit charges an answer that is unpacked or replayed, until the request ends: a client may take its time to read it.
func (r *request) chargeHit(size int) bool {
	return size <= firstBuffer || r.mem.GrowForHit(int64(size))
}

// traced notes in the span of the request what is asked, and makes spans of what the cache does for it.
func (r *request) traced() {
	span := r.span
	span.About(tracing.Asked{Operation: r.family.Operation, Provider: r.family.Provider, Model: r.Model, Stream: r.Stream})
	if span.Recording() {
		r.req.Begin = func(s cache.Step) (end func()) { return span.Child(string(s)).End }
	}
}

// outcome fills what o has of the request itself.
func (r *request) outcome(o *observe.Outcome) {
	o.Came, o.Span, o.Request = r.came, r.span, &r.req
	o.Tenant, o.Namespace, o.Model, o.Prompt = r.tenant, r.d.Namespace, r.Model, r.Prompt
	o.Route, o.Endpoint, o.Stream, o.NoStore = r.family.Path, r.family.Name, r.Stream, r.d.NoStore
}

// forwardedTo notes in o what was sent to an upstream. An embedding has no prefix that an engine keeps, and of a request with no-store nothing
// is kept.
func (r *request) forwardedTo(o *observe.Outcome) {
	if !r.d.NoStore && r.family.Answers.Streams != nil {
		o.Segments, o.Body = r.Segments, r.body
	}
}
