package deploy_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"reprise/internal/built"
	"reprise/internal/needs"
	"reprise/internal/redistest"
)

// behind is a proxy behind the balancer: its API, and its readiness.
type behind struct {
	api, admin *httptest.Server
	ready      atomic.Bool
	requests   atomic.Int64
}

func newBehind(t *testing.T, name string, answer http.HandlerFunc) *behind {
	b := &behind{}
	b.ready.Store(true)
	b.api = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.requests.Add(1)
		w.Header().Set("Served-By", name)
		answer(w, r)
	}))
	b.admin = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" || !b.ready.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(b.api.Close)
	t.Cleanup(b.admin.Close)
	return b
}

// balance is balanceProxies for these.
func balance(t *testing.T, a, b *behind) (api string) {
	t.Helper()
	return balanceProxies(t, &built.Proxy{API: a.api.URL, Admin: a.admin.URL}, &built.Proxy{API: b.api.URL, Admin: b.admin.URL})
}

// balanceProxies starts the balancer of the compose file before two proxies, and waits until it serves.
func balanceProxies(t *testing.T, a, b *built.Proxy) (api string) {
	t.Helper()
	haproxy := needs.Program(t, "haproxy")
	address := func() string { return fmt.Sprintf("127.0.0.1:%d", redistest.FreePort(t)) }
	api, health := address(), address()
	server := func(p *built.Proxy) string {
		return strings.TrimPrefix(p.API, "http://") + " port " + p.Admin[strings.LastIndexByte(p.Admin, ':')+1:]
	}
	text := read(t, "replicas/haproxy.cfg")
	for old, new := range map[string]string{
		"bind :8080": "bind " + api, "bind :8404": "bind " + health,
		"proxy-a:8080": server(a), "proxy-b:8080": server(b),
	} {
		if strings.Count(text, old) != 1 {
			t.Fatalf("the configuration has %q %d times", old, strings.Count(text, old))
		}
		text = strings.Replace(text, old, new, 1)
	}
	path := filepath.Join(t.TempDir(), "haproxy.cfg")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), haproxy, "-db", "-f", path)
	log := &strings.Builder{}
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
		if t.Failed() {
			t.Log(log.String()[max(0, log.Len()-4000):])
		}
	})
	until(t, "the balancer", func() bool {
		resp, err := http.Get("http://" + health + "/ready")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	return "http://" + api
}

// until polls with a deadline that a busy machine does not reach.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what + ": not within a minute")
		}
	}
}

// post sends one request over a connection of its own.
func post(t *testing.T, url string) (status int, servedBy string) {
	t.Helper()
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Post(url, "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body) // the status says whether it was cut
	return resp.StatusCode, resp.Header.Get("Served-By")
}

// TestBalancerStreams: the first event of a stream arrives before the proxy sends the second.
func TestBalancerStreams(t *testing.T) {
	next := make(chan struct{})
	stream := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: first\n\n")
		w.(http.Flusher).Flush()
		<-next
		fmt.Fprint(w, "data: second\n\n")
	}
	api := balance(t, newBehind(t, "a", stream), newBehind(t, "b", stream))
	resp, err := http.Post(api+"/v1/chat/completions", "application/json", strings.NewReader("{}"))
	if err != nil {
		close(next)
		t.Fatal(err)
	}
	defer resp.Body.Close()
	first := make([]byte, len("data: first\n\n"))
	_, err = io.ReadFull(resp.Body, first)
	close(next)
	if err != nil || string(first) != "data: first\n\n" {
		t.Fatalf("%q, %v", first, err)
	}
	if rest, err := io.ReadAll(resp.Body); err != nil || string(rest) != "data: second\n\n" {
		t.Errorf("%q, %v", rest, err)
	}
}

// TestBalancerSendsOnce: a POST that a proxy has read is not sent again, whatever becomes of the connection.
func TestBalancerSendsOnce(t *testing.T) {
	cut := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // an error ends in the same cut
		panic(http.ErrAbortHandler)
	}
	a, b := newBehind(t, "a", cut), newBehind(t, "b", cut)
	if status, _ := post(t, balance(t, a, b)); status != http.StatusBadGateway {
		t.Errorf("status %d, not 502", status)
	}
	if n := a.requests.Load() + b.requests.Load(); n != 1 {
		t.Errorf("the request was sent %d times", n)
	}
}

// TestBalancerFollowsReadiness: a proxy that is not ready gets no requests, and again some when it is; one that refuses connections costs no
// request.
func TestBalancerFollowsReadiness(t *testing.T) {
	answer := func(http.ResponseWriter, *http.Request) {}
	a, b := newBehind(t, "a", answer), newBehind(t, "b", answer)
	api := balance(t, a, b)
	served := func() map[string]int {
		by := map[string]int{}
		for range 8 {
			status, name := post(t, api)
			if status != http.StatusOK {
				t.Errorf("status %d", status)
			}
			by[name]++
		}
		return by
	}
	a.ready.Store(false)
	until(t, "a leaves", func() bool { return served()["a"] == 0 })
	a.ready.Store(true)
	until(t, "a returns", func() bool { return served()["a"] > 0 })
	b.api.Close()
	if by := served(); by["a"] != 8 {
		t.Errorf("with b closed: %v", by)
	}
}

// answer is that of an upstream to every question.
func answer(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, `{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"yes"}}]}`)
}

// TestBalancerDrains stops one of two proxies that share a cache while requests come in: each is answered, and the other has what the first one
// stored.
func TestBalancerDrains(t *testing.T) {
	needs.Program(t, "haproxy")
	var calls atomic.Int64
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		answer(w)
	}))
	defer upstream.Close()
	// The balancer needs two to three seconds to notice; a busy machine gets five more than that.
	redis := redistest.Start(t, redistest.Options{})
	env := []string{"REPRISE_DRAIN_DELAY=8s", "REPRISE_STORE=redis://" + redis.Addr, "REPRISE_UPSTREAM=" + upstream.URL + "/v1"}
	a, b := built.Start(t, env...), built.Start(t, env...)
	api := balanceProxies(t, a, b) + "/v1/chat/completions"
	ask := func(n int) {
		body := fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":"question number %d"}]}`, n)
		resp, err := http.Post(api, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if answer, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(answer), `"yes"`) {
			t.Fatalf("question %d: status %d, %v, %s", n, resp.StatusCode, err, answer)
		}
	}
	const questions = 100
	for n := range questions {
		ask(n)
	}
	stored := calls.Load()
	a.Signal(syscall.SIGTERM)
	for n := 0; ; n++ {
		ask(n % questions)
		select {
		case <-a.Ended():
			if n < 2*questions {
				continue
			}
		default:
			continue
		}
		break
	}
	if more := calls.Load() - stored; more > questions/10 { // a busy machine can keep Redis silent for longer than a second, and hits are misses then
		t.Errorf("%d of %d stored answers were asked of the upstream again", more, questions)
	}
}
