//go:build unix

package failover_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reprise/embed"
	"reprise/policy"
	"reprise/policy/classic"
	"reprise/proxy"
	"reprise/proxy/upstream"
	"reprise/store"
	"reprise/topics"
)

// world is a proxy in front of two engines, a and b, that write their requests to one file.
type world struct {
	*proxy.Server
	a, b *engine
	file string
	api  string
}

// newWorld starts engines with so many output tokens a second, "0" for no wait, and a proxy with a few options changed.
func newWorld(t *testing.T, decode string, change func(*proxy.Options)) *world {
	t.Helper()
	w := &world{file: filepath.Join(t.TempDir(), "requests")}
	w.a, w.b = newEngine(t, w.file, decode), newEngine(t, w.file, decode)
	target := func(name string, e *engine) upstream.Target {
		return upstream.Target{Name: name, Base: &url.URL{Scheme: "http", Host: e.address, Path: "/v1"}}
	}
	p := newProxy(t, func(o *proxy.Options) {
		o.Upstreams = []upstream.Target{target("a", w.a), target("b", w.b)}
		change(o)
	})
	w.Server, w.api = p.Server, p.api
	return w
}

// newProxy starts a proxy.
func newProxy(t *testing.T, change func(*proxy.Options)) *world {
	t.Helper()
	w := &world{}
	embedder := embed.NewBuiltin()
	gates := embedder.Thresholds()
	o := proxy.Options{Mode: proxy.ModeExact, Routing: proxy.Routing{SlowStart: -1, HealthInterval: 20 * time.Millisecond}}
	var err error
	if o.Store, err = store.Open(store.Options{Evictor: classic.NewLRU(), Limit: policy.Limit{Entries: 1000}}); err != nil {
		t.Fatal(err)
	}
	if o.Topics, err = topics.New(topics.Options{Dim: embedder.Dim(), Hit: gates.Hit, Route: gates.Route, Edge: gates.Edge}); err != nil {
		t.Fatal(err)
	}
	change(&o)
	if w.Server, err = proxy.New(o); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(w.Handler())
	w.api = server.URL
	t.Cleanup(func() {
		server.Close()
		w.Close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := w.Wait(ctx); err != nil {
			t.Errorf("flights did not end: %v", err)
		}
		o.Topics.Close()
		o.Store.Close()
	})
	return w
}

// condition is the health of an engine, as the proxy has it.
func (w *world) condition(i int) upstream.Condition {
	return w.Server.Upstreams().Upstreams()[i].Health.Condition
}

// TestKilledInTheMiddle: an answer whose engine dies is cut for the client, and not asked for again. Requests that come later are
// answered by the other engine, and by both when it is back.
func TestKilledInTheMiddle(t *testing.T) {
	w := newWorld(t, "50", func(*proxy.Options) {})
	body := `{"model":"m","stream":true,"max_tokens":1000,"messages":[{"role":"user","content":"long"}]}`
	resp, err := http.Post(w.api+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer := bufio.NewReader(resp.Body)
	if line, err := answer.ReadString('\n'); err != nil || !strings.HasPrefix(line, "data: ") {
		t.Fatalf("%q, %v", line, err)
	}
	victim, i := w.a, 0
	if strings.Contains(resp.Header.Get("Cache-Status"), "upstream=b") {
		victim, i = w.b, 1
	}
	victim.kill()
	if text, err := io.ReadAll(answer); err == nil || strings.Contains(string(text), "[DONE]") {
		t.Errorf("the answer ended as if it were whole: %v, %.200s", err, text)
	}
	for n := range 10 {
		if status, text, err := post(t.Context(), w.api, fmt.Sprint("later ", n), n%2 == 0); status != 200 || err != nil {
			t.Errorf("a later request: %d, %v, %.200s", status, err, text)
		}
	}
	until(t, "the dead engine is down", func() bool { return w.condition(i) == upstream.Down })
	victim.start()
	until(t, "the engine is up again", func() bool { return w.condition(i) == upstream.Up })
	if got := requests(t, w.file); got["long"] != 1 || len(twice(got)) > 0 || len(got) != 11 {
		t.Errorf("%d requests, some of them again: %v", len(got), twice(got))
	}
}

// TestFrozen: a request to an engine that hangs fails in its time and is not sent again. After a few, the other one answers all.
func TestFrozen(t *testing.T) {
	w := newWorld(t, "0", func(o *proxy.Options) { o.Limits.FirstByte, o.Routing.HealthInterval = 5*time.Second, -1 })
	w.a.freeze(true)
	defer w.a.freeze(false)
	round := func(name string) (failed int64) {
		var n atomic.Int64
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				status, text, err := post(t.Context(), w.api, fmt.Sprint(name, i), false)
				if err != nil || status != 200 && status != 504 {
					t.Errorf("%d, %v, %.200s", status, err, text)
				}
				if status == 504 {
					n.Add(1)
				}
			})
		}
		wg.Wait()
		return n.Load()
	}
	if failed := round("first "); failed < 5 || failed == 20 || w.condition(0) != upstream.Ejected {
		t.Errorf("%d of 20 requests failed, and the frozen engine is %s", failed, w.condition(0))
	}
	if failed := round("second "); failed > 0 {
		t.Errorf("%d requests failed after the ejection", failed)
	}
	w.a.freeze(false)
	until(t, "the frozen engine has read its requests", func() bool { return len(requests(t, w.file)) == 40 })
	if again := twice(requests(t, w.file)); len(again) > 0 {
		t.Errorf("sent again: %v", again)
	}
}

// TestKilledUnderLoad: while one engine dies and comes back, requests fail only if they were under way at it, and none is sent twice.
func TestKilledUnderLoad(t *testing.T) {
	w := newWorld(t, "400", func(*proxy.Options) {})
	const clients, kills = 8, 4
	stop := make(chan struct{})
	var failed, answered, next atomic.Int64
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				n := next.Add(1)
				status, _, err := post(t.Context(), w.api, fmt.Sprint("request ", n), n%2 == 0)
				if err != nil || status != 200 {
					failed.Add(1)
				} else {
					answered.Add(1)
				}
			}
		})
	}
	for range kills {
		before := answered.Load()
		until(t, "some answers with both engines", func() bool { return answered.Load() > before+20 })
		w.a.kill()
		before = answered.Load()
		until(t, "some answers with one engine", func() bool { return answered.Load() > before+20 })
		w.a.start()
		until(t, "the engine is up again", func() bool { return w.condition(0) == upstream.Up })
	}
	close(stop)
	wg.Wait()
	if n := failed.Load(); n > clients*kills {
		t.Errorf("%d requests failed, of at most %d that were under way at the engine that died", n, clients*kills)
	}
	if again := twice(requests(t, w.file)); len(again) > 0 {
		t.Errorf("sent again: %v", again)
	}
	t.Logf("%d requests were answered, %d failed", answered.Load(), failed.Load())
}

// TestBothDown: without an engine, a client gets the proxy's own error, and an answer as soon as one is back.
func TestBothDown(t *testing.T) {
	w := newWorld(t, "0", func(*proxy.Options) {})
	w.a.kill()
	w.b.kill()
	for n := range 12 {
		if status, text, err := post(t.Context(), w.api, fmt.Sprint("early ", n), false); status != 502 || err != nil || !strings.Contains(text, "upstream_unreachable") {
			t.Fatalf("%d, %v, %s", status, err, text)
		}
	}
	until(t, "both are down", func() bool { return w.condition(0) == upstream.Down && w.condition(1) == upstream.Down })
	w.b.start()
	if status, text, err := post(t.Context(), w.api, "late", false); status != 200 || err != nil {
		t.Errorf("%d, %v, %s", status, err, text)
	}
}
