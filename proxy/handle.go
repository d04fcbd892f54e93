package proxy

import (
	"cmp"
	"errors"
	"net/http"
	"strings"
	"time"

	"reprise/policy"
	"reprise/proxy/api"
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
	tick   policy.Tick
	epoch  uint64       // purges before it arrived
	stale  *store.Entry // an expired answer to fall back on, if the upstream fails
	alone  bool         // it does not share a flight
}

// tooOld reports whether e is older than q allows.
func (q *query) tooOld(e *store.Entry, now time.Time) bool {
	return q.d.MaxAge >= 0 && now.Sub(e.Created) > q.d.MaxAge
}

// takes reports whether e may answer q as it is: q wants a stored answer, and e is fresh and young enough.
func (q *query) takes(e *store.Entry, now time.Time) bool {
	return !q.d.NoCache && e.Fresh(now) && !q.tooOld(e, now)
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
	q.tick = s.store.Tick() // what passes through is no request to the policy
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
	return Bypass, s.passThrough(w, r, body, tells{result: Bypass, fwd: "bypass", detail: []string{reason}})
}

// read takes the request in and learns its identity.
func (s *Server) read(w http.ResponseWriter, r *http.Request, family *api.Family, d Directives) (*query, []byte, error) {
	if ct := r.Header.Get("Content-Type"); !isJSON(ct) {
		return nil, nil, apierror.BadRequest("invalid_content_type", "The Content-Type is "+apierror.Quote(ct)+"; this endpoint takes application/json.")
	}
	body, err := s.readBody(w, r)
	if err != nil {
		return nil, nil, err
	}
	req, err := family.Parse(body, s.identity(r, &d))
	if err != nil {
		return nil, nil, err
	}
	d.tighten(bodyDirectives(req.Directive))
	return &query{Request: req, family: family, http: r, d: d, epoch: s.epoch.Load()}, body, nil
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
		s.forget(s.store.Remove(failed.entry))
		q.d.NoCache = true
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
		return s.relay(w, q, o, leader)
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

// exact looks q up by its key. An expired or too old entry is no hit, but the former is remembered for stale-if-error.
func (s *Server) exact(q *query) (hit *served) {
	if q.d.NoCache {
		return nil
	}
	s.guarded("store", func() error {
		e, alias, ok := s.store.Lookup(store.Key(q.Key))
		if !ok || alias && !s.aliasAllowed(q) {
			return nil
		}
		now := s.opts.Now()
		if !e.Usable(now) || s.store.Expired(e.ID, q.tick) {
			s.forget(s.store.Remove(e.ID))
			return nil
		}
		if !e.Fresh(now) {
			q.stale = e
			return nil
		}
		if q.tooOld(e, now) {
			return nil
		}
		h, err := s.serve(q, e, Exact, now)
		if err != nil {
			return err
		}
		if alias {
			h.tells.detail = append(h.tells.detail, "alias")
		}
		hit = h
		return nil
	})
	return hit
}

// aliasAllowed reports whether an answer that was once found by meaning may serve q: not where only the very words count,
// and not under a threshold higher than the one it was found with.
func (s *Server) aliasAllowed(q *query) bool {
	return s.opts.Mode == ModeSemantic && !q.d.ExactOnly && q.d.Threshold <= s.opts.Thresholds.Hit
}

// staleHit is the expired answer to q, where one may stand in for an upstream that fails. The upstream may have taken its
// time to fail: the answer's own time may have run out meanwhile.
func (s *Server) staleHit(q *query) (hit *served) {
	now := s.opts.Now()
	if q.stale == nil || !q.stale.Usable(now) || q.tooOld(q.stale, now) {
		return nil
	}
	s.guarded("store", func() (err error) {
		hit, err = s.serve(q, q.stale, Stale, now)
		return err
	})
	if hit != nil {
		hit.tells.detail = append(hit.tells.detail, "stale-if-error")
	}
	return hit
}

// touch tells the policy and the topics that e answered q, which was compared by vector if at all. It comes after the
// answer is written, for it may wait for a search of the same scope; a large answer or a stream is with the client by then.
//
// The parent is the answer before in the conversation, as at a miss, and else one that is found only now: a child that
// outlived its parent is linked anew when both are asked for again.
func (s *Server) touch(q *query, e *store.Entry, vector []float32) {
	s.guarded("policy", func() error {
		parent := s.lastAnswer(q.Turns)
		if s.meaning() && q.Prompt != "" {
			parent = cmp.Or(parent, s.detectParent(e.ID, q.tick.Seq))
		}
		if s.opts.Observe != nil {
			s.opts.Observe(s.observation(q, e, parent, vector, true))
		}
		s.weigh(s.store.Hit(e.ID, parent, q.tick))
		return nil
	})
}
