package upstream

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"reprise/proxy/upstream/prefix"
)

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

// TestFallbackIsNoAccount: a request without a model does not go to a fallback, where the operator's credential would show objects of
// other accounts.
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
		if _, text, _ := callOn(t, c, r); text != want {
			t.Errorf("%s: sent to %s", model, text)
		}
	}
	b.does(fails(503, ""))
	if status, _, _ := callOn(t, c, request("n", "{}")); status != 503 {
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
		_, text, _ := callOn(t, c, r)
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
	c := newClient(t, Options{Replicas: []Target{at(t, a.URL, named("a")), at(t, b.URL, named("b"))}, Chooser: &byTurns{-1}, Now: now.Now, SlowStart: time.Minute})
	c.Drain("a", true)
	c.Drain("a", false)
	share := func() (n int) {
		a.calls()
		for range 100 {
			callOn(t, c, request("m", "{}"))
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
		callOn(t, c, r)
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
	callOn(t, c, r)
	if c.Upstreams()[0].Load.Held == 0 {
		t.Fatal("the replica holds nothing")
	}
	a.Close()
	c.transport.(*Transport).CloseIdleConnections()
	if _, text, _ := callOn(t, c, r); text != "b" {
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
	s := c.Upstreams()[0]
	if got := a.calls(); len(got) != 40 || s.Load.InFlight != 0 || c.Drain("a", true) {
		t.Errorf("%d calls, %+v", len(got), s)
	}
	if want := (Health{Condition: Failing, Share: 1, Failures: 40}); s.Health != want || s.Fault != "status 503" {
		t.Errorf("%+v, %q", s.Health, s.Fault)
	}
}

// TestLeader: of two requests that share a long cold prefix, the second one is sent when the answer to the first one has begun; if its
// client leaves before, it is not sent.
func TestLeader(t *testing.T) {
	begin, end := make(chan struct{}), make(chan struct{})
	a := newStub(t, func(w http.ResponseWriter, _ *http.Request) {
		holds(t, begin)
		io.WriteString(w, "first")
		w.(http.Flusher).Flush()
		holds(t, end)
	})
	c := newClient(t, Options{Replicas: []Target{at(t, a.URL, named("a"))}, Leaders: 64})
	c.leaderWait = time.Hour
	load := func() prefix.Load { return c.Upstreams()[0].Load }
	text := strings.Repeat("one two three ", 400)
	done := make(chan struct{}, 3)
	send := func(ctx context.Context) {
		r := request("m", "{}")
		r.Chain = chain(text)
		if reply, err := c.Call(ctx, r); err == nil {
			io.Copy(io.Discard, reply.Body)
			reply.Body.Close()
		}
		done <- struct{}{}
	}
	go send(t.Context())
	until(t, "the first request is sent", func() bool { return len(a.calls()) == 1 })
	pending := load().Pending
	ctx, leave := context.WithCancel(t.Context())
	go send(ctx)
	until(t, "the second request waits", func() bool { return load().InFlight == 2 })
	leave()
	received(t, "the second request ends", done)
	go send(t.Context())
	until(t, "the third request waits", func() bool { return load().InFlight == 2 })
	if n := len(a.calls()); n != 0 || pending == 0 {
		t.Errorf("%d requests were sent before the first answer, %d tokens were pending", n, pending)
	}
	close(begin)
	until(t, "the third request is sent", func() bool { return len(a.calls()) == 1 })
	until(t, "both answers have begun", func() bool { return load().Pending == 0 })
	close(end)
	received(t, "an answer", done)
	received(t, "the other answer", done)
	if l := load(); l.InFlight != 0 || l.Held == 0 {
		t.Errorf("at the end: %+v", l)
	}
}

// TestLeaderThatHangs: a request does not wait for another one for ever.
func TestLeaderThatHangs(t *testing.T) {
	stop := make(chan struct{})
	a := newStub(t, func(http.ResponseWriter, *http.Request) { holds(t, stop) })
	c := newClient(t, Options{Replicas: []Target{at(t, a.URL, named("a"))}, Leaders: 64})
	c.leaderWait = time.Millisecond
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			r := request("m", "{}")
			r.Chain = chain(strings.Repeat("one two three ", 400))
			callOn(t, c, r)
		})
	}
	n := 0
	until(t, "both are sent", func() bool { n += len(a.calls()); return n == 2 })
	close(stop)
	wg.Wait()
}

// TestOneReplicaCostsLittle: a request to the only upstream allocates one object more than before there could be several, which observes how its answer
// ends: 27 objects, or 44 where it is passed through, with those of the recorder and the request.
func TestOneReplicaCostsLittle(t *testing.T) {
	done := tripFunc(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}"))}, nil
	})
	c := newClient(t, Options{Replicas: []Target{at(t, "http://a.example/v1")}, Transport: done})
	r := request("", `{"model":"m"}`)
	called := testing.AllocsPerRun(200, func() {
		reply, err := c.Call(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, reply.Body)
		reply.Body.Close()
	})
	passed := testing.AllocsPerRun(200, func() {
		in := httptest.NewRequest("POST", "/v1/chat/completions", nil)
		if err := c.PassThrough(httptest.NewRecorder(), Request{Original: in, Body: r.Body}, nil); err != nil {
			t.Fatal(err)
		}
	})
	if called > 27 || passed > 44 {
		t.Errorf("%v and %v objects", called, passed)
	}
}
