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
	"strings"
	"sync"
	"testing"
	"time"

	"reprise/embed"
	"reprise/policy"
	"reprise/proxy/enginesim"
	"reprise/store"
	"reprise/topics"
)

// rig is a proxy in front of a simulated engine, both on loopback.
type rig struct {
	*Server
	engine *enginesim.Engine
	api    *httptest.Server
	admin  *httptest.Server
	logs   *lockedWriter
}

// newRig starts one; adjust changes the options before the proxy is made.
func newRig(t testing.TB, adjust ...func(*Options)) *rig {
	t.Helper()
	engine := enginesim.New(enginesim.Options{})
	return newRigAt(t, engine, engine, adjust...)
}

// newRigAt starts a proxy in front of any upstream.
func newRigAt(t testing.TB, engine *enginesim.Engine, upstream http.Handler, adjust ...func(*Options)) *rig {
	t.Helper()
	up := httptest.NewServer(upstream)
	t.Cleanup(up.Close)
	base, err := url.Parse(up.URL + "/v1")
	if err != nil {
		t.Fatal(err)
	}
	evictor, err := policy.New("rac", policy.Options{Capacity: 1000})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := store.Open(store.Options{Evictor: evictor, Limit: policy.Limit{Entries: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kept.Close() })
	embedder := embed.NewBuiltin()
	gates := embedder.Thresholds()
	tops, err := topics.New(topics.Options{Dim: embedder.Dim(), Hit: gates.Hit, Route: gates.Route, Edge: gates.Edge})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tops.Close)
	r := &rig{engine: engine, logs: new(lockedWriter)}
	o := Options{Upstream: base, Store: kept, Topics: tops, Embedder: embedder, Thresholds: gates,
		Logger: slog.New(slog.NewTextHandler(r.logs, nil))}
	for _, f := range adjust {
		f(&o)
	}
	if r.Server, err = New(o); err != nil {
		t.Fatal(err)
	}
	r.api = httptest.NewServer(r.Server.Handler())
	r.admin = httptest.NewServer(r.Server.Admin())
	t.Cleanup(func() {
		r.api.Close()
		r.admin.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := r.Wait(ctx); err != nil {
			t.Errorf("flights did not end: %v", err)
		}
	})
	return r
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

// lockedWriter lets several goroutines log into a buffer.
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

func TestRepeatIsAHit(t *testing.T) {
	r := newRig(t)
	first := r.ask(t, "/v1/chat/completions", chat("What is the capital of France?"))
	if first.status != 200 || first.cache() != "miss" {
		t.Fatalf("first: %d %s %s", first.status, first.header, first.body)
	}
	second := r.ask(t, "/v1/chat/completions", chat("What is the capital of France?"))
	if second.cache() != "exact" || second.content(t) != first.content(t) {
		t.Fatalf("second: %s %s", second.header, second.body)
	}
	t.Log(first.header.Get("Cache-Status"), second.header.Get("Cache-Status"), second.body)
	third := r.ask(t, "/v1/chat/completions", chat("what is the capital of france"))
	if third.cache() != "semantic" || third.content(t) != first.content(t) {
		t.Fatalf("third: %s %s", third.header, third.body)
	}
	s := r.ask(t, "/v1/chat/completions", chat("What is the capital of France?", `"stream":true`))
	t.Log(s.cache(), s.body)
}
