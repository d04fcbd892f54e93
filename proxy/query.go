package proxy

import (
	"context"
	"net/http"
	"unsafe"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer/rawjson"
	"reprise/proxy/api"
	"reprise/proxy/cache"
	"reprise/proxy/canon"
	"reprise/proxy/internal/budget"
	"reprise/proxy/observe"
	"reprise/proxy/observe/misses"
	"reprise/proxy/rules"
	"reprise/proxy/tracing"
	"reprise/store"
)

// query is one request that has a key, on its way through the cache and the upstream. A flight keeps the query of its leader.
type query struct {
	reading
	s      *Server
	family *api.Family
	http   *http.Request
	body   []byte
	d      Directives
	req    cache.Request // what was read, for the cache
	stale  *cache.Hit    // an expired answer, to be served if the upstream fails
	alone  bool          // it does not share a flight
	via    *outcome      // of one of several upstreams, with which the request was answered; nil: none
	done   func()        // ends its lead among the processes that share a store; nil: it has none
	mem    *budget.Lease // what body and request are charged to
	span   *tracing.Span // of the request; nil: it has none

	// For those who watch:
	came   observe.Stamp
	found  *cache.Finding // of the last search by meaning
	reused *cache.Hit     // what it has found, and is served
	sent   bool           // to an upstream
	miss   *misses.Missed // why it missed
}

// newQuery returns the query of a request, whose body is charged to mem. It has no tick yet: requests that pass through are no requests
// to the policy.
func (s *Server) newQuery(r *http.Request, body []byte, read reading, family *api.Family, d Directives, mem *budget.Lease) *query {
	parsed := read.Request
	d.tighten(bodyDirectives(parsed.Directive))
	q := &query{reading: read, s: s, family: family, http: r, body: body, d: d, mem: mem}
	q.req = cache.Request{Key: store.Key(parsed.Key), Scope: store.Scope(parsed.Scope), Prompt: parsed.Prompt, Epoch: s.cache.Epoch(),
		NoCache: d.NoCache, ExactOnly: d.ExactOnly, MaxAge: d.MaxAge, Threshold: d.Threshold, Private: d.private(), NoExplore: d.OnlyIfCached}
	byRule(&q.req, read.rule)
	q.req.Data = func() bool { return s.preambles.TreatAsData(q.Request, q.body) }
	if len(parsed.Turns) > 0 {
		q.req.Turns = make([]cache.Turn, len(parsed.Turns))
	}
	for i, t := range parsed.Turns {
		q.req.Turns[i] = cache.Turn{Key: store.Key(t.Key), Answer: t.Answer, AnswerText: t.AnswerText}
	}
	return q
}

// byRule gives a request what its rule says of it.
func byRule(r *cache.Request, rule *rules.Rule) {
	r.ExactOnly = r.ExactOnly || !rule.Mode.Compares()
	r.Shadow = rule.Mode == rules.Shadow
	r.Gate, r.TTL = rule.Threshold, rule.TTL
	if r.MaxError = rule.MaxErrorRate; r.MaxError == 0 {
		r.MaxError = -1 // none, and not the judge's
	}
}

// turnBytes is the size of a cache.Turn in memory.
const turnBytes = 3 * 32

// parse reads a body, and finds its rule in set, for which team is what the client has called its tenant. What that takes, and what is kept of it, is charged to mem; for a small body that is done already.
func parse(family *api.Family, body []byte, identity canon.Identity, team string, set *rules.Set, mem *budget.Lease) (r *canon.Request, rule *rules.Rule, err error) {
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

// forwarded is the body as the upstream gets it: without the directives for this proxy, and with its own ids. Where neither is
// there, it is the client's; a copy is charged too.
func (q *query) forwarded() ([]byte, error) {
	body := q.body
	if q.OwnCache {
		body = rawjson.Bytes(rawjson.Edited(gjson.Parse(rawjson.View(body)), rawjson.Remove("cache")))
	}
	body = q.family.OriginalBody(body)
	if unsafe.SliceData(body) != unsafe.SliceData(q.body) && !q.charge(len(body)) {
		return nil, errNoMemory
	}
	return body, nil
}

// charge charges a copy of a body, and reports whether there is room for it. A small one is charged with the request.
func (q *query) charge(size int) bool { return size <= firstBuffer || q.mem.Grow(int64(size)) }

// chargeHit charges an answer that is unpacked or replayed, until the request ends: a client may take its time to read it.
func (q *query) chargeHit(size int) bool { return size <= firstBuffer || q.mem.GrowForHit(int64(size)) }

// run finds the outcome of f: an entry, or the upstream's answer. It reports whether f has ended: an answer is still to be read.
func (q *query) run(f *flight) (ended bool) {
	if hit := q.exact(f.Context()); hit != nil { // it may have been stored since the first lookup
		f.Publish(&outcome{served: hit})
		return true
	}
	found := q.search(f.Context())
	switch {
	case found.hit != nil:
		f.Publish(&outcome{served: found.hit})
	case q.d.OnlyIfCached:
		f.Fail(errOnlyIfCached)
	default:
		missing{q}.why(found)
		return q.led(f, found)
	}
	return true
}

// setSpan gives q the span of its request, and makes spans of what the cache does for it.
func setSpan(q *query, span *tracing.Span) {
	if q.span = span; span.Recording() {
		q.req.Begin = func(s cache.Step) (end func()) { return span.Child(string(s)).End }
	}
}

// outcome fills what o has of the request itself.
func (q *query) outcome(o *observe.Outcome) {
	o.Came, o.Span, o.Request = q.came, q.span, &q.req
	o.Tenant, o.Namespace, o.Model, o.Prompt = q.tenant, q.d.Namespace, q.Model, q.Prompt
	o.Route, o.Endpoint, o.Stream, o.NoStore = q.family.Path, q.family.Name, q.Stream, q.d.NoStore
}

// forwardedTo notes in o what was sent to an upstream. An embedding has no prefix that an engine keeps, and of a request with no-store nothing
// is kept.
func (q *query) forwardedTo(o *observe.Outcome) {
	if !q.d.NoStore && q.family.Answers.Streams != nil {
		o.Segments, o.Body = q.Segments, q.body
	}
}

// exact looks the key up. An expired answer is kept for stale-if-error.
func (q *query) exact(ctx context.Context) *served {
	defer q.span.Child(tracing.Exact).End()
	hit, stale, err := q.s.cache.Lookup(ctx, &q.req)
	q.s.faults.degraded(err)
	if stale != nil {
		q.stale = stale
	}
	if hit == nil {
		return nil
	}
	h := q.serve(hit, Exact)
	if h != nil && hit.Alias {
		h.status.detail = append(h.status.detail, "alias")
	}
	return h
}

// staleHit is the expired answer, where it may be served because the upstream has failed. By then it may be older than
// stale-if-error allows.
func (q *query) staleHit() *served {
	stale := q.s.cache.Stale(q.http.Context(), &q.req, q.stale)
	if stale == nil {
		return nil
	}
	hit := q.serve(stale, Stale)
	if hit != nil {
		hit.status.detail = append(hit.status.detail, "stale-if-error")
	}
	return hit
}

// finding is the result of a search by meaning, with an answer that is ready to be served.
type finding struct {
	*cache.Finding
	hit    *served
	detail []string // for the response's header: what prevented a hit
}

// search looks for an answer by meaning.
func (q *query) search(ctx context.Context) *finding {
	found, err := q.s.cache.Find(ctx, &q.req)
	q.s.faults.degraded(err)
	f := &finding{Finding: found}
	q.found, q.reused = found, nil
	if q.ExactOnly != "" {
		f.detail = append(f.detail, "exact-only="+q.ExactOnly)
	}
	f.describe()
	if f.Hit == nil {
		return f
	}
	f.hit = q.reuse(f, f.Hit)
	return f
}

// reuse prepares the answer to another prompt that a search has found.
func (q *query) reuse(f *finding, found *cache.Hit) *served {
	hit := q.serve(found, Semantic)
	if hit == nil {
		return nil
	}
	q.reused = found
	hit.vector, hit.band = f.Vector, f.Band()
	hit.status.detail = append(append(hit.status.detail, foundBy(&f.Verdict, f.Basis)...), f.detail...)
	if found.Topic != 0 {
		hit.status.detail = append(hit.status.detail, "topic="+utoa(uint64(found.Topic)))
	}
	return hit
}

// describe adds the steps of a search to the detail of the response.
func (f *finding) describe() {
	if f.Degraded != "" {
		f.detail = append(f.detail, "degraded="+f.Degraded)
	}
	for _, veto := range f.Vetoes {
		f.detail = append(f.detail, "veto="+string(veto))
	}
	switch {
	case f.Shadow:
		f.detail = append(f.detail, "shadow=hit")
	case f.Explore != nil:
		f.detail = append(f.detail, "explore")
	}
}

// reason is why the request was forwarded, in the words of RFC 9211 §2.2.
func (q *query) reason() string {
	switch {
	case q.d.NoCache || q.d.MaxAge >= 0:
		return "request"
	case q.stale != nil:
		return "stale"
	default:
		return "uri-miss"
	}
}

// goneOr is err, or errClientGone if the client has left.
func (q *query) goneOr(err error) error {
	if q.http.Context().Err() != nil {
		return errClientGone
	}
	return err
}
