package torture

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reprise/embed"
	"reprise/internal/built"
	"reprise/policy"
	"reprise/policy/registry"
	"reprise/proxy"
	"reprise/proxy/admin"
	"reprise/proxy/cache"
	"reprise/proxy/upstream"
	"reprise/store"
	"reprise/store/file"
	"reprise/topics"
	"reprise/topics/reuse"
	"reprise/topics/reuse/evidence"
)

// world is a proxy between clients and an engine. The proxy is in this process, or in one of its own.
type world struct {
	t    testing.TB
	seed uint64
	h    *history
	u    rules

	up         *engine
	emb        *embedder // nil: the built-in one
	api, admin string    // base URLs
	client     *http.Client
	log        *logBuffer
	clock      *atomic.Int64 // nanoseconds added to the clock of the proxy in this process

	proc  *built.Proxy // nil: in this process
	lent  bool         // the engine is of another world
	over  bool         // the proxy has ended: no figures can be read
	store *store.Store
	end   func() // ends the proxy; it may be called again

	fresh atomic.Int64 // numbers prompts that were not asked before
}

// setup is how a world differs from the usual one.
type setup struct {
	limits   proxy.Limits
	embedder bool        // use an embedding server
	tls      *tls.Config // of the upstream
	host     string      // name of the upstream; default: its address
	path     string      // of the store's file; "": in memory
	history  *history    // goes on with a history, as after a restart
	engine   *engine     // goes on with its engine
	backing  func(store.Backing) store.Backing
	evictor  func(policy.Evictor) policy.Evictor
	judge    func(*evidence.Rates) cache.Judge
	embed    func(embed.Embedder) embed.Embedder
	entries  int  // capacity; default 40
	still    bool // the clock of the proxy stands still
	rules    rules
}

const (
	worldTTL   = time.Minute
	worldStale = time.Minute
	worldBytes = 96 << 10 // capacity
)

// newWorld starts a world. It ends with the test, or earlier by end.
func newWorld(t testing.TB, seed uint64, s setup) *world {
	t.Helper()
	w := bareWorld(t, seed, s)
	o := proxy.Options{Words: true, Draw: func() float64 { return 0.5 }, TTL: worldTTL, StaleIfError: worldStale, Limits: s.limits, AdminToken: "canary-admin-token",
		Logger: slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Now:    w.now(s.still)}
	base, err := url.Parse(w.up.base())
	if err != nil {
		t.Fatal(err)
	}
	o.Upstreams = []upstream.Target{{Base: base}}
	transport := upstream.NewTransport(s.limits.Limits.WithDefaults())
	o.Transport = transport
	o.Embedder = embed.NewBuiltin()
	var embedding *http.Transport
	if s.embedder {
		w.emb = newEmbedder(t)
		o.Embedder, embedding = w.emb.client(t, s.limits.Embed)
	}
	if s.embed != nil {
		o.Embedder = s.embed(o.Embedder)
	}
	o.Judge, o.Trust = s.judge, reuse.Granted
	o.Thresholds = o.Embedder.Thresholds()
	o.Store = w.openStore(s, o.Embedder.Space(), o.Now)
	gates := o.Thresholds
	if o.Topics, err = topics.New(topics.Options{Dim: o.Embedder.Dim(), Hit: gates.Hit, Route: gates.Route, Edge: gates.Edge}); err != nil {
		t.Fatal(err)
	}
	p, err := proxy.New(o)
	if err != nil {
		t.Fatal(err)
	}
	w.store = o.Store
	api := httptest.NewServer(p.Handler())
	adm := httptest.NewServer(admin.New(admin.Options{Proxy: p, Upstreams: p.Upstreams(), Entries: o.Store, Topics: o.Topics, Policy: "rac+", Token: o.AdminToken,
		Reports: stats{p}}))
	w.api, w.admin = api.URL, adm.URL
	w.end = sync.OnceFunc(func() {
		api.Close()
		adm.Close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := p.Wait(ctx); err != nil {
			t.Errorf("flights did not end: %v", err)
		}
		p.Close()
		o.Topics.Close()
		o.Store.Close() // a fault may be in force that makes this fail
		transport.CloseIdleConnections()
		if w.emb != nil {
			embedding.CloseIdleConnections()
			w.emb.Close()
		}
	})
	t.Cleanup(w.finish)
	return w
}

// now is the clock of the proxy.
func (w *world) now(still bool) func() time.Time {
	if still {
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		return func() time.Time { return at.Add(time.Duration(w.clock.Load())) }
	}
	return func() time.Time { return time.Now().Add(time.Duration(w.clock.Load())) }
}

// bareWorld is a world without a proxy.
func bareWorld(t testing.TB, seed uint64, s setup) *world {
	w := &world{t: t, seed: seed, h: s.history, up: s.engine, u: s.rules, log: new(logBuffer), clock: new(atomic.Int64), end: func() {}}
	if w.h == nil {
		w.h = newHistory()
	}
	w.lent = w.up != nil
	if w.up == nil {
		w.up = newEngine(t, w.h, seed, s.tls)
		w.up.host = s.host
	}
	w.u.ttl, w.u.stale = worldTTL, worldStale
	w.h.capacity, w.h.largest = worldBytes, 32<<10
	w.client = &http.Client{Timeout: 3 * time.Minute, Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return w
}

// finish ends all parts.
func (w *world) finish() {
	w.end()
	if !w.lent {
		w.up.close()
	}
	w.client.CloseIdleConnections()
}

func (w *world) openStore(s setup, space string, now func() time.Time) *store.Store {
	w.t.Helper()
	entries := max(s.entries, 40)
	if s.entries == 0 {
		entries = 40
	}
	evictor, err := registry.New("rac+", policy.Options{Capacity: entries})
	if err != nil {
		w.t.Fatal(err)
	}
	if s.evictor != nil {
		evictor = s.evictor(evictor)
	}
	o := store.Options{Evictor: evictor, Limit: policy.Limit{Entries: entries, Bytes: worldBytes}, Space: space, Now: now, FlushEvery: 20 * time.Millisecond}
	if s.path != "" {
		if o.Backing, err = file.Open(s.path); err != nil {
			w.t.Fatal(err)
		}
	}
	if s.backing != nil {
		o.Backing = s.backing(o.Backing)
	}
	st, err := store.Open(o)
	if err != nil {
		w.t.Fatal(err)
	}
	return st
}

// logBuffer is a log that several goroutines may write to.
type logBuffer struct {
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// eventually waits until ok holds, for two minutes at most.
func eventually(t testing.TB, what string, ok func() bool) bool {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Errorf("this did not happen: %s", what)
			return false
		}
	}
	return true
}

// freshPrompt is a prompt that was not asked before, and belongs to a group of its own.
func (w *world) freshPrompt() string {
	return fmt.Sprintf("What is the capital of canary island %d?", 1000*w.seed+uint64(w.fresh.Add(1)))
}

// stats are the counters of a proxy, for GET /admin/stats.
type stats struct{ p *proxy.Server }

func (s stats) Report(context.Context, string) any { return s.p.Stats() }
