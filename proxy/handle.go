package proxy

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"reprise/proxy/api"
	"reprise/proxy/cache"
	"reprise/proxy/canon"
	"reprise/proxy/internal/apierror"
	"reprise/store"
)

// query is one keyed request on its way through the pipeline.
type query struct {
	*canon.Request
	family *api.Family
	http   *http.Request
	d      Directives
	req    cache.Request // as the cache reads it
	stale  *store.Entry  // an expired answer to fall back on, if the upstream fails
	alone  bool          // it does not share a flight
}

// newQuery describes a request that was read. What passes through the proxy is no request to the cache's policy, so the request
// gets its number later.
func newQuery(req *canon.Request, family *api.Family, r *http.Request, d Directives) *query {
	q := &query{Request: req, family: family, http: r, d: d}
	q.req = cache.Request{Key: store.Key(req.Key), Scope: store.Scope(req.Scope), Prompt: req.Prompt,
		NoCache: d.NoCache, ExactOnly: d.ExactOnly, MaxAge: d.MaxAge, Threshold: d.Threshold, Private: d.private()}
	if len(req.Turns) > 0 {
		q.req.Turns = make([]cache.Turn, len(req.Turns))
	}
	for i, t := range req.Turns {
		q.req.Turns[i] = cache.Turn{Key: store.Key(t.Key), Answer: t.Answer, AnswerText: t.AnswerText}
	}
	return q
}

// handle answers a request of a cached endpoint.
func (s *Server) handle(w http.ResponseWriter, r *http.Request, family *api.Family) (Result, error) {
	if err := checkConnection(r.Header); err != nil {
		return Refused, err
	}
	d, err := parseDirectives(r.Header)
	if err != nil {
		return Refused, err
	}
	if reason := s.untouched(r, &d); reason != "" {
		return s.bypass(w, r, nil, reason)
	}
	q, body, err := s.read(w, r, family, d)
	switch {
	case err != nil:
		return Refused, err
	case q.d.bypass():
		return s.bypass(w, r, family.OriginalBody(body), "directive")
	case q.Uncacheable != "":
		return s.bypass(w, r, family.OriginalBody(body), q.Uncacheable)
	}
	q.req.At = s.cache.Tick()
	return s.answer(w, q)
}

// untouched says why a request is not even read: the cache has no business with it.
func (s *Server) untouched(r *http.Request, d *Directives) string {
	switch {
	case s.opts.Mode == ModeOff:
		return "off"
	case d.bypass():
		return "directive"
	case r.Header.Get("Content-Encoding") != "" && r.Header.Get("Content-Encoding") != "identity":
		return "content-encoding"
	}
	return ""
}

func (s *Server) bypass(w http.ResponseWriter, r *http.Request, body []byte, reason string) (Result, error) {
	return Bypass, s.passThrough(w, r, body, cacheStatus{result: Bypass, fwd: "bypass", detail: []string{reason}})
}

// read takes the request in and learns its identity.
func (s *Server) read(w http.ResponseWriter, r *http.Request, family *api.Family, d Directives) (*query, []byte, error) {
	if ct := r.Header.Get("Content-Type"); !isJSON(ct) {
		return nil, nil, apierror.BadRequest("invalid_content_type", "The Content-Type is "+apierror.Quote(ct)+"; this endpoint takes application/json.")
	}
	body, err := readBody(w, r, s.opts.MaxBody, s.opts.Limits.BodyIdle)
	if err != nil {
		return nil, nil, err
	}
	req, err := family.Parse(body, s.identity(r, &d))
	if err != nil {
		return nil, nil, err
	}
	d.tighten(bodyDirectives(req.Directive))
	q := newQuery(req, family, r, d)
	q.req.Epoch = s.cache.Epoch()
	return q, body, nil
}

// isJSON accepts application/json and its relatives, with or without parameters.
func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	media, _, _ := strings.Cut(contentType, ";")
	media = strings.ToLower(strings.TrimSpace(media))
	return media == "application/json" || strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")
}

// answer serves q. An answer that cannot be put into the form that q asked for is dropped, and the upstream asked as if
// nothing had been known.
func (s *Server) answer(w http.ResponseWriter, q *query) (Result, error) {
	result, err := s.answerOnce(w, q)
	var failed *replayError
	if errors.As(err, &failed) {
		s.fault(q.http.Context(), "replay", failed)
		s.cache.Drop(failed.entry)
		q.d.NoCache, q.req.NoCache = true, true
		result, err = s.answerOnce(w, q)
	}
	s.logRequest(q, result)
	return result, err
}

// answerOnce serves q from the store where it is known word for word, and else through a flight.
func (s *Server) answerOnce(w http.ResponseWriter, q *query) (Result, error) {
	if hit := s.exact(q); hit != nil {
		return hit.result, s.replyHit(w, q, hit)
	}
	f, leader := s.depart(q)
	defer s.flights.Leave(f)
	if err := f.Wait(q.http.Context()); err != nil {
		return Refused, errClientGone
	}
	o, err := f.Outcome()
	switch {
	case err != nil && leader:
		return Refused, err
	case err != nil:
		return s.afterFailure(w, q, err)
	case o.served != nil:
		return o.served.result, s.replyHit(w, q, o.served) // a hit for all who waited: nothing was forwarded
	case !leader && o.rec.Status != http.StatusOK && !o.replica.SameCredential(q.http.Header, o.asker):
		q.alone = true // the error may be the leader's own: its key, its limits
		return s.answerOnce(w, q)
	default:
		return newRelay(s, w, q, o, leader).run()
	}
}

// depart joins the flight of q's key or starts it. A request with wishes of its own flies alone: its outcome must not
// bind those who have none.
func (s *Server) depart(q *query) (f *flight, leader bool) {
	if q.alone || q.d.private() {
		f, leader = s.flights.Solo(), true
	} else {
		f, leader = s.flights.Join(q.Key)
	}
	if leader {
		s.flights.Start(f, func(f *flight) { s.fly(f, q) })
	}
	return f, leader
}

// afterFailure is for a follower of a flight that failed with err: an expired answer of its own may still help it.
func (s *Server) afterFailure(w http.ResponseWriter, q *query, err error) (Result, error) {
	if hit := s.staleHit(q); hit != nil {
		return hit.result, s.replyHit(w, q, hit)
	}
	return Refused, err
}

// fly finds the outcome of a flight: an entry, or the upstream's answer.
func (s *Server) fly(f *flight, q *query) {
	if hit := s.exact(q); hit != nil { // it may have been stored since the first look
		f.Publish(&outcome{served: hit})
		return
	}
	found := s.search(f.Context(), q)
	switch {
	case found.hit != nil:
		f.Publish(&outcome{served: found.hit})
	case q.d.OnlyIfCached:
		f.Fail(errOnlyIfCached)
	default:
		s.fetch(f, q, found)
	}
}

// exact looks q up by its key. An expired answer is remembered for stale-if-error.
func (s *Server) exact(q *query) *served {
	hit, stale := s.cache.Lookup(q.http.Context(), &q.req)
	if stale != nil {
		q.stale = stale
	}
	if hit == nil {
		return nil
	}
	h := s.serve(q, hit.Entry, Exact)
	if h != nil && hit.Alias {
		h.status.detail = append(h.status.detail, "alias")
	}
	return h
}

// staleHit is the expired answer to q, where one may stand in for an upstream that fails. The upstream may have taken its time to
// fail: the answer's own time may have run out meanwhile.
func (s *Server) staleHit(q *query) *served {
	if !s.cache.Stale(&q.req, q.stale) {
		return nil
	}
	hit := s.serve(q, q.stale, Stale)
	if hit != nil {
		hit.status.detail = append(hit.status.detail, "stale-if-error")
	}
	return hit
}

// search looks for an answer by meaning.
func (s *Server) search(ctx context.Context, q *query) *finding {
	f := &finding{Finding: s.cache.Find(ctx, &q.req)}
	if q.ExactOnly != "" {
		f.detail = append(f.detail, "exact-only="+q.ExactOnly)
	}
	s.count(f)
	if f.Hit == nil {
		return f
	}
	if f.hit = s.serve(q, f.Hit.Entry, Semantic); f.hit != nil {
		f.hit.vector = f.Vector
		f.hit.status.detail = append(append(f.hit.status.detail, f.detail...), "topic="+utoa(uint64(f.Hit.Topic)))
	}
	return f
}

// count adds what a search by meaning did to the metrics, and to the detail of the response.
func (s *Server) count(f *finding) {
	if f.EmbedTook > 0 {
		s.metrics.step(stepEmbed, f.EmbedTook)
	}
	if f.SearchTook > 0 {
		s.metrics.step(stepSearch, f.SearchTook)
	}
	if f.Degraded != "" {
		f.detail = append(f.detail, "degraded="+f.Degraded)
	}
	for _, veto := range f.Vetoes {
		s.metrics.veto(veto)
		f.detail = append(f.detail, "veto="+string(veto))
	}
	if f.Shadow {
		s.metrics.shadowHits.Add(1)
		f.detail = append(f.detail, "shadow=hit")
	}
}

// finding is what the search by meaning learned of a request, and an answer that is ready to be served.
type finding struct {
	*cache.Finding
	hit    *served
	detail []string // for the response's header: what prevented a hit
}

// touch counts a request that e answered. It comes after the answer is written; a large answer or a stream is with the client by
// then.
func (s *Server) touch(q *query, e *store.Entry, vector []float32) {
	s.cache.Touch(context.WithoutCancel(q.http.Context()), &q.req, e, vector)
}
