package upstream

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"reprise/proxy/upstream/dialect"
)

// engine is a replica that records what it gets. It refuses stream_options if strict.
type engine struct {
	strict bool
	*httptest.Server
	headers []http.Header
	bodies  []string
}

func newEngine(t *testing.T, strict bool) *engine {
	e := &engine{strict: strict}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		e.headers, e.bodies = append(e.headers, r.Header), append(e.bodies, string(b))
		if e.strict && bytes.Contains(b, []byte("stream_options")) {
			http.Error(w, "Unknown parameter: stream_options", http.StatusBadRequest)
			return
		}
		fmt.Fprint(w, r.URL.Path)
	}))
	t.Cleanup(e.Close)
	return e
}

func (e *engine) target(t *testing.T, key, dialect string) Target {
	base, err := url.Parse(e.URL + "/base/v1")
	if err != nil {
		t.Fatal(err)
	}
	return Target{Base: base, Key: key, Dialect: dialect}
}

// newClient returns a client that checks no health unless o says when.
func newClient(t *testing.T, o Options) *Client {
	if o.HealthInterval == 0 {
		o.HealthInterval = -1
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// passTo is a handler that forwards all requests, of one tenant, as they are.
func passTo(t *testing.T, c *Client) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := c.PassThrough(w, Request{Original: r}, nil); err != nil {
			t.Error(err)
		}
	})
}

// ask sends a stream's request through c and returns the answer's text.
func ask(t *testing.T, c *Client) (reply *Reply, text string) {
	t.Helper()
	in := httptest.NewRequest("POST", "/v1/chat/completions", nil)
	in.Header = http.Header{"Authorization": {"Bearer own"}, "X-Reprise-Mode": {"exact"}, "Connection": {"close"}, "Accept-Encoding": {"br"}}
	reply, err := c.Call(t.Context(), Request{Original: in, Body: []byte(`{"stream":true}`), Want: dialect.Intent{StreamUsage: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	b, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply, string(b)
}

// TestQuarantineIsPerReplica: a replica that refuses a field is asked again without it, once and with one line in the log;
// another one still gets the field.
func TestQuarantineIsPerReplica(t *testing.T) {
	var logs bytes.Buffer
	strict, lenient, bare := newEngine(t, true), newEngine(t, false), newEngine(t, false)
	c := newClient(t, Options{Chooser: &byTurns{-1}, Logger: slog.New(slog.NewTextHandler(&logs, nil)),
		Replicas: []Target{strict.target(t, "", ""), lenient.target(t, "", "generic"), bare.target(t, "", "plain")}})
	for i := range 6 {
		reply, text := ask(t, c)
		if wants := i%3 == 1; reply.StatusCode != 200 || text != "/base/v1/chat/completions" || (len(reply.Added) > 0) != wants {
			t.Errorf("call %d: %d %q, added %v", i, reply.StatusCode, text, reply.Added)
		}
	}
	const with, without = `{"stream":true,"stream_options":{"include_usage":true}}`, `{"stream":true}`
	for _, tc := range []struct {
		of   *engine
		want string
	}{{strict, with + without + without}, {lenient, with + with}, {bare, without + without}} {
		if got := strings.Join(tc.of.bodies, ""); got != tc.want {
			t.Errorf("a replica got %s, want %s", got, tc.want)
		}
	}
	if n := strings.Count(logs.String(), "stream_options.include_usage"); n != 1 {
		t.Errorf("%d lines about one refused field:\n%s", n, logs.String())
	}
}

// TestErrorAboutSomethingElse: an error answer that names no added field reaches the caller whole.
func TestErrorAboutSomethingElse(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, strings.Repeat("no ", 50_000))
	}))
	defer up.Close()
	base, _ := url.Parse(up.URL)
	reply, text := ask(t, newClient(t, Options{Replicas: []Target{{Base: base}}}))
	if reply.StatusCode != 400 || text != strings.Repeat("no ", 50_000) || len(reply.Added) != 1 {
		t.Errorf("%d, %d bytes, added %v", reply.StatusCode, len(text), reply.Added)
	}
}

// TestIdleBody: an answer that stops coming ends with ErrIdle.
func TestIdleBody(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "half")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer up.Close()
	base, _ := url.Parse(up.URL)
	c := newClient(t, Options{Replicas: []Target{{Base: base}}, Limits: Limits{BetweenBytes: 20 * time.Millisecond}})
	reply, err := c.Call(t.Context(), Request{Original: httptest.NewRequest("POST", "/v1/x", nil)})
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if b, err := io.ReadAll(reply.Body); string(b) != "half" || !errors.Is(err, ErrIdle) {
		t.Errorf("read %q, %v", b, err)
	}
}

func TestSameCredential(t *testing.T) {
	a, b := http.Header{"X-Api-Key": {"1"}}, http.Header{"X-Api-Key": {"2"}}
	if own := newReplica(Target{}, Concurrency{}); own.SameCredential(a, b) || !own.SameCredential(a, a.Clone()) {
		t.Error("the clients' own credentials are not compared")
	}
	if !newReplica(Target{Key: "k"}, Concurrency{}).SameCredential(a, b) {
		t.Error("a replica with a key sees two credentials")
	}
}

// TestKeyOfOurs: a replica with a key gets none of the client's credentials; another one gets what the client sent.
func TestKeyOfOurs(t *testing.T) {
	in := httptest.NewRequest("POST", "/v1/chat/completions?api-version=1&api-key=mine", nil)
	in.Header = http.Header{"Cookie": {"a=b"}, "X-Goog-Api-Key": {"mine"}, "X-My-Token": {"mine"}, "X-Other": {"o"}, "X-Forwarded-For": {"1.1.1.1"}}
	for key, want := range map[string]string{
		"":   "api-version=1&api-key=mine map[Cookie:[a=b] User-Agent:[] X-Goog-Api-Key:[mine] X-My-Token:[mine] X-Other:[o]]",
		"k1": "api-version=1 map[Authorization:[Bearer k1] User-Agent:[] X-Other:[o]]",
	} {
		r := newReplica(Target{Base: &url.URL{Path: "/v1"}, Key: key}, Concurrency{})
		if got := fmt.Sprint(r.url(in.URL).RawQuery, " ", r.requestHeader(in.Header)); got != want {
			t.Errorf("key %q: %s, want %s", key, got, want)
		}
	}
}

func TestValidate(t *testing.T) {
	parse := func(s string) *url.URL { u, _ := url.Parse(s); return u }
	for _, tc := range []struct {
		replicas []Target
		says     string
	}{
		{nil, "an upstream URL is required"}, {[]Target{{}}, "an upstream URL is required"},
		{[]Target{{Base: parse("ftp://x/v1")}}, "is not a base URL"}, {[]Target{{Base: parse("http://x/v1?a=b")}}, "is not a base URL"},
		{[]Target{{Base: parse("http://x/v1")}, {Base: parse("http://y/v1"), Dialect: "klingon"}}, "klingon"},
	} {
		if _, err := New(Options{Replicas: tc.replicas}); err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%v: %v", tc.replicas, err)
		}
	}
}
