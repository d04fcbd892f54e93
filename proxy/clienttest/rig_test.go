// Package clienttest shows that applications need only another base URL: client libraries call an engine directly and through
// the proxy, and must get equal results. It holds tests only.
package clienttest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"reprise/embed"
	"reprise/internal/enginesim"
	"reprise/policy"
	"reprise/policy/registry"
	"reprise/proxy"
	"reprise/proxy/upstream"
	"reprise/store"
	"reprise/topics"
)

// site is a server for clients. The first segment of a path names the scenario, whose fault is added to the request; the rest
// is the path of the API. Requests are served one after the other: the next one begins when all work of the last one has
// ended.
type site struct {
	url     string
	api     http.Handler
	settled func(context.Context) error

	mu      sync.Mutex          // held while a request is served; protects what follows
	seen    map[string][]string // X-Cache of the answers, by scenario
	serving string              // the scenario of the request that is served
}

func newSite(t *testing.T, api http.Handler, settled func(context.Context) error) *site {
	s := &site{api: api, settled: settled, seen: map[string][]string{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.settled(r.Context()); err != nil {
		return // the client left
	}
	name, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	s.serving = name
	r.URL.Path, r.URL.RawPath = "/"+path, ""
	if fault := faultOf(name); fault != "" {
		r.Header.Set(enginesim.FaultHeader, fault)
	}
	defer func() { s.seen[name] = append(s.seen[name], w.Header().Get("X-Cache")) }() // a cut answer panics
	s.api.ServeHTTP(w, r)
}

// caches is the X-Cache of the answers of a scenario since the last call.
func (s *site) caches(scenario string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer delete(s.seen, scenario)
	return strings.Join(s.seen[scenario], " ")
}

// direct is an engine without a proxy.
func direct(t *testing.T) *site {
	return newSite(t, enginesim.New(enginesim.Options{}), settledNow)
}

// settledNow is for a site whose work ends with its answer.
func settledNow(context.Context) error { return nil }

// proxied is an engine of its own behind a proxy with an empty cache.
func proxied(t *testing.T, o proxy.Options) *site {
	t.Helper()
	return proxiedTo(t, o, enginesim.New(enginesim.Options{}), upstream.Target{})
}

// proxiedTo is a proxy with an empty cache in front of engine, which is described by target.
func proxiedTo(t *testing.T, o proxy.Options, engine http.Handler, target upstream.Target) *site {
	t.Helper()
	server := httptest.NewServer(engine)
	t.Cleanup(server.Close)
	var err error
	if target.Base, err = url.Parse(server.URL + "/v1"); err != nil {
		t.Fatal(err)
	}
	embedder := embed.NewBuiltin()
	o.Upstreams, o.Embedder, o.Thresholds = []upstream.Target{target}, embedder, embedder.Thresholds()
	o.Store, o.IgnoreHeaders = newStore(t), []string{enginesim.FaultHeader}
	o.Topics, err = topics.New(topics.Options{Dim: embedder.Dim(), Hit: o.Thresholds.Hit, Route: o.Thresholds.Route, Edge: o.Thresholds.Edge})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Topics.Close)
	api, err := proxy.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := api.Wait(ctx); err != nil {
			t.Errorf("flights did not end: %v", err)
		}
	})
	return newSite(t, api.Handler(), api.Wait)
}

func newStore(t *testing.T) *store.Store {
	t.Helper()
	const entries = 1000
	evictor, err := registry.New("rac", policy.Options{Capacity: entries})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(store.Options{Evictor: evictor, Limit: policy.Limit{Entries: entries}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
