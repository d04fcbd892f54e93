package upstream

import (
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// until waits for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not in time: %s", what)
		}
	}
}

// received returns what a test waits for on a channel.
func received[T any](t *testing.T, what string, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(20 * time.Second):
		t.Fatalf("not in time: %s", what)
	}
	return v
}

// holds waits for a channel in the handler of a replica. It does not outlast the test: closing the server waits for its handlers.
func holds(t *testing.T, until <-chan struct{}) {
	select {
	case <-until:
	case <-t.Context().Done():
	}
}

// TestChecks: a replica whose checks fail gets no requests until one is good. Any answer to the list of models is good, except for an
// error of the replica; of a path of its own, only status 2xx is.
func TestChecks(t *testing.T) {
	a, b, f := newStub(t, fails(401, "")), newStub(t, answers("b")), newStub(t, answers("f"))
	var lines strings.Builder
	c := newClient(t, Options{Replicas: []Target{at(t, a.URL+"/base/v1", named("a"), keyed("k")), at(t, b.URL, named("b"), checked("/health")), at(t, f.URL, named("f"), fallback, keyed("k"))},
		Chooser: firstOf{}, SlowStart: -1, HealthInterval: time.Millisecond, Logger: slog.New(slog.NewTextHandler(&lines, nil))})
	is := func(i int, want Condition) func() bool {
		return func() bool { return c.Upstreams()[i].Health.Condition == want }
	}
	checks := func() string { return strings.Join(append(a.calls(), b.calls()...), ",") }
	until(t, "checks", func() bool {
		s := checks()
		return strings.Contains(s, "GET /base/v1/models") && strings.Contains(s, "GET /health")
	})
	a.does(fails(503, ""))
	until(t, "a is down", is(0, Down))
	if _, text, _ := callOn(t, c, request("m", "{}")); text != "b" {
		t.Errorf("the answer is %s", text)
	}
	a.does(fails(404, ""))
	until(t, "a is up", is(0, Up))
	b.does(fails(401, ""))
	until(t, "b is down", is(1, Down))
	if got := f.calls(); len(got) > 0 {
		t.Errorf("a fallback was checked: %v", got)
	}
	for _, h := range a.sent() {
		if h.Get("Authorization") != "Bearer k" && h.Get("Authorization") != "" {
			t.Errorf("a check has the header %v", h)
		}
	}
	c.Close()
	until(t, "no check comes after Close", func() bool {
		checks() // one that was cut off may come late
		time.Sleep(20 * time.Millisecond)
		return checks() == ""
	})
	for _, want := range []string{
		`level=WARN msg="an upstream is down, and gets no requests until it passes a health check" upstream=a error="GET /base/v1/models: status 503"`,
		`level=INFO msg="an upstream is back" upstream=a`, `upstream=b error="GET /health: status 401"`,
	} {
		if !strings.Contains(lines.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, lines.String())
		}
	}
}

// TestHungCheck: a replica that does not answer its checks is down, the checks of others go on, and Close does not wait for it.
func TestHungCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answered := tripFunc(func(r *http.Request) (*http.Response, error) {
			if r.URL.Host == "a.example" {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody}, nil
		})
		c, err := New(Options{Replicas: []Target{at(t, "http://a.example"), at(t, "http://b.example")}, Transport: answered})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2*checkWait + time.Second)
		if s := c.Upstreams(); s[0].Health.Condition != Down || s[1].Health.Condition != Up {
			t.Errorf("%+v", s)
		}
		began := time.Now()
		c.Close()
		if took := time.Since(began); took > 0 {
			t.Errorf("Close took %v", took)
		}
	})
}

// TestRequestsAreChecks: a replica that answers requests is not checked.
func TestRequestsAreChecks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		checks := map[string]int{}
		c, err := New(Options{Replicas: []Target{at(t, "http://a.example/v1"), at(t, "http://b.example/v1")}, Chooser: firstOf{}, Transport: tripFunc(func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			if r.Method == http.MethodGet {
				checks[r.URL.Host]++
			}
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody}, nil
		})})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for range 50 {
			callOn(t, c, request("m", "{}"))
			time.Sleep(time.Second)
		}
		mu.Lock()
		defer mu.Unlock()
		if checks["a.example"] > 1 || checks["b.example"] < 9 {
			t.Errorf("checks: %v", checks)
		}
	})
}
