package upstream

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestAnotherReplica: a request is sent to another replica if the first one has refused it, and only then.
func TestAnotherReplica(t *testing.T) {
	for _, tc := range []struct {
		name  string
		first http.HandlerFunc
		want  string
		again bool
		key   string // the operator's
	}{
		{"limited", fails(429, "1"), "200 fine", true, ""}, {"limited without a time", fails(429, ""), "200 fine", true, ""}, {"unavailable", fails(503, ""), "200 fine", true, ""},
		{"overloaded", fails(529, "1"), "200 fine", true, ""}, {"broken", fails(500, ""), "500 status 500", false, ""}, {"bad gateway", fails(502, ""), "502 status 502", false, ""},
		{"gateway timeout", fails(504, ""), "504 status 504", false, ""}, {"no model", fails(404, ""), "200 fine", true, ""},
		{"no credential", fails(401, ""), "401 status 401", false, ""}, {"no credential of the operator's", fails(401, ""), "200 fine", true, "k"},
		{"forbidden", fails(403, ""), "403 status 403", false, ""}, {"forbidden for the operator", fails(403, ""), "200 fine", true, "k"},
		{"bad request", fails(400, ""), "400 status 400", false, "k"}, {"closed", breaks, "0 " + ErrClosed.Error(), false, ""},
		{"an error in the answer", answers(`{"error":{"message":"no"}}`), `200 {"error"`, false, ""},
	} {
		for _, way := range paths {
			a, b := newStub(t, tc.first), newStub(t, answers("fine"))
			c, _ := fleetOf(t, at(t, a.URL, named("a"), keyed(tc.key)), at(t, b.URL, named("b")))
			status, text, _ := way.send(t, c, request("m", "{}"))
			if got := fmt.Sprint(status, " ", text); !strings.HasPrefix(got, tc.want) {
				t.Errorf("%s, %s: %s", tc.name, way.name, got)
			}
			if toA, toB := len(a.calls()), len(b.calls()); toA != 1 || (toB == 1) != tc.again || toB > 1 {
				t.Errorf("%s, %s: %d and %d calls", tc.name, way.name, toA, toB)
			}
			if l := c.Load(); l.Calls != 0 {
				t.Errorf("%s, %s: %d calls are still counted", tc.name, way.name, l.Calls)
			}
			if s := c.Upstreams(); s[0].Load.InFlight+s[1].Load.InFlight != 0 {
				t.Errorf("%s, %s: %+v", tc.name, way.name, s)
			}
		}
	}
}

// TestHandshake: a replica without a valid certificate gets nothing, so that the request can go to another one.
func TestHandshake(t *testing.T) {
	a, b := httptest.NewUnstartedServer(answers("a")), newStub(t, answers("b"))
	a.Config.ErrorLog = log.New(io.Discard, "", 0)
	a.StartTLS()
	defer a.Close()
	for _, way := range paths {
		c, _ := fleetOf(t, at(t, a.URL, named("a")), at(t, b.URL, named("b")))
		if status, text, _ := way.send(t, c, request("m", "{}")); status != 200 || text != "b" {
			t.Errorf("%s: %d %s", way.name, status, text)
		}
	}
}

// TestHeldAnswerTakesNoCall: an answer that is kept while another replica is asked takes no call of its replica away.
func TestHeldAnswerTakesNoCall(t *testing.T) {
	goOn := make(chan struct{})
	a, b := newStub(t, fails(429, "")), newStub(t, func(http.ResponseWriter, *http.Request) { holds(t, goOn) })
	c := newClient(t, Options{Replicas: []Target{at(t, a.URL, named("a")), at(t, b.URL, named("b"))}, Chooser: firstOf{}, Bounds: Concurrency{Calls: 1}})
	done := make(chan struct{})
	go func() {
		defer close(done)
		callOn(t, c, request("m", "{}"))
	}()
	until(t, "the second replica is asked", func() bool { return len(b.calls()) > 0 })
	a.does(answers("a"))
	if !c.replicas[0].calls.isFree("") {
		t.Error("the first replica has no free call")
	}
	close(goOn)
	received(t, "the answer", done)
}

// TestLastAnswerCounts: where all replicas refuse a request, the client gets the last answer by which a later one may succeed, or else the first
// one, as it came, also if another one cannot be reached.
func TestLastAnswerCounts(t *testing.T) {
	for _, way := range paths {
		a, b := newStub(t, fails(429, "7")), newStub(t, fails(503, "9"))
		for _, tc := range [][3]int{{429, 503, 503}, {404, 429, 429}, {429, 404, 429}, {503, 401, 503}, {404, 401, 404}, {401, 404, 401}, {403, 403, 403}} {
			a.does(fails(tc[0], ""))
			b.does(fails(tc[1], ""))
			c, _ := fleetOf(t, at(t, a.URL, named("a"), keyed("k")), at(t, b.URL, named("b"), keyed("k")))
			if status, text, _ := way.send(t, c, request("m", "{}")); status != tc[2] || text != fmt.Sprint("status ", tc[2]) || c.Load().Calls != 0 {
				t.Errorf("%s, %d and %d: %d %s, %d calls are still counted", way.name, tc[0], tc[1], status, text, c.Load().Calls)
			}
		}
		a.does(fails(429, "7"))
		c, _ := fleetOf(t, at(t, a.URL, named("a")), at(t, closedPort(t), named("b")))
		if status, text, _ := way.send(t, c, request("m", "{}")); status != 429 || text != "status 429" {
			t.Errorf("%s, the other one is down: %d %s", way.name, status, text)
		}
		if l := c.Load(); l.Calls != 0 {
			t.Errorf("%s: %d calls are still counted", way.name, l.Calls)
		}
	}
}

// TestAsideForItsTime: a replica that named a time gets nothing until then, and where all have, a request is still sent to one.
func TestAsideForItsTime(t *testing.T) {
	a, b := newStub(t, fails(503, "20")), newStub(t, answers("b"))
	c, now := fleetOf(t, at(t, a.URL, named("a")), at(t, b.URL, named("b")))
	callOn(t, c, request("m", "{}"))
	a.calls()
	a.does(answers("a"))
	now.pass(19 * time.Second)
	if _, text, _ := callOn(t, c, request("m", "{}")); text != "b" || len(a.calls()) != 0 {
		t.Errorf("before the time: %s", text)
	}
	now.pass(time.Second)
	if _, text, _ := callOn(t, c, request("m", "{}")); text != "a" {
		t.Errorf("after the time: %s", text)
	}
	a.does(fails(503, "20"))
	b.does(fails(503, "20"))
	callOn(t, c, request("m", "{}"))
	a.does(answers("a"))
	if status, text, _ := callOn(t, c, request("m", "{}")); status != 200 {
		t.Errorf("where all are set aside: %d %s", status, text)
	}
	now.pass(time.Minute)
	c.board.setAside(now.Now(), 1, time.Minute)
	b.calls()
	a.does(fails(503, ""))
	if status, _, _ := callOn(t, c, request("m", "{}")); status != 503 || len(b.calls()) != 0 {
		t.Errorf("a replica that is set aside got a request that another one refused, status %d", status)
	}
}

// TestLimitsOfClients: a limit that a client has met with its own credential is not the limit of another, one of the operator's is.
func TestLimitsOfClients(t *testing.T) {
	for key, want := range map[string]string{"": "a", "operator": "b"} {
		a, b := newStub(t, fails(429, "20")), newStub(t, answers("b"))
		c, _ := fleetOf(t, at(t, a.URL, named("a"), keyed(key)), at(t, b.URL, named("b"), keyed(key)))
		first, second, third := request("m", "{}"), request("m", "{}"), request("n", "{}")
		first.Tenant, second.Tenant, third.Tenant = "1", "2", "1"
		callOn(t, c, first)
		a.does(answers("a"))
		if _, text, _ := callOn(t, c, second); text != want {
			t.Errorf("key %q: another client's request was sent to %s", key, text)
		}
		if _, text, _ := callOn(t, c, first); text != "b" {
			t.Errorf("key %q: the same client's request was sent to %s", key, text)
		}
		if _, text, _ := callOn(t, c, third); text != "a" {
			t.Errorf("key %q: a request for another model was sent to %s", key, text)
		}
	}
}

// TestEjection: a replica that fails again and again gets nothing for a while, and then everything again; the failures are not repeated
// elsewhere.
func TestEjection(t *testing.T) {
	var lines strings.Builder
	a, b, now := newStub(t, breaks), newStub(t, answers("b")), &clock{now: newReplicaTime}
	c := newClient(t, Options{Replicas: []Target{at(t, a.URL, named("a")), at(t, b.URL, named("b"))}, Chooser: firstOf{}, Now: now.Now, SlowStart: -1,
		Logger: slog.New(slog.NewTextHandler(&lines, nil))})
	for i := range 4 {
		callOn(t, c, request(fmt.Sprint("m", i), "{}"))
	}
	a.does(answers("a"))
	callOn(t, c, request("m", "{}"))
	a.does(breaks)
	for i := range 5 { // in a row, none of them the second one of its model
		if status, text, _ := callOn(t, c, request(fmt.Sprint("n", i), "{}")); status != 0 || len(b.calls()) != 0 {
			t.Fatalf("%d %s", status, text)
		}
	}
	if _, text, _ := callOn(t, c, request("m", "{}")); text != "b" || c.Upstreams()[0].Health.Condition != Ejected {
		t.Errorf("after five failures: %s, %+v", text, c.Upstreams()[0].Health)
	}
	if n := strings.Count(lines.String(), "upstream=a for=10s last_error="); n != 1 {
		t.Errorf("%d lines about one ejection: %s", n, lines.String())
	}
	b.does(fails(500, ""))
	for range 10 {
		callOn(t, c, request("m", "{}"))
	}
	if s := c.Upstreams()[1]; s.Health.Condition != Failing || s.Health.Share != 1 || s.Fault != "status 500" {
		t.Errorf("the last replica: %+v, %q", s.Health, s.Fault)
	}
	now.pass(10 * time.Second)
	a.does(answers("a"))
	if _, text, _ := callOn(t, c, request("m", "{}")); text != "a" {
		t.Errorf("after the ejection: %s", text)
	}
}

// TestDiesInTheMiddle: an answer that breaks off is the caller's to report; it is not asked for again, and counts as a failure.
func TestDiesInTheMiddle(t *testing.T) {
	half := func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "half")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	a, b := newStub(t, half), newStub(t, answers("b"))
	c, _ := fleetOf(t, at(t, a.URL, named("a")), at(t, b.URL, named("b")))
	reply, err := c.Call(t.Context(), request("m", "{}"))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(reply.Body); string(text) != "half" || err == nil {
		t.Errorf("read %q, %v", text, err)
	}
	reply.Body.Close()
	if s := c.Upstreams()[0]; s.Health.Failures != 1 || s.Load.InFlight != 0 || len(b.calls()) != 0 {
		t.Errorf("%+v", s)
	}
	func() {
		defer func() {
			if v := recover(); v != http.ErrAbortHandler {
				t.Errorf("the pass-through ended with %v", v)
			}
		}()
		passOn(t, c, request("m", "{}"))
	}()
	if s := c.Upstreams()[0]; s.Health.Failures != 2 || s.Load.InFlight != 0 || len(b.calls()) != 0 || c.Load().Calls != 0 {
		t.Errorf("after the pass-through: %+v", s)
	}
}

// TestClientLeaves: a client that leaves is no failure of the replica, and its request is not sent elsewhere.
func TestClientLeaves(t *testing.T) {
	a, b := newStub(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }), newStub(t, answers("b"))
	c, _ := fleetOf(t, at(t, a.URL, named("a")), at(t, b.URL, named("b")))
	w := httptest.NewRecorder()
	in := request("m", "{}")
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		for len(a.calls()) == 0 {
			time.Sleep(time.Millisecond)
		}
		leave()
	}()
	err := c.PassThrough(w, Request{Original: in.Original.WithContext(ctx), Body: in.Body}, nil)
	if s := c.Upstreams()[0]; err == nil || s.Health.Failures != 0 || s.Load.InFlight != 0 || len(b.calls()) != 0 {
		t.Errorf("%v, %+v", err, s)
	}
}

// TestLargeBodies: a body that was not read before it is sent goes to another replica only if the first one has taken nothing of it.
func TestLargeBodies(t *testing.T) {
	large := strings.Repeat("x", firstBytes+1)
	send := func(c *Client, chunked bool) (int, string) {
		api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := c.PassThrough(w, Request{Original: r}, nil); err != nil {
				http.Error(w, err.Error(), http.StatusBadGateway)
			}
		}))
		defer api.Close()
		var body io.Reader = strings.NewReader(large)
		if chunked {
			body = io.MultiReader(body)
		}
		resp, err := http.Post(api.URL+"/v1/audio/transcriptions", "application/octet-stream", body)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(text)
	}
	for _, chunked := range []bool{false, true} {
		b := newStub(t, answers("b"))
		c, _ := fleetOf(t, at(t, closedPort(t), named("a")), at(t, b.URL, named("b")))
		if status, text := send(c, chunked); status != 200 || text != "b" {
			t.Errorf("chunked %v, the first one is down: %d %s", chunked, status, text)
		}
		if got := b.calls(); len(got) != 1 || got[0] != "POST /audio/transcriptions "+large {
			t.Errorf("chunked %v: the second one got %.60q", chunked, got)
		}
		a := newStub(t, fails(429, "1"))
		c, _ = fleetOf(t, at(t, a.URL, named("a")), at(t, b.URL, named("b")))
		if status, text := send(c, chunked); status != 429 || text != "status 429" || len(b.calls()) != 0 {
			t.Errorf("chunked %v, the first one has read it: %d %s", chunked, status, text)
		}
	}
}
