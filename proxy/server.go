// Package proxy answers OpenAI-compatible requests from the cache where it can, and passes the rest on.
//
// One request of a cached endpoint goes through these steps, each in the file named:
//
//  1. handle.go reads the body within its limits and, through package canon, learns what identifies the request.
//  2. handle.go looks the key up: an exact hit is answered from the store at once (reply.go).
//  3. handle.go opens a flight per key (package upstream); equal requests meanwhile wait for its outcome.
//  4. package cache embeds the prompt, routes it to a topic and verifies the nearest members; guards may veto.
//  5. fetch.go asks the upstream (package upstream); its answer is written into a recording, which every waiter reads from
//     its start while it grows (relay.go).
//  6. keep.go judges the complete answer and, if it is worth keeping, gives it to package cache.
//
// A fault of the cache in steps 2, 4 or 6 is counted and logged, and costs the request only its hit.
package proxy

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync/atomic"

	"github.com/go-chi/chi/v5"

	"reprise/proxy/api"
	"reprise/proxy/cache"
	"reprise/proxy/internal/apierror"
	"reprise/proxy/upstream"
)

// Server is the proxy. Its handlers are safe for concurrent use.
type Server struct {
	opts     Options
	cache    *cache.Cache
	upstream *upstream.Client
	pass     http.Handler // forwards to the upstream
	secret   [32]byte     // keys the digests of credentials

	flights  *upstream.Flights[*outcome]
	draining atomic.Bool

	metrics *metrics
	log     *slog.Logger
	faults  *FaultLog
}

// New returns a server for o. It loads the topics from the store.
func New(o Options) (*Server, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	up, err := upstream.New(o.upstream())
	if err != nil {
		return nil, err
	}
	s := &Server{opts: o, upstream: up, secret: o.Store.Secret(), log: o.Logger}
	s.flights = upstream.NewFlights[*outcome](s.crashed)
	s.faults = NewFaultLog(o.Logger)
	s.metrics = newMetrics(o.APIs, func() bool { return s.cache.Degraded() })
	if s.cache, err = cache.New(s.cacheOptions()); err != nil {
		return nil, err
	}
	if err := s.cache.Restore(context.Background()); err != nil {
		return nil, err
	}
	s.pass = up.PassThrough(passFailed)
	return s, nil
}

// cacheOptions describes the cache to package cache, which reports its faults here.
func (s *Server) cacheOptions() cache.Options {
	o := &s.opts
	return cache.Options{Store: o.Store, Topics: o.Topics, Meaning: o.Mode == ModeSemantic || o.Mode == ModeShadow, Shadow: o.Mode == ModeShadow,
		Embedder: o.Embedder, EmbedLimit: max(o.Limits.Embed, 0), Thresholds: o.Thresholds, Judge: o.Guard, Readers: o.Readers, Now: o.Now,
		OnFault: func(step string, err error) { s.fault(context.Background(), step, err) }}
}

// Handler serves the API: the cached endpoints, explain, and everything else as it is.
func (s *Server) Handler() http.Handler {
	r := chi.NewRouter()
	for _, f := range s.opts.APIs.Families() {
		r.Post(f.Path, s.answering(func(w http.ResponseWriter, r *http.Request) (Result, error) { return s.handle(w, r, f) }, f))
	}
	r.Post("/v1/reprise/explain", s.answering(s.explain, nil))
	rest := s.answering(func(w http.ResponseWriter, r *http.Request) (Result, error) {
		if err := checkConnection(r.Header); err != nil {
			return Refused, err
		}
		return Bypass, s.passThrough(w, r, nil, cacheStatus{result: Bypass, fwd: "bypass", detail: []string{"endpoint"}})
	}, nil)
	r.NotFound(rest)
	r.MethodNotAllowed(rest)
	return r
}

// answering turns a handler's error into a response, at this one place, and counts the request. f is the endpoint's API,
// nil for every path that is not cached.
func (s *Server) answering(h func(http.ResponseWriter, *http.Request) (Result, error), f *api.Family) http.HandlerFunc {
	endpoint, write := otherEndpoint, apierror.Write
	if f != nil {
		endpoint, write = f.Name, f.WriteError
	}
	return func(w http.ResponseWriter, r *http.Request) {
		start, result := s.opts.Now(), Refused
		defer func() { // also when an answer is cut off by a panic
			if result == Refused && r.Context().Err() != nil {
				result = Gone
			}
			s.metrics.request(endpoint, result, s.opts.Now().Sub(start))
		}()
		w = newDeadlineWriter(w, s.opts.Limits.ClientWrite)
		got, err := h(w, r)
		switch {
		case err == nil:
			result = got
		case errors.Is(err, errCut) || errors.Is(err, errClientGone):
			panic(http.ErrAbortHandler) // returning would end the response well
		default:
			e := toAPIError(err)
			s.logError(r, e, err)
			(&cacheStatus{result: Refused, detail: []string{e.Code}}).write(w.Header())
			write(w, e)
		}
	}
}

// Drain makes the readiness probe fail, so that no new traffic is sent here.
func (s *Server) Drain() { s.draining.Store(true) }

// Draining reports whether Drain has been called.
func (s *Server) Draining() bool { return s.draining.Load() }

// Wait returns when no flight is under way any more, or when ctx ends. Flights without a waiter end by themselves.
func (s *Server) Wait(ctx context.Context) error { return s.flights.Wait(ctx) }
