package upstream

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// failingWays are ways in which a replica fails at every request.
var failingWays = []struct {
	name string
	does http.HandlerFunc // nil: no process listens
	key  string           // the operator's
	most int              // clients of 1,000 that see it; see TestFailingReplica
}{
	{"no such model", fails(404, ""), "", 0},
	{"no credential", fails(401, ""), "k", 0},
	{"forbidden", fails(403, ""), "k", 0},
	{"error", fails(500, ""), "", 10},
	{"bad gateway", fails(502, ""), "", 10},
	{"unavailable", fails(503, ""), "", 0},
	{"an error in the object", answers(`{"error":{"message":"out of memory"}}`), "", 10},
	{"an error in the first event", answers(": wait\n\ndata: {\"error\":{\"code\":500}}\n\n"), "", 10},
	{"closed", breaks, "", 10},
	{"hangs", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "", 10},
	{"down", nil, "", 0},
}

// TestFailingReplica: of two replicas one fails at everything, in each way. Of 1,000 requests of four clients at a time, with prefixes that they
// share and without, none is worked on twice, and nobody sees an error where the replica cannot have worked on the request. Else those see one
// that were under way when the second failure was noted, at most five, and as many again by the probe that follows the ejection.
func TestFailingReplica(t *testing.T) {
	for _, way := range failingWays {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			worked, drawn := map[string]int{}, 0
			notes := func(does http.HandlerFunc, works bool) http.HandlerFunc {
				return func(w http.ResponseWriter, r *http.Request) {
					mu.Lock()
					if id := r.Header.Get("Id"); works {
						worked[id]++
					}
					mu.Unlock()
					does(w, r)
				}
			}
			url := closedPort(t)
			if way.does != nil {
				url = newStub(t, func(w http.ResponseWriter, r *http.Request) {
					mu.Lock()
					drawn++
					mu.Unlock()
					notes(way.does, way.most > 0)(w, r)
				}).URL
			}
			const fine = `{"choices":[],"usage":{"prompt_tokens":1500}}`
			b := newStub(t, notes(answers(fine), true))
			now, limit := &clock{now: newReplicaTime}, time.Minute
			if way.name == "hangs" {
				limit = 500 * time.Millisecond
			}
			c := newClient(t, Options{Replicas: []Target{at(t, url, named("a"), keyed(way.key)), at(t, b.URL, named("b"), keyed(way.key))}, Now: now.Now,
				Leaders: 64, Limits: Limits{FirstByte: limit}})
			var next, seen atomic.Int64
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					for i := next.Add(1); i <= 1000; i = next.Add(1) {
						if i == 500 {
							now.pass(firstEjection)
						}
						text, how := strings.Repeat(fmt.Sprint("shared ", i%5, " "), 600)+fmt.Sprint(i), paths[0]
						if i%2 == 0 {
							text = strings.Repeat(fmt.Sprint(i, " word "), 300)
						}
						r := request("m", `{"model":"m"}`)
						if r.Chain = chain(text); i%10 == 0 {
							r.Chain, how = nil, paths[1]
						}
						r.Original.Header.Set("Id", fmt.Sprint(i))
						if status, got, _ := how.send(t, c, r); status != 200 || got != fine {
							seen.Add(1)
						}
					}
				})
			}
			wg.Wait()
			for id, times := range worked {
				if times > 1 {
					t.Errorf("request %s was worked on %d times", id, times)
				}
			}
			if n := seen.Load(); n > int64(way.most) || len(worked) < 1000-way.most || drawn > 20 {
				t.Errorf("%d clients have seen an error, %d requests were worked on, %d were sent to the replica that fails", n, len(worked), drawn)
			}
			if s := c.Upstreams()[0]; s.Health.Failures == 0 || s.Load.Held != 0 || s.Load.InFlight != 0 {
				t.Errorf("%+v, %+v", s.Health, s.Load)
			}
		})
	}
}

// TestFastFailure: a replica that answers 404 at once draws neither the requests of one prefix nor those of others.
func TestFastFailure(t *testing.T) {
	for name, text := range map[string]func(i int) string{
		"one system prompt": func(i int) string { return strings.Repeat("You are a helper. ", 340) + fmt.Sprint(i) },
		"unique prompts":    func(i int) string { return strings.Repeat(fmt.Sprint("word", i, " "), 300) },
	} {
		a, b := newStub(t, fails(404, "")), newStub(t, answers("fine"))
		c := newClient(t, Options{Replicas: []Target{at(t, a.URL, named("a")), at(t, b.URL, named("b"))}})
		for i := range 24 {
			r := request("m", `{"model":"m"}`)
			r.Chain = chain(text(i))
			if status, _, _ := callOn(t, c, r); status != 200 {
				t.Errorf("%s, request %d: %d", name, i, status)
			}
		}
		if n := len(a.calls()); n > failuresOfModel || len(b.calls()) != 24 {
			t.Errorf("%s: %d requests were sent to the replica that fails", name, n)
		}
	}
}

// TestPrefixGoesElsewhere: after one failure that another replica may not repeat, the next request of that prefix goes to another one; a request
// that the replica refuses by the client's fault moves nothing.
func TestPrefixGoesElsewhere(t *testing.T) {
	for status, moves := range map[int]bool{500: true, 502: true, 504: true, 520: true, 400: false, 413: false, 422: false} {
		stubs := []*stub{newStub(t, answers("fine")), newStub(t, answers("fine"))}
		c := newClient(t, Options{Replicas: []Target{at(t, stubs[0].URL, named("a")), at(t, stubs[1].URL, named("b"))}})
		r := request("m", "{}")
		r.Chain = chain(strings.Repeat("one two three ", 400))
		callOn(t, c, r)
		home := 0
		if len(stubs[1].calls()) > 0 {
			home = 1
		}
		stubs[home].does(fails(status, ""))
		callOn(t, c, r)
		stubs[home].calls()
		callOn(t, c, r)
		if moved := len(stubs[1-home].calls()) == 1; moved != moves || len(stubs[home].calls()) == 1 == moves {
			t.Errorf("after status %d the next request has moved: %v", status, moved)
		}
		if failed := c.Upstreams()[home].Health.Failures > 0; failed != moves {
			t.Errorf("status %d counts as a failure: %v", status, failed)
		}
	}
}

// TestModelOfNobody: requests for a model that no replica has are refused by each once, and take no replica away from other models.
func TestModelOfNobody(t *testing.T) {
	has := func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Model") != "m" {
			w.WriteHeader(404)
		}
		io.WriteString(w, "fine")
	}
	a, b, f := newStub(t, has), newStub(t, has), newStub(t, answers("for money"))
	c, _ := fleetOf(t, at(t, a.URL, named("a")), at(t, b.URL, named("b")), at(t, f.URL, named("f"), fallback, keyed("k")))
	send := func(way path, model string) int {
		r := request(model, `{"model":"`+model+`"}`)
		r.Original.Header.Set("Model", model)
		status, _, _ := way.send(t, c, r)
		return status
	}
	for i := range 20 {
		way := paths[i%2]
		if status := send(way, fmt.Sprint("typo", i/10)); status != 404 || len(a.calls()) != 1 || len(b.calls()) != 1 {
			t.Errorf("%s: %d", way.name, status)
		}
		if status := send(way, "m"); status != 200 || len(a.calls()) != 1 || len(b.calls()) != 0 {
			t.Errorf("%s, a model that they have: %d", way.name, status)
		}
	}
	b.does(fails(400, ""))
	if status := send(paths[0], "typo"); status != 400 {
		t.Errorf("where the other one refuses it for another reason: %d", status)
	}
	for _, s := range c.Upstreams() {
		if s.Health != (Health{Condition: Up, Share: 1}) {
			t.Errorf("%s: %+v", s.Name, s.Health)
		}
	}
	if got := f.calls(); len(got) != 0 {
		t.Errorf("with the operator's credential a client had a model that is not on the list: %q", got)
	}
}

// TestModelsOfOneReplica: a client that asks for models which only one replica has takes the other one away from these, and not from the models of
// others.
func TestModelsOfOneReplica(t *testing.T) {
	for name, c := range map[string]struct {
		served []string // the tenants that the replica has answered before
		want   Condition
	}{
		"it answers others":  {[]string{"others", "t"}, Up},
		"it answers nobody":  {nil, Ejected},
		"it answers the one": {[]string{"t"}, Ejected},
	} {
		a, b := newStub(t, fails(404, "")), newStub(t, answers("fine"))
		client := newClient(t, Options{Replicas: []Target{at(t, a.URL, named("a")), at(t, b.URL, named("b"))}})
		for _, tenant := range c.served {
			client.board.succeeded(client.now(), 0, limited{Tenant: tenant, Model: "m"})
		}
		for i := range 100 {
			r := request(fmt.Sprint("lora", i/4), "{}")
			r.Tenant = "t"
			if status, _, _ := callOn(t, client, r); status != 200 {
				t.Errorf("%s: %d", name, status)
			}
		}
		if got := client.Upstreams()[0].Health; got.Condition != c.want {
			t.Errorf("%s: %+v, want %s", name, got, c.want)
		}
		if n := len(a.calls()); n > 25*failuresOfModel {
			t.Errorf("%s: %d requests were sent to the replica that has none of the models", name, n)
		}
	}
}

// TestProbe: a replica that is ejected for a model answers others meanwhile, and gets one request of the model after its time, until that is
// answered.
func TestProbe(t *testing.T) {
	probe, probed := make(chan struct{}), make(chan struct{})
	script := func(w http.ResponseWriter, r *http.Request) {
		switch r.Header.Get("Model") {
		case "m":
			w.WriteHeader(500)
		case "probe":
			close(probed)
			holds(t, probe)
		}
		io.WriteString(w, "a")
	}
	a, b := newStub(t, script), newStub(t, answers("b"))
	c, now := fleetOf(t, at(t, a.URL, named("a")), at(t, b.URL, named("b")))
	send := func(model, header string) string {
		r := request(model, "{}")
		r.Original.Header.Set("Model", header)
		_, text, _ := callOn(t, c, r)
		return text
	}
	if got := send("m", "m") + send("n", "n") + send("m", "m") + send("m", "m") + send("n", "n"); got != "aaaba" {
		t.Errorf("while it fails for a model: %s", got)
	}
	if h := c.Upstreams()[0]; h.Health.Condition != Up || h.Health.Limits != 1 || h.Health.Failures != 1 || h.Fault != "status 500" {
		t.Errorf("%+v, %s", h.Health, h.Fault)
	}
	now.pass(firstEjection)
	if got := send("m", "m") + send("m", ""); got != "ab" {
		t.Errorf("after a probe that fails: %s", got)
	}
	now.pass(2 * firstEjection)
	done := make(chan string)
	go func() { done <- send("m", "probe") }()
	received(t, "the probe", probed)
	if got := send("m", ""); got != "b" {
		t.Errorf("during the probe: %s", got)
	}
	close(probe)
	if got := received(t, "the answer to the probe", done) + send("m", "") + send("m", ""); got != "aaa" {
		t.Errorf("after the probe: %s", got)
	}
}

// TestFollowersOfAFailure: requests that wait for one with the same prefix go elsewhere when that fails.
func TestFollowersOfAFailure(t *testing.T) {
	fail := make(chan struct{})
	stubs := []*stub{newStub(t, answers("fine")), newStub(t, answers("fine"))}
	for _, s := range stubs {
		s.does(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("First") != "" {
				holds(t, fail)
				w.WriteHeader(500)
			}
			io.WriteString(w, "fine")
		})
	}
	c := newClient(t, Options{Replicas: []Target{at(t, stubs[0].URL, named("a")), at(t, stubs[1].URL, named("b"))}, Leaders: 64})
	c.leaderWait = time.Hour
	done := make(chan int, 4)
	send := func(first string) {
		r := request("m", "{}")
		r.Chain = chain(strings.Repeat("one two three ", 400))
		r.Original.Header.Set("First", first)
		status, _, _ := callOn(t, c, r)
		done <- status
	}
	inFlight := func() (n int) {
		for _, s := range c.Upstreams() {
			n += s.Load.InFlight
		}
		return n
	}
	go send("yes")
	until(t, "the first request is under way", func() bool { return len(stubs[0].sent())+len(stubs[1].sent()) == 1 })
	home := len(stubs[1].sent())
	for range 3 {
		go send("")
	}
	until(t, "the others wait", func() bool { return inFlight() == 4 })
	close(fail)
	got := map[int]int{}
	for range 4 {
		got[received(t, "an answer", done)]++
	}
	if got[500] != 1 || got[200] != 3 || len(stubs[home].sent()) != 1 || inFlight() != 0 {
		t.Errorf("statuses %v, %d requests where the first one failed", got, len(stubs[home].sent()))
	}
}

// TestErrorIn: what counts as an error in an answer with status 200, and whose fault it is.
func TestErrorIn(t *testing.T) {
	for _, tc := range []struct {
		head             string
		isError, clients bool
	}{
		{`{"error":{"message":"CUDA out of memory"}}`, true, false}, {`{"error":"overloaded"}`, true, false}, {`{"error":{"mess`, true, false},
		{"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n", true, false},
		{`{"error":{"code":400,"message":"too long"}}`, true, true}, {`{"error":{"type":"invalid_request_error"}}`, true, true}, {`{"error":{"code":500}}`, true, false},
		{`{"id":"resp","error":null,"output":[]}`, false, false}, {`{"error":{}}`, false, false}, {`{"error":""}`, false, false},
		{`{"choices":[{"message":{"content":"{\"error\":1}"}}]}`, false, false}, {`{"choices":[{"error":{}}]}`, false, false}, {`"error"`, false, false}, {``, false, false},
	} {
		if isError, clients := errorIn([]byte(tc.head)); isError != tc.isError || clients != tc.clients {
			t.Errorf("%s: %v, by the client %v", tc.head, isError, clients)
		}
	}
}

// TestClientsError: an error with status 200 that is the client's fault is no failure, and no success either.
func TestClientsError(t *testing.T) {
	a, b := newStub(t, answers(`{"error":{"code":400}}`)), newStub(t, answers("b"))
	c, _ := fleetOf(t, at(t, a.URL, named("a")), at(t, b.URL, named("b")))
	r := request("m", "{}")
	r.Chain = chain(strings.Repeat("one two three ", 400))
	c.failed(c.now(), c.replicas[0], limited{Model: "n"}, errors.New("before"))
	for range 3 {
		callOn(t, c, r)
	}
	if s := c.Upstreams()[0]; s.Health.Failures != 1 || s.Load.Held != 0 || len(b.calls()) != 0 {
		t.Errorf("%+v, %+v", s.Health, s.Load)
	}
}
