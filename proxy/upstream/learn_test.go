package upstream_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"reprise/internal/enginesim"
	"reprise/proxy/upstream"
	"reprise/proxy/upstream/prefix"
)

func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// ask sends a prompt through c and returns the replica that answered.
func ask(t *testing.T, c *upstream.Client, prompt string) string {
	t.Helper()
	chain := &prefix.Chain{}
	chain.Begin(1)
	chain.Add(prefix.Message, []byte(prompt))
	body := []byte(`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"` + prompt + `"}]}`)
	r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", nil)
	r.Header.Set("Content-Type", "application/json")
	reply, err := c.Call(t.Context(), upstream.Request{Original: r, Body: body, Model: "m", Chain: chain})
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if text, err := io.ReadAll(reply.Body); err != nil || reply.StatusCode != 200 {
		t.Fatalf("%s: %v %s", reply.Status, err, text)
	}
	return reply.Replica.Name()
}

// TestLearning: the fleet's model of an engine follows its events and its metrics. What the engine evicts for other clients, and what a
// restart has cleared, is not expected there any more.
func TestLearning(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	events := enginesim.NewEvents(l, nil, enginesim.EventMaps)
	defer events.Close()
	sim := enginesim.New(enginesim.Options{Models: []string{enginesim.AnyModel}, Blocks: 500, Events: events})
	engine := httptest.NewServer(sim)
	defer engine.Close()
	base, _ := url.Parse(engine.URL + "/v1")
	c, err := upstream.New(upstream.Options{Replicas: []upstream.Target{{Name: "a", Base: base, Events: "tcp://" + l.Addr().String(), Metrics: "/metrics"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	state := func() upstream.Status { return c.Upstreams()[0] }
	until(t, "the events and the capacity", func() bool {
		return state().Events.Connected && events.Subscribers() == 1 && state().Load.Capacity == 8000
	})
	prompt := strings.Repeat("a prompt of words ", 200)
	until(t, "a prompt whose blocks are found", func() bool { // an answer can be faster than the events
		prompt += "more "
		ask(t, c, prompt)
		return state().Events.Matched > 0
	})
	if held := state().Load.Held; held == 0 {
		t.Fatal("the engine should hold nothing")
	}
	held := state().Load.Held
	until(t, "the eviction by other clients' prompts", func() bool {
		resp, err := http.Post(engine.URL+"/v1/chat/completions", "application/json",
			strings.NewReader(`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"`+time.Now().String()+strings.Repeat("others ", 2000)+`"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return state().Load.Held < held
	})
	sim.Reset()
	until(t, "the restart", func() bool { return state().Load.Held == 0 })
}

// TestWrongSources: addresses that cannot work are refused at the start.
func TestWrongSources(t *testing.T) {
	base, _ := url.Parse("http://127.0.0.1:1/v1")
	for want, target := range map[string]upstream.Target{
		"tcp://host:5557":         {Base: base, Events: "127.0.0.1:5557"},
		"upstream a: events":      {Name: "a", Base: base, Events: "tcp://h:1", Replay: "x"},
		"no effect":               {Base: base, Replay: "tcp://h:1"},
		"a path such as /metrics": {Base: base, Metrics: "metrics"},
		"neither a path":          {Base: base, Metrics: "ftp://h/metrics"},
	} {
		if _, err := upstream.New(upstream.Options{Replicas: []upstream.Target{target}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", target, err, want)
		}
	}
}

// TestRetention: a prefix that returns each minute is marked for a write that costs a quarter more, one that returns once a day is not.
func TestRetention(t *testing.T) {
	var got string
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		got = string(text)
		io.WriteString(w, "{}")
	}))
	defer api.Close()
	base, _ := url.Parse(api.URL + "/v1")
	c, err := upstream.New(upstream.Options{Replicas: []upstream.Target{{Base: base, Dialect: "anthropic"}}, Breakpoints: true, Retention: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	body := `{"model":"claude-sonnet-5","max_tokens":1,"system":[{"type":"text","text":"` + strings.Repeat("word ", 4000) + `"}],"messages":[{"role":"user","content":"hello"}]}`
	for rate, marks := range map[float64]int{1.0 / 60: 1, 1.0 / 86400: 0, 0: 0} {
		reply, err := c.Call(t.Context(), upstream.Request{Original: httptest.NewRequest(http.MethodPost, "/v1/messages", nil), Body: []byte(body), Model: "claude-sonnet-5", Rate: rate})
		if err != nil {
			t.Fatal(err)
		}
		reply.Body.Close()
		if n := strings.Count(got, `"cache_control":{"type":"ephemeral"}`); n != marks || strings.Replace(got, `"cache_control":{"type":"ephemeral"},`, "", 1) != body {
			t.Errorf("at %v requests a second: %d marks in %.300s", rate, n, got)
		}
	}
}
