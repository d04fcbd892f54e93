//go:build unix

package failover_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"reprise/proxy"
	"reprise/proxy/upstream"
)

// stub is an upstream that answers every POST with its name and counts them. Its status can be changed.
type stub struct {
	name   string
	posts  atomic.Int64
	status atomic.Int64
	last   atomic.Value // the body of the last one
}

func (s *stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		return
	}
	body, _ := io.ReadAll(r.Body)
	s.last.Store(string(body))
	s.posts.Add(1)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(s.status.Load()))
	fmt.Fprintf(w, `{"id":"c","object":"chat.completion","model":"x","choices":[{"index":0,"message":{"role":"assistant","content":"I am %s."},"finish_reason":"stop"}],`+
		`"usage":{"prompt_tokens":3,"completion_tokens":3,"total_tokens":6}}`, s.name)
}

// newStub starts a stub and returns a target for it.
func newStub(t *testing.T, name string, models ...upstream.Model) (*stub, upstream.Target) {
	s := &stub{name: name}
	s.status.Store(http.StatusOK)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, upstream.Target{Name: name, Base: &url.URL{Scheme: "http", Host: strings.TrimPrefix(server.URL, "http://"), Path: "/v1"}, Models: models}
}

// TestModelOfLargeBody: a request of an endpoint that is not cached goes to the upstream with its model, however large its body is.
func TestModelOfLargeBody(t *testing.T) {
	_, a := newStub(t, "a", upstream.Model{Name: "m"})
	b, second := newStub(t, "b", upstream.Model{Name: "n", Mapped: "of-b"})
	w := newProxy(t, func(o *proxy.Options) { o.Upstreams, o.MaxBody = []upstream.Target{a, second}, 1<<20 })
	text := strings.Repeat("word ", 40_000)
	for _, path := range []string{"/v1/messages", "/v1/chat/completions"} {
		body := `{"messages":[{"role":"user","content":"` + text + `"}],"tools":[],"model":"n"}`
		resp, err := http.Post(w.api+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		got, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if !strings.Contains(string(got), "I am b.") || !strings.Contains(resp.Header.Get("Cache-Status"), "upstream=b") {
			t.Errorf("%s: %d %s, %v", path, resp.StatusCode, got, resp.Header)
		}
		if sent, want := b.last.Load().(string), strings.Replace(body, `"model":"n"`, `"model":"of-b"`, 1); sent != want {
			t.Errorf("%s: sent %.60s … %s", path, sent, sent[len(sent)-40:])
		}
	}
}

// TestFastFailure: an upstream that answers 404 or, to the operator's key, 401 at once while its health checks are good gets two requests of one
// system prompt, and no client sees them.
func TestFastFailure(t *testing.T) {
	for _, status := range []int64{http.StatusNotFound, http.StatusUnauthorized} {
		a, first := newStub(t, "a")
		b, second := newStub(t, "b")
		first.Key, second.Key = "key-of-a", "key-of-b"
		w := newProxy(t, func(o *proxy.Options) { o.Upstreams = []upstream.Target{first, second} })
		a.status.Store(status)
		for i := range 24 {
			body := fmt.Sprintf(`{"model":"m","messages":[{"role":"system","content":%q},{"role":"user","content":"Question %d"}]}`, strings.Repeat("You help. ", 600), i)
			resp, err := http.Post(w.api+"/v1/chat/completions", "application/json", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			got, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			if resp.StatusCode != 200 || !strings.Contains(string(got), "I am b.") {
				t.Errorf("%d at one upstream, request %d: %d %s", status, i, resp.StatusCode, got)
			}
		}
		if toA, toB := a.posts.Load(), b.posts.Load(); toA > 2 || toB != 24 {
			t.Errorf("%d: %d and %d requests", status, toA, toB)
		}
	}
}

// TestForeignAnswer: the answer of another model is marked and not stored; the next one of the model itself is.
func TestForeignAnswer(t *testing.T) {
	a, first := newStub(t, "a")
	b, second := newStub(t, "b", upstream.Model{Name: "m", Mapped: "small"})
	second.Fallback, second.Key = true, "key-of-b"
	w := newProxy(t, func(o *proxy.Options) { o.Upstreams = []upstream.Target{first, second} })
	ask := func() (text, status string) {
		resp, err := http.Post(w.api+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"Who are you?"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		got, _ := io.ReadAll(resp.Body)
		return string(got), resp.Header.Get("Cache-Status")
	}
	a.status.Store(http.StatusServiceUnavailable)
	if text, status := ask(); !strings.Contains(text, "I am b.") || !strings.Contains(status, "other-model") || strings.Contains(status, "; stored") {
		t.Errorf("%s, %s", status, text)
	}
	a.status.Store(http.StatusOK)
	if text, status := ask(); !strings.Contains(text, "I am a.") || !strings.Contains(status, "; stored") {
		t.Errorf("%s, %s", status, text)
	}
	if text, status := ask(); !strings.Contains(text, "I am a.") || !strings.Contains(status, "; hit") {
		t.Errorf("%s, %s", status, text)
	}
	if n := a.posts.Load() + b.posts.Load(); n != 3 {
		t.Errorf("%d calls", n)
	}
}
