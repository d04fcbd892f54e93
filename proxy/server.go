// Package proxy answers requests to LLM APIs from the cache where it can, and forwards the others.
//
// One request of a cached endpoint goes through these steps, each in the file named:
//
//  1. Package gate decides whether it is taken at all. handle.go reads the body within its limits and charges it (clientio.Budget), puts it
//     into a canonical form where the operator has set one, and has package api parse it, unless it had an exact hit before (readings.go).
//     The result is a request (request.go), which does not change any more.
//  2. path.go, which draws all of the path, looks the key up in package cache: an exact hit is written at once (served.go).
//  3. Without one the request joins the flight of its key (package upstream) or leads it; equal requests wait for its outcome. The leader looks
//     the key up again; package cache embeds the prompt and compares it with the entries of its scope.
//  4. Without an answer the leader waits for an equal request at another process, where processes share their flights, and asks the upstream
//     (fetch.go). The answer is written into a recording, which every waiter reads from its start while it grows (relay.go). While no
//     other waits, the goroutine of the leader does both.
//  5. keep.go judges the complete answer and passes it to package cache if it may be kept.
//  6. Those who watch read the outcome (package observe).
//
// A request asks the upstream twice at most, so that of n replicas it causes 2(n+1) calls at most; path.go says when, and package upstream
// what a call is.
//
// Requests of other endpoints, and those in which the cache must take no part, pass through (passthrough.go). A fault of the
// cache in steps 2, 3 or 5 is counted and logged, and costs the request only its hit.
//
// Around all of it, package clientio bounds slow clients, and keepalive.go writes comments to those that wait for a stream. live.go has
// the options that Reload replaces.
package proxy

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"reprise/proxy/api"
	"reprise/proxy/cache"
	"reprise/proxy/continuation"
	"reprise/proxy/gate"
	"reprise/proxy/internal/apierror"
	"reprise/proxy/internal/clientio"
	"reprise/proxy/observe"
	"reprise/proxy/observe/align"
	"reprise/proxy/observe/learn"
	"reprise/proxy/observe/misses"
	"reprise/proxy/observe/prices"
	"reprise/proxy/observe/watch"
	"reprise/proxy/upstream"
)

// Server is the proxy. Its handlers are safe for concurrent use.
type Server struct {
	opts     Options
	live     atomic.Pointer[live]
	cache    *cache.Cache
	upstream *upstream.Client
	ids      identifier
	readings *readings
	hints    *hints
	warmer   *warmer // nil: nothing is warmed

	continuation *continuation.Predictor // nil: nothing is predicted

	learner  *learn.Learner
	families families

	flights  *upstream.Flights[*outcome]
	budget   *clientio.Budget
	draining atomic.Bool
	faults   *faults
	gone     recent // names of the answers that clients have deleted: one knows the id from the first event of a stream, before that is kept
	whole    recent // lists of items, and scopes, of which a part was asked for in vain; see wasInVain

	// Those who watch, and the list by which the path of a request and a purge reach them.
	observers *observe.List
	metrics   *metrics
	costs     *prices.Ledger
	watch     *watch.Watch
	misses    *misses.Watch
	alignment *align.Watch
}

// New returns a server for o. It loads the topics from the store.
func New(o Options) (*Server, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	predicted, to := newPredicted(), o.upstream()
	to.Measure = predicted
	up, err := upstream.New(to)
	if err != nil {
		return nil, err
	}
	s := &Server{opts: o, upstream: up, ids: newIdentifier(&o, o.Store.Secret), readings: newReadings(), hints: newHints(&o), alignment: newAlignment(o.MemoryLimit, o.Now)}
	s.budget = clientio.NewBudget(o.MemoryLimit, func() int64 { return o.Store.Bytes() + o.NearBytes })
	s.metrics = newMetrics(o.APIs)
	s.costs = prices.NewLedger(o.Prices)
	s.metrics.vectors = append(s.metrics.vectors, predicted, s.costs)
	s.faults = &faults{metrics: s.metrics, log: o.Logger, repeated: NewFaultLog(o.Logger), prompts: o.LogPrompts}
	s.misses = s.newMisses()
	s.flights = upstream.NewFlights[*outcome](s.faults)
	s.live.Store(o.live())
	if s.cache, err = cache.New(o.cache(s)); err != nil {
		up.Close()
		return nil, err
	}
	s.learner = s.newLearner()
	s.metrics.vectors = append(s.metrics.vectors, s.learner)
	s.faults.degraded(s.cache.Restore(context.Background()))
	s.watch = s.newWatch()
	s.warmer = s.newWarmer()
	s.observers = observe.NewList(s.faults, s.watchers(), s.memories()...)
	s.warmer.start()
	s.continuation = s.newContinuation()
	return s, nil
}

// watchers are the observers, in the order in which they read an outcome: misses count a request before the metrics have it.
func (s *Server) watchers() []observe.Observer {
	all := []observe.Observer{s.misses, s.alignment, s.learner, s.metrics, s.costs, s.watch, observe.Spans{}}
	if s.opts.AccessLog != nil {
		all = append(all, s.opts.AccessLog)
	}
	return append(all, s.opts.Observers...)
}

// memories are what keeps something of requests beside the observers.
func (s *Server) memories() []observe.Memory { return []observe.Memory{s.readings, s.warmer} }

// Cache is the cache of a server, for what follows the log of a shared store.
func (s *Server) Cache() *cache.Cache { return s.cache }

// Handler serves the API: the cached endpoints, explain, feedback, and all other paths by the pass-through.
func (s *Server) Handler() http.Handler {
	families := map[*api.Family]http.HandlerFunc{}
	posts := map[string]http.HandlerFunc{explainPath: s.answering((*work).explain, nil), feedbackPath: s.answering((*work).feedback, nil)}
	for _, f := range s.opts.APIs.Families() {
		families[f] = s.answering((*work).handle, f)
		posts[f.Path] = families[f]
	}
	rest := s.answering((*work).other, nil)
	return clientio.Guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h, ok := posts[sentPath(r.URL)]; ok && r.Method == http.MethodPost {
			h(w, r)
			return
		}
		r = s.atItsDoor(r)
		if f := s.opts.APIs.ByPath(sentPath(r.URL)); f != nil && r.Method == http.MethodPost {
			families[f](w, r)
			return
		}
		rest(w, r)
	}), func() time.Duration { return s.live.Load().client })
}

// other passes a request through whose endpoint is not cached.
func (x *work) other() (Result, error) {
	in := x.r.http
	if err := checkConnection(in.Header); err != nil {
		return Refused, err
	}
	if isOwn(in.URL.Path) && gate.HasToken(in, x.s.live.Load().adminToken) {
		return Refused, errNotForwarded // the token is not for the upstream
	}
	if path := sentPath(in.URL); (path == explainPath || path == feedbackPath) && in.Method != http.MethodOptions {
		x.w.Header().Set("Allow", http.MethodPost)
		return Refused, errPostOnly
	}
	return x.bypass(nil, "endpoint")
}

// atItsDoor is r under the canonical path of its endpoint; r itself where it has that.
func (s *Server) atItsDoor(r *http.Request) *http.Request {
	path := api.Canonical(sentPath(r.URL))
	if path == sentPath(r.URL) || path == "/v1/embeddings" && r.URL.Path == "/embeddings" && s.opts.llamacpp() {
		return r
	}
	to, u := *r, *r.URL
	u.Path, u.RawPath = path, ""
	if plain, err := url.PathUnescape(path); err == nil && plain != path {
		u.Path, u.RawPath = plain, path
	}
	to.URL = &u
	return &to
}

// sentPath is the path as the client has sent it: a cached endpoint with an escape in its path is another endpoint.
func sentPath(u *url.URL) string {
	if u.RawPath != "" {
		return u.RawPath
	}
	return u.Path
}

// answering is the one place that turns a handler's error into a response, and counts and logs the request. f is the endpoint's API, nil
// for a path that is not cached.
func (s *Server) answering(h func(*work) (Result, error), f *api.Family) http.HandlerFunc {
	write := apierror.Write
	if f != nil {
		write = f.WriteError
	}
	return s.keepingAlive(func(w http.ResponseWriter, r *http.Request) {
		start, result, refused := s.opts.Now(), Refused, false
		x := s.arrive(w, r, f)
		defer func() { // also after a panic, which cuts an answer off
			if result == Refused && !refused && r.Context().Err() != nil {
				result = Gone
			}
			x.end(result, start)
		}()
		got, err := x.admit(h)
		switch {
		case err == nil:
			result = got
		case errors.Is(err, errCut) || errors.Is(err, errClientGone):
			panic(http.ErrAbortHandler) // returning would end the response regularly
		default:
			e := toAPIError(err)
			refused = true // a body that came too slowly ends the context too
			s.faults.logRefused(r, e, err)
			(&cacheStatus{result: Refused, detail: []string{e.Code}}).write(w.Header(), noLength)
			write(w, e)
		}
	}, f)
}

// admit lets h answer the request if the gate lets it pass.
func (x *work) admit(h func(*work) (Result, error)) (Result, error) {
	now, in := x.s.live.Load(), x.r.http
	check := now.gate.Check
	if (in.URL.Path == explainPath || in.URL.Path == feedbackPath) && gate.HasToken(in, now.adminToken) {
		check = now.gate.CheckAdmin
	}
	if err := check(x.w, in); err != nil {
		return Refused, err
	}
	return h(x)
}

// isOwn reports whether a path looks like one of the proxy's own, here or on the admin listener.
func isOwn(path string) bool {
	return path == "/admin" || strings.HasPrefix(path, "/admin/") || strings.HasPrefix(path, "/v1/reprise/")
}

// Drain makes the readiness probe fail, so that the server gets no new traffic.
func (s *Server) Drain() { s.draining.Store(true) }

// Draining reports whether Drain has been called.
func (s *Server) Draining() bool { return s.draining.Load() }

// Close keeps further upstream calls of cached endpoints from starting, for a server whose listeners are closed: a request that is
// still being handled gets a 503.
func (s *Server) Close() {
	s.watch.Close()
	s.flights.Close()
	s.warmer.close()
	s.continuation.Close()
	s.learner.Close()
	s.upstream.Close()
	s.faults.degraded(s.cache.Settle()) // hits that the store is to keep
}

// Wait returns when all flights have ended, or with ctx's error. Flights without a waiter end by themselves.
func (s *Server) Wait(ctx context.Context) error { return s.flights.Wait(ctx) }
