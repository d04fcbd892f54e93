package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"reprise/proxy/upstream/choose"
	"reprise/proxy/upstream/health"
	"reprise/proxy/upstream/prefix"
)

// newReplicaTime is any time with whole seconds.
var newReplicaTime = time.Unix(1_800_000_000, 0)

// stub is a replica that answers as its script says and notes what it gets.
type stub struct {
	*httptest.Server
	mu      sync.Mutex
	script  http.HandlerFunc
	got     []string // method, path and body
	headers []http.Header
}

func newStub(t *testing.T, script http.HandlerFunc) *stub {
	s := &stub{script: script}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.got, s.headers = append(s.got, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+string(body))), append(s.headers, r.Header)
		script := s.script
		s.mu.Unlock()
		script(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// does replaces the script.
func (s *stub) does(script http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = script
}

// calls returns what the replica got, and forgets it.
func (s *stub) calls() (got []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	got, s.got = s.got, nil
	return got
}

func answers(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, text) }
}

func fails(status int, retryAfter string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		w.WriteHeader(status)
		fmt.Fprintf(w, "status %d", status)
	}
}

// breaks closes the connection without an answer.
func breaks(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// firstOf is a chooser by place: the first replica that may be chosen.
type firstOf struct{}

func (firstOf) Choose(_ *choose.Request, loads []choose.Load) int { return 0 }

// closedPort is the address of a port on which no process listens.
func closedPort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}

// clock is a time that a test sets.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// fleetOf is a client in front of targets, the first of which is preferred.
func fleetOf(t *testing.T, targets ...Target) (*Client, *clock) {
	now := &clock{now: newReplicaTime}
	return newClient(t, Options{Replicas: targets, Chooser: firstOf{}, Now: now.Now, SlowStart: -1}), now
}

// path is how a request reaches a replica.
type path struct {
	name string
	send func(t *testing.T, c *Client, r Request) (status int, text string, foreign bool)
}

// paths are the two ways of requests whose bodies are in memory.
var paths = []path{{"call", call}, {"pass-through", passOn}}

func request(model, body string) Request {
	return Request{Original: httptest.NewRequest("POST", "/v1/chat/completions", nil), Body: []byte(body), Model: model}
}

func call(t *testing.T, c *Client, r Request) (int, string, bool) {
	t.Helper()
	reply, err := c.Call(t.Context(), r)
	if err != nil {
		return 0, err.Error(), false
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Error(err)
	}
	return reply.StatusCode, string(text), reply.Foreign
}

func passOn(t *testing.T, c *Client, r Request) (status int, text string, foreign bool) {
	t.Helper()
	w := httptest.NewRecorder()
	err := c.PassThrough(w, Passed{Request: r.Original, Tenant: r.Tenant, Read: r.Body, Model: r.Model, Chain: r.Chain, Begins: func(_ *Replica, f bool) { foreign = f }})
	if err != nil {
		return 0, err.Error(), false
	}
	return w.Code, w.Body.String(), foreign
}

// TestAnotherReplica: a request is sent to another replica if the first one has refused it, and only then.
func TestAnotherReplica(t *testing.T) {
	for _, tc := range []struct {
		name  string
		first http.HandlerFunc
		want  string
		again bool
	}{
		{"limited", fails(429, "1"), "200 fine", true}, {"limited without a time", fails(429, ""), "200 fine", true}, {"unavailable", fails(503, ""), "200 fine", true},
		{"overloaded", fails(529, "1"), "200 fine", true}, {"broken", fails(500, ""), "500 status 500", false}, {"bad gateway", fails(502, ""), "502 status 502", false},
		{"gateway timeout", fails(504, ""), "504 status 504", false}, {"no credential", fails(401, ""), "401 status 401", false}, {"forbidden", fails(403, ""), "403 status 403", false},
		{"no model", fails(404, ""), "404 status 404", false}, {"bad request", fails(400, ""), "400 status 400", false}, {"closed", breaks, "0 " + ErrClosed.Error(), false},
	} {
		for _, way := range paths {
			a, b := newStub(t, tc.first), newStub(t, answers("fine"))
			c, _ := fleetOf(t, at(t, a.URL, named("a")), at(t, b.URL, named("b")))
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

// TestUnreachable: no process listens at the first replica, or at any.
func TestUnreachable(t *testing.T) {
	for _, way := range paths {
		b := newStub(t, answers("fine"))
		c, _ := fleetOf(t, at(t, closedPort(t), named("a")), at(t, b.URL, named("b")))
		for range 3 {
			if status, text, _ := way.send(t, c, request("m", "{}")); status != 200 {
				t.Errorf("%s: %d %s", way.name, status, text)
			}
		}
		c, _ = fleetOf(t, at(t, closedPort(t), named("a")), at(t, closedPort(t), named("b")))
		if status, text, _ := way.send(t, c, request("m", "{}")); status != 0 || !strings.Contains(text, "refused") {
			t.Errorf("%s, none listens: %d %s", way.name, status, text)
		}
	}
}

// TestLastAnswerCounts: where all replicas refuse a request, the client gets the last answer of one as it came, also if another one cannot
// be reached.
func TestLastAnswerCounts(t *testing.T) {
	for _, way := range paths {
		a, b := newStub(t, fails(429, "7")), newStub(t, fails(503, "9"))
		c, _ := fleetOf(t, at(t, a.URL, named("a")), at(t, b.URL, named("b")))
		if status, text, _ := way.send(t, c, request("m", "{}")); status != 503 || text != "status 503" {
			t.Errorf("%s: %d %s", way.name, status, text)
		}
		c, _ = fleetOf(t, at(t, a.URL, named("a")), at(t, closedPort(t), named("b")))
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
	call(t, c, request("m", "{}"))
	a.calls()
	a.does(answers("a"))
	now.pass(19 * time.Second)
	if _, text, _ := call(t, c, request("m", "{}")); text != "b" || len(a.calls()) != 0 {
		t.Errorf("before the time: %s", text)
	}
	now.pass(time.Second)
	if _, text, _ := call(t, c, request("m", "{}")); text != "a" {
		t.Errorf("after the time: %s", text)
	}
	a.does(fails(503, "20"))
	b.does(fails(503, "20"))
	call(t, c, request("m", "{}"))
	a.does(answers("a"))
	if status, text, _ := call(t, c, request("m", "{}")); status != 200 {
		t.Errorf("where all are set aside: %d %s", status, text)
	}
}

// TestLimitsOfClients: a limit that a client has met with its own credential is not the limit of another, one of the operator's is.
func TestLimitsOfClients(t *testing.T) {
	for key, want := range map[string]string{"": "a", "operator": "b"} {
		a, b := newStub(t, fails(429, "20")), newStub(t, answers("b"))
		c, _ := fleetOf(t, at(t, a.URL, named("a"), keyed(key)), at(t, b.URL, named("b"), keyed(key)))
		first, second, third := request("m", "{}"), request("m", "{}"), request("n", "{}")
		first.Tenant, second.Tenant, third.Tenant = "1", "2", "1"
		call(t, c, first)
		a.does(answers("a"))
		if _, text, _ := call(t, c, second); text != want {
			t.Errorf("key %q: another client's request was sent to %s", key, text)
		}
		if _, text, _ := call(t, c, first); text != "b" {
			t.Errorf("key %q: the same client's request was sent to %s", key, text)
		}
		if _, text, _ := call(t, c, third); text != "a" {
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
	for range 5 {
		if status, text, _ := call(t, c, request("m", "{}")); status != 0 || len(b.calls()) != 0 {
			t.Fatalf("%d %s", status, text)
		}
	}
	if _, text, _ := call(t, c, request("m", "{}")); text != "b" || c.Upstreams()[0].Health.Condition != health.Ejected {
		t.Errorf("after five failures: %s, %+v", text, c.Upstreams()[0].Health)
	}
	if n := strings.Count(lines.String(), "upstream=a"); n != 1 {
		t.Errorf("%d lines about one ejection: %s", n, lines.String())
	}
	b.does(fails(500, ""))
	for range 10 {
		call(t, c, request("m", "{}"))
	}
	if c.Upstreams()[1].Health.Condition != health.Up {
		t.Error("the last replica was ejected")
	}
	now.pass(10 * time.Second)
	a.does(answers("a"))
	if _, text, _ := call(t, c, request("m", "{}")); text != "a" {
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
	err := c.PassThrough(w, Passed{Request: in.Original.WithContext(ctx), Read: in.Body})
	if s := c.Upstreams()[0]; err == nil || s.Health.Failures != 0 || s.Load.InFlight != 0 || len(b.calls()) != 0 {
		t.Errorf("%v, %+v", err, s)
	}
}

// TestHangs: a replica that does not answer in time fails the request, which is not sent again.
func TestHangs(t *testing.T) {
	stop := make(chan struct{})
	a, b := newStub(t, func(http.ResponseWriter, *http.Request) { <-stop }), newStub(t, answers("b"))
	defer close(stop)
	c := newClient(t, Options{Replicas: []Target{at(t, a.URL, named("a")), at(t, b.URL, named("b"))}, Chooser: firstOf{}, Limits: Limits{FirstByte: 50 * time.Millisecond}})
	if _, err := c.Call(t.Context(), request("m", "{}")); !errors.Is(err, ErrIdle) || len(b.calls()) != 0 {
		t.Errorf("%v", err)
	}
	if s := c.Upstreams()[0]; s.Health.Failures != 1 || s.Load.InFlight != 0 {
		t.Errorf("%+v", s)
	}
}

// TestLargeBodies: a body that was not read before it is sent goes to another replica only if the first one has taken nothing of it.
func TestLargeBodies(t *testing.T) {
	large := strings.Repeat("x", firstBytes+1)
	send := func(c *Client, chunked bool) (int, string) {
		api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := c.PassThrough(w, Passed{Request: r}); err != nil {
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

// TestFallback: a fallback gets a request only while no other target that serves the model can take it, and only with its own credential.
func TestFallback(t *testing.T) {
	for _, way := range paths {
		a, b := newStub(t, answers("a")), newStub(t, answers("b"))
		c, _ := fleetOf(t, at(t, a.URL, named("a"), serving("m", "p>q")), at(t, b.URL, named("b"), fallback, keyed("of-b"), serving("m>small")))
		send := func(model string) string {
			r := request(model, `{"n":1,"model":"`+model+`"}`)
			r.Original.Header = http.Header{"Authorization": {"Bearer of-a-client"}, "X-Api-Key": {"of-a-client"}}
			status, text, foreign := way.send(t, c, r)
			return fmt.Sprint(status, " ", text, " ", foreign)
		}
		if got := send("m") + send("p") + send("other"); got != "200 a false200 a false200 a false" || len(b.calls()) != 0 {
			t.Errorf("%s: %s", way.name, got)
		}
		if got := a.calls(); got[1] != `POST /chat/completions {"n":1,"model":"q"}` || got[2] != `POST /chat/completions {"n":1,"model":"other"}` {
			t.Errorf("%s: %q", way.name, got)
		}
		a.does(fails(503, "60"))
		if got := send("m") + send("m"); got != "200 b true200 b true" || len(a.calls()) != 1 {
			t.Errorf("%s: %s", way.name, got)
		}
		if got := b.calls(); got[0] != `POST /chat/completions {"n":1,"model":"small"}` {
			t.Errorf("%s: %q", way.name, got)
		}
		for _, h := range b.headers {
			if h.Get("Authorization") != "Bearer of-b" || h.Get("X-Api-Key") != "" {
				t.Errorf("%s: a client's credential was sent to a fallback: %v", way.name, h)
			}
		}
		if got := send("p"); got != "503 status 503 false" || len(b.calls()) != 0 {
			t.Errorf("%s, a model that the fallback does not serve: %s", way.name, got)
		}
	}
}

// TestFallbackIsNoAccount: a request without a model does not go to a fallback, where the operator's credential would show what is not
// the client's.
func TestFallbackIsNoAccount(t *testing.T) {
	a, b := newStub(t, fails(503, "60")), newStub(t, answers("files of the operator"))
	c, _ := fleetOf(t, at(t, a.URL, named("a")), at(t, b.URL, named("b"), fallback, keyed("of-b")))
	for _, r := range []*http.Request{httptest.NewRequest("GET", "/v1/files", nil), httptest.NewRequest("GET", "/v1/files/f1", nil), httptest.NewRequest("DELETE", "/v1/files/f1", nil)} {
		if status, text, _ := passOn(t, c, Request{Original: r}); status != 503 || len(b.calls()) != 0 {
			t.Errorf("%s %s: %d %s", r.Method, r.URL.Path, status, text)
		}
	}
}

// TestModels: a request goes to a replica that serves its model, whatever the others are.
func TestModels(t *testing.T) {
	a, b := newStub(t, answers("a")), newStub(t, answers("b"))
	c, _ := fleetOf(t, at(t, a.URL, named("a"), serving("m")), at(t, b.URL, named("b"), serving("n")))
	for model, want := range map[string]string{"m": "a", "n": "b", "unknown": "a"} {
		r := request("", `{"model":"`+model+`"}`)
		if _, text, _ := passOn(t, c, r); text != want {
			t.Errorf("%s: the model is in the body alone, and the request was sent to %s", model, text)
		}
		r.Model = model
		if _, text, _ := call(t, c, r); text != want {
			t.Errorf("%s: sent to %s", model, text)
		}
	}
	b.does(fails(503, ""))
	if status, _, _ := call(t, c, request("n", "{}")); status != 503 {
		t.Errorf("a model that the other one does not serve: %d", status)
	}
	a.calls()
	a.does(fails(404, ""))
	b.does(answers("b"))
	if status, text, _ := passOn(t, c, Request{Original: httptest.NewRequest("GET", "/v1/models/n", nil)}); status != 200 || text != "b" {
		t.Errorf("a model of the second one: %d %s", status, text)
	}
}

// TestDrain: a drained replica gets only what needs it, unless no other works.
func TestDrain(t *testing.T) {
	a, b := newStub(t, answers(`{"id":"resp_a"}`)), newStub(t, answers("b"))
	c, _ := fleetOf(t, at(t, a.URL, named("a")), at(t, b.URL, named("b"), drained))
	post := func(body string) string {
		r := request("", body)
		r.Original = httptest.NewRequest("POST", "/v1/responses", nil)
		_, text, _ := call(t, c, r)
		return text
	}
	post("{}")
	if !c.Drain("a", true) || !c.Drain("b", false) || c.Drain("c", true) {
		t.Error("Drain finds no upstream, or one that is none")
	}
	if got := post("{}"); got != "b" {
		t.Errorf("a new conversation was sent to %s", got)
	}
	if got := post(`{"previous_response_id":"resp_a"}`); got != `{"id":"resp_a"}` {
		t.Errorf("one that goes on was sent to %s", got)
	}
	b.does(fails(429, "60"))
	post("{}")
	if got := post("{}"); got != `{"id":"resp_a"}` {
		t.Errorf("without another one, a conversation was sent to %s", got)
	}
}

// TestSlowStart: a replica that is back gets its share of the requests little by little.
func TestSlowStart(t *testing.T) {
	a, b, now := newStub(t, answers("a")), newStub(t, answers("b")), &clock{now: newReplicaTime}
	c := newClient(t, Options{Replicas: []Target{at(t, a.URL, named("a")), at(t, b.URL, named("b"))}, Chooser: &choose.RoundRobin{}, Now: now.Now, SlowStart: time.Minute})
	c.Drain("a", true)
	c.Drain("a", false)
	share := func() (n int) {
		a.calls()
		for range 100 {
			call(t, c, request("m", "{}"))
		}
		return len(a.calls())
	}
	first := share()
	now.pass(30 * time.Second)
	second := share()
	now.pass(30 * time.Second)
	if third := share(); first < 2 || first > 10 || second < 20 || second > 30 || third != 50 {
		t.Errorf("%d, %d, then %d of 100 requests", first, second, third)
	}
}

// chain is the prefix chain of a text.
func chain(text string) *prefix.Chain {
	c := new(prefix.Chain)
	c.Begin(0)
	c.Add(prefix.Message, []byte(text))
	return c
}

// TestPrefixes: a request goes where its prefix is, until the replies show that it is not there, or the replica was restarted.
func TestPrefixes(t *testing.T) {
	usage := func(cached int) string {
		return fmt.Sprintf(`{"choices":[],"usage":{"prompt_tokens":1000,"prompt_tokens_details":{"cached_tokens":%d}}}`, cached)
	}
	stubs := map[string]*stub{"a": newStub(t, answers(usage(1000))), "b": newStub(t, answers(usage(1000)))}
	c := newClient(t, Options{Replicas: []Target{at(t, stubs["a"].URL, named("a")), at(t, stubs["b"].URL, named("b"))}})
	r := request("m", "{}")
	r.Chain = chain(strings.Repeat("one two three ", 400))
	send := func() (to string) {
		call(t, c, r)
		for name, s := range stubs {
			if len(s.calls()) > 0 {
				to += name
			}
		}
		return to
	}
	home := send()
	for range 5 {
		if got := send(); got != home {
			t.Fatalf("a prefix of %s was sent to %s", home, got)
		}
	}
	held := func() int { return c.Upstreams()[place(c, home)].Load.Held }
	before := held()
	stubs[home].does(answers(usage(0)))
	send()
	send()
	if after := held(); before == 0 || after >= before {
		t.Errorf("%d tokens, and %d after two replies with no cached ones", before, after)
	}
	stubs[home].does(answers(`{"choices":[],"usage":{"prompt_tokens":1000}}`))
	for range 5 {
		send()
	}
	if got := held(); got != before {
		t.Errorf("a reply that reports nothing changed %d tokens to %d", before, got)
	}
}

func place(c *Client, name string) int {
	for i, r := range c.replicas {
		if r.Name() == name {
			return i
		}
	}
	return -1
}

// TestRestart: a replica that refused a connection has lost what it held.
func TestRestart(t *testing.T) {
	a, b := newStub(t, answers("a")), newStub(t, answers("b"))
	where, _ := url.Parse(a.URL)
	c, _ := fleetOf(t, at(t, a.URL, named("a")), at(t, b.URL, named("b")))
	r := request("m", "{}")
	r.Chain = chain(strings.Repeat("one two three ", 400))
	call(t, c, r)
	if c.Upstreams()[0].Load.Held == 0 {
		t.Fatal("the replica holds nothing")
	}
	a.Close()
	c.transport.(*Transport).CloseIdleConnections()
	if _, text, _ := call(t, c, r); text != "b" {
		t.Errorf("the answer is %s", text)
	}
	if s := c.Upstreams()[0]; s.Load.Held != 0 {
		t.Errorf("after %s refused a connection: %+v", where, s)
	}
}

// TestOneReplica: one upstream is not ejected, set aside or checked, and counts only requests with a chain.
func TestOneReplica(t *testing.T) {
	a := newStub(t, fails(503, "60"))
	c := newClient(t, Options{Replicas: []Target{at(t, a.URL, named("a"))}, HealthInterval: time.Millisecond})
	r := request("m", "{}")
	for i := range 20 {
		if r.Chain = nil; i%2 == 0 {
			r.Chain = chain("text")
		}
		for _, way := range paths {
			if status, _, _ := way.send(t, c, r); status != 503 {
				t.Fatalf("status %d", status)
			}
		}
	}
	if got := a.calls(); len(got) != 40 || c.Upstreams()[0].Health.Condition != health.Up || c.Upstreams()[0].Load.InFlight != 0 || c.Drain("a", true) {
		t.Errorf("%d calls, %+v", len(got), c.Upstreams())
	}
}
