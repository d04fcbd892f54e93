package upstream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// requests lets the requests named in order, "a1" of tenant a, join a limiter one after the other, and returns the order in which
// they began. Each call of it takes a second.
func requests(t *testing.T, l *limiter, names string) (begun []string, refused int) {
	var mu sync.Mutex
	var group sync.WaitGroup
	start := time.Now()
	for name := range strings.FieldsSeq(names) {
		group.Go(func() {
			err := l.acquire(t.Context(), name[:1])
			mu.Lock()
			if err != nil {
				refused++
			} else {
				begun = append(begun, fmt.Sprintf("%d%s", int(time.Since(start).Seconds()), name))
			}
			mu.Unlock()
			if err == nil {
				time.Sleep(time.Second)
				l.release(name[:1])
			} else if !errors.Is(err, ErrOverloaded) {
				t.Error(err)
			}
		})
		synctest.Wait()
	}
	group.Wait()
	if running, queued, _ := l.load(); running != 0 || queued != 0 || len(l.shares) != 0 || len(l.turns) != 0 {
		t.Errorf("%q: at the end %d calls, %d waiters, %d tenants, %d turns", names, running, queued, len(l.shares), len(l.turns))
	}
	slices.Sort(begun)
	for i, name := range begun {
		begun[i] = name[1:]
	}
	return begun, refused
}

func TestTurns(t *testing.T) {
	for _, tc := range []struct {
		name    string
		bounds  Concurrency
		join    string
		begun   string
		refused int
	}{
		{"in the order in which they come", Concurrency{Calls: 1}, "a1 a2 a3", "a1 a2 a3", 0},
		{"no more wait than twice as many", Concurrency{Calls: 1, PerTenant: -1}, "a1 a2 a3 a4 b1", "a1 a2 a3", 2},
		{"the tenants in turns", Concurrency{Calls: 1, Wait: time.Hour}, "a1 a2 a3 b1", "a1 a2 a3", 1},
		{"a tenant's queue is a share too", Concurrency{Calls: 4, PerTenant: 1}, "a1 a2 a3 a4 b1 b2", "a1 b1 a2 b2 a3", 1},
		{"a storm leaves room", Concurrency{Calls: 4}, "a1 a2 a3 a4 a5 b1 a6 b2", "a1 a2 a3 b1 a4 a5 a6 b2", 0},
		{"no limits", Concurrency{Calls: -1}, "a1 a2 a3 a4 a5", "a1 a2 a3 a4 a5", 0},
		{"only of tenants", Concurrency{Calls: -1, PerTenant: 1}, "a1 a2 b1 a3 a4", "a1 b1 a2 a3", 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			begun, refused := requests(t, newLimiter(tc.bounds), tc.join)
			if got := strings.Join(begun, " "); got != tc.begun || refused != tc.refused {
				t.Errorf("%s: %s, %d refused; want %s, %d", tc.name, got, refused, tc.begun, tc.refused)
			}
		})
	}
}

// TestLeavingTheQueue: a waiter that leaves, or has waited too long, frees its place in the queue and takes no call.
func TestLeavingTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(Concurrency{Calls: 1, PerTenant: -1})
		if err := l.acquire(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		ctx, leave := context.WithCancel(t.Context())
		left, late := make(chan error), make(chan error)
		go func() { left <- l.acquire(ctx, "b") }()
		synctest.Wait()
		start := time.Now()
		go func() { late <- l.acquire(t.Context(), "c") }()
		synctest.Wait()
		leave()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("the one that left: %v", err)
		}
		if err := <-late; !errors.Is(err, ErrOverloaded) || time.Since(start) != 30*time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		l.release("a")
		if running, queued, refused := l.load(); running != 0 || queued != 0 || refused != 1 || len(l.shares)+len(l.turns) != 0 {
			t.Errorf("%d calls, %d waiters, %d refused", running, queued, refused)
		}
	})
}

// TestTurnOfOneThatLeaves: a call given to a waiter at the moment at which it leaves goes to the next one.
func TestTurnOfOneThatLeaves(t *testing.T) {
	l := newLimiter(Concurrency{Calls: 1, PerTenant: -1})
	for range 2000 {
		if err := l.acquire(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		ctx, leave := context.WithCancel(t.Context())
		var group sync.WaitGroup
		for _, tenant := range []string{"b", "c"} {
			group.Go(func() {
				c := ctx
				if tenant == "c" {
					c = t.Context()
				}
				if err := l.acquire(c, tenant); err == nil {
					l.release(tenant)
				} else if tenant == "c" {
					t.Error(err)
				}
			})
		}
		group.Go(leave)
		l.release("a")
		group.Wait()
	}
	if running, queued, _ := l.load(); running != 0 || queued != 0 {
		t.Errorf("%d calls, %d waiters", running, queued)
	}
}

// TestRaisedBounds admits at once those who wait.
func TestRaisedBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(Concurrency{Calls: 1, PerTenant: -1})
		for range 3 {
			go func() {
				if err := l.acquire(t.Context(), "a"); err != nil {
					t.Error(err)
				}
			}()
		}
		synctest.Wait()
		l.set(Concurrency{Calls: 3, PerTenant: -1})
		synctest.Wait()
		if running, queued, _ := l.load(); running != 3 || queued != 0 {
			t.Errorf("%d calls, %d waiters", running, queued)
		}
	})
}

// TestCallsEnd: a call ends with the body of its answer, with an error, or with a passed request; websockets have a limit of
// their own.
func TestCallsEnd(t *testing.T) {
	e := newEngine(t, true)
	gone := httptest.NewServer(nil)
	gone.Close()
	c := newClient(t, Options{Replicas: []Target{e.target(t, "", "")}, Bounds: Concurrency{Calls: 1}})
	for range 2 {
		ask(t, c) // twice: the engine refuses a field
	}
	pass := passTo(t, c)
	pass.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/v1/models", nil))
	reply, err := c.Call(t.Context(), Request{Original: httptest.NewRequest("POST", "/v1/x", nil), Body: []byte("{}")})
	if err != nil {
		t.Fatal(err)
	}
	if load := c.Load(); load != (Load{Calls: 1}) {
		t.Errorf("during a call: %+v", load)
	}
	upgrade := httptest.NewRequest("GET", "/v1/realtime", nil)
	upgrade.Header.Set("Connection", "Upgrade")
	upgrade.Header.Set("Upgrade", "websocket")
	pass.ServeHTTP(httptest.NewRecorder(), upgrade)
	for range 2 {
		reply.Body.Close()
	}
	dead := newClient(t, Options{Replicas: []Target{{Base: e.target(t, "", "").Base}}, Transport: refusing{}})
	if _, err := dead.Call(t.Context(), Request{Original: httptest.NewRequest("POST", "/v1/x", nil)}); err == nil {
		t.Error("no error")
	}
	if c.Load() != (Load{}) || dead.Load() != (Load{}) {
		t.Errorf("after all calls: %+v, %+v", c.Load(), dead.Load())
	}
}

// TestWhatIsAWebSocket: a request takes the place of a websocket only if the proxy would change its protocol.
func TestWhatIsAWebSocket(t *testing.T) {
	for _, c := range []struct {
		connection []string
		upgrade    string
		want       bool
	}{
		{[]string{"Upgrade"}, "websocket", true}, {[]string{"keep-alive, upgrade"}, "websocket", true}, {[]string{"close", " UPGRADE "}, "x", true},
		{nil, "websocket", false}, {[]string{"keep-alive"}, "websocket", false}, {[]string{"upgraded"}, "websocket", false},
		{[]string{"Upgrade"}, "", false}, {nil, "", false},
	} {
		h := http.Header{"Connection": c.connection}
		if c.upgrade != "" {
			h.Set("Upgrade", c.upgrade)
		}
		if upgrades(h) != c.want {
			t.Errorf("Connection %q, Upgrade %q: %v", c.connection, c.upgrade, !c.want)
		}
	}
}

type refusing struct{}

func (refusing) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New("refused") }

// TestDefaultBounds: one tenant gets three quarters, at least one call.
func TestDefaultBounds(t *testing.T) {
	var got []string
	for _, c := range []Concurrency{{}, {Calls: 1}, {Calls: 8}, {Calls: 8, PerTenant: -1}, {Calls: -1}, {Calls: -1, PerTenant: 2}} {
		c = c.withDefaults()
		got = append(got, fmt.Sprint(c.Calls, c.PerTenant))
	}
	if want := []string{"1024 768", "1 1", "8 6", "8 -1", "-1 -1", "-1 2"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
