package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"reprise/embed"
	"reprise/internal/enginesim"
	"reprise/policy"
	"reprise/policy/registry"
	"reprise/proxy/admin"
	"reprise/proxy/observe/misses"
	"reprise/proxy/upstream"
	"reprise/store"
	"reprise/topics"
	"reprise/topics/reuse"
)

// rig is a proxy in front of a simulated engine, both on loopback.
type rig struct {
	*Server
	store    *store.Store
	topics   *topics.Topics
	engine   *enginesim.Engine
	up       *httptest.Server
	api      *httptest.Server
	adminAPI http.Handler
	admin    *httptest.Server
	logs     *lockedWriter
}

// newRig starts a rig; adjust changes the options before the proxy is made.
func newRig(t testing.TB, adjust ...func(*Options)) *rig {
	t.Helper()
	engine := enginesim.New(enginesim.Options{})
	return newRigAt(t, engine, engine, adjust...)
}

// newRigAt starts a proxy in front of any upstream.
func newRigAt(t testing.TB, engine *enginesim.Engine, behind http.Handler, adjust ...func(*Options)) *rig {
	t.Helper()
	up := httptest.NewServer(behind)
	t.Cleanup(up.Close)
	base, err := url.Parse(up.URL + "/v1")
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{engine: engine, up: up, logs: new(lockedWriter)}
	embedder := embed.NewBuiltin()
	o := Options{Upstreams: []upstream.Target{{Base: base}}, Embedder: embedder, Thresholds: embedder.Thresholds(), Words: true, Trust: reuse.Granted, Draw: func() float64 { return 0.999999 }, IgnoreHeaders: []string{enginesim.FaultHeader, "X-Torture"},
		Logger: slog.New(slog.NewTextHandler(r.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	for _, f := range adjust {
		f(&o)
	}
	if o.Store == nil {
		o.Store = newStore(t, 1000, o.Now)
	}
	o.Topics, err = topics.New(topics.Options{Dim: embedder.Dim(), Hit: o.Thresholds.Hit, Route: o.Thresholds.Route, Edge: o.Thresholds.Edge})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Topics.Close)
	if r.Server, err = New(o); err != nil {
		t.Fatal(err)
	}
	r.store, r.topics = o.Store, o.Topics
	r.api = httptest.NewServer(r.Server.Handler())
	r.adminAPI = admin.New(admin.Options{Proxy: r.Server, Learner: r.Server.Learning(), Alignment: r.Server.Alignment(), Reports: r, Undos: admin.NewUndos(r.Server),
		Upstreams: r.Server.Upstreams(), Entries: o.Store, Topics: o.Topics, Settle: func() { r.Server.Cache().Stats() }, Token: o.AdminToken, Policy: "rac+"})
	r.admin = httptest.NewServer(r.adminAPI)
	t.Cleanup(func() {
		r.api.Close()
		r.admin.Close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := r.Wait(ctx); err != nil {
			t.Errorf("flights did not end: %v", err)
		}
	})
	return r
}

// Report implements admin.Reports.
func (r *rig) Report(_ context.Context, name string) any {
	switch name {
	case "stats":
		return r.Stats()
	case "frames":
		return r.Frames()
	case "misses":
		return r.Server.Misses().Report(misses.Settings{})
	}
	return nil
}

// reply is what a client got.
type reply struct {
	status int
	header http.Header
	body   string
}

func (r reply) cache() string { return r.header.Get("X-Cache") }

// ask posts a body to a path of the API, with header lines "Name: value".
func (r *rig) ask(t testing.TB, path, body string, header ...string) reply {
	t.Helper()
	got, err := r.try(path, body, header...)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func (r *rig) try(path, body string, header ...string) (reply, error) {
	req, err := http.NewRequest("POST", r.api.URL+path, strings.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer sk-test")
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Set(name, value)
	}
	resp, err := r.api.Client().Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header, string(b)}, err
}

// chat is the body of a chat request with one user message; more are members such as `"stream":true`.
func chat(prompt string, more ...string) string {
	q, _ := json.Marshal(prompt)
	return `{"model":"gpt-4o","messages":[{"role":"user","content":` + string(q) + `}]` + joined(more) + `}`
}

func joined(more []string) string {
	if len(more) == 0 {
		return ""
	}
	return "," + strings.Join(more, ",")
}

// content is the text of a chat answer.
func (r reply) content(t testing.TB) string {
	t.Helper()
	var a struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if err := json.Unmarshal([]byte(r.body), &a); err != nil || len(a.Choices) == 0 {
		t.Fatalf("no chat answer (%v): %s", err, r.body)
	}
	return a.Choices[0].Message.Content
}

// lockedWriter is a log that several goroutines may write to.
type lockedWriter struct {
	mu sync.Mutex
	w  bytes.Buffer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

func (l *lockedWriter) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.String()
}

// newStore is a store in memory for n entries under the default policy.
func newStore(t testing.TB, n int, now func() time.Time) *store.Store {
	return newStoreOf(t, "rac+", n, now)
}

func newStoreOf(t testing.TB, spec string, n int, now func() time.Time) *store.Store {
	t.Helper()
	evictor, err := registry.New(spec, policy.Options{Capacity: n})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(store.Options{Evictor: evictor, Limit: policy.Limit{Entries: n}, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// entryOf is the entry of an answer: the one it was served from, or stored as.
func entryOf(t testing.TB, r reply) policy.ID {
	t.Helper()
	n, err := strconv.ParseUint(r.header.Get("X-Reprise-Entry"), 10, 64)
	if err != nil {
		t.Fatalf("X-Reprise-Entry: %v", err)
	}
	return policy.ID(n)
}
