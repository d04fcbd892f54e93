package proxy

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"reprise/proxy/rules"
)

// TestOnlyGoodAnswersAreKept: an answer that is cut, filtered, refused, empty or broken is passed on and never stored.
func TestOnlyGoodAnswersAreKept(t *testing.T) {
	tool := `"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]}}}],"tool_choice":"required"`
	for _, tc := range []struct{ name, fault, more, reason string }{
		{"length", "", `"max_tokens":3`, "length"},
		{"filtered", "finish=content_filter", "", "content-filter"},
		{"refused", "refusal=No.", "", "refusal"},
		{"tool calls", "", tool, "tool-calls"},
		{"error", "status=500", "", "status"},
		{"malformed", "malformed", "", "malformed"},
		{"HTML", "body=<html>sorry</html>", "", "malformed"},
		{"empty", `body={"id":"x"}`, "", ""},
		{"longer than it says", "wrong-length=10", "", ""},
		{"compressed", "gzip", "", "content-encoding"},
		{"error event", "error-event", `"stream":true`, "error"},
		{"no terminal event", "no-done", `"stream":true`, "incomplete"},
		{"malformed chunk", "malformed", `"stream":true`, "malformed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t)
			body := chat(capital)
			if tc.more != "" {
				body = chat(capital, tc.more)
			}
			got := r.ask(t, "/v1/chat/completions", body, "X-Sim-Fault: "+tc.fault)
			if status := got.header.Get("Cache-Status"); tc.reason != "" && !strings.Contains(tc.more, "stream") && !strings.Contains(status, "not-stored="+tc.reason) {
				t.Errorf("Cache-Status %q", status)
			}
			if again := r.ask(t, "/v1/chat/completions", body); again.cache() != "miss" {
				t.Errorf("asked again: %s", again.cache())
			}
			if tc.fault != "" && r.Stats().Stored != 1 {
				t.Errorf("%d answers stored, want the second one", r.Stats().Stored)
			}
		})
	}
}

// TestBrokenAnswersAreNotKept: an answer that hides an error, calls no tool by name, has other vectors than were asked for or comes from the web
// is passed on as it is, an object or a stream, and a repetition goes to the upstream. What differs in little more than that is kept.
func TestBrokenAnswersAreNotKept(t *testing.T) {
	// say is a chat answer, an object or a stream, with members in its message, its choice and itself.
	say := func(message, choice, top, finish string) (object, stream string) {
		object = `{"id":"a","object":"chat.completion","created":1,"model":"m"` + top + `,"choices":[{"index":0,"message":{"role":"assistant",` + message + `},"finish_reason":"` + finish + `"` + choice + `}]}`
		return object, `data: {"id":"a","object":"chat.completion.chunk","created":1,"model":"m"` + top + `,"choices":[{"index":0,"delta":{"role":"assistant",` + message + `},"finish_reason":null}]}` +
			"\n\n" + `data: {"id":"a","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"` + finish + `"` + choice + `}]}` + "\n\ndata: [DONE]\n\n"
	}
	const text = `"content":"Hi"`
	call := func(name string) string {
		return `"content":null,"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"` + name + `","arguments":"{}"}}]`
	}
	type answers struct{ name, path, asked, object, stream, reason string }
	var all []answers
	for _, c := range []struct{ name, message, choice, top, finish, reason string }{
		{"text", text, "", "", "stop", ""},
		{"an error in a choice", text, `,"error":{"code":502,"message":"x"},"native_finish_reason":"error"`, "", "stop", "error"},
		{"no error in a choice", text, `,"error":null,"native_finish_reason":"end_turn"`, "", "stop", ""},
		{"a call", call("f"), "", "", "tool_calls", ""},
		{"a call without a name", call(""), "", "", "tool_calls", "malformed"},
		{"citations", text, "", `,"citations":["https://a.example"]`, "stop", "live-web"},
		{"no citations", text, "", `,"citations":[]`, "stop", ""},
		{"a finish reason of Together", text, "", "", "eos", ""},
	} {
		a := answers{name: c.name, path: "/v1/chat/completions", asked: chat(capital, weatherTools), reason: c.reason}
		a.object, a.stream = say(c.message, c.choice, c.top, c.finish)
		all = append(all, a)
	}
	for name, data := range map[string]string{
		"vectors":          `{"index":0,"embedding":[1,2]},{"index":1,"embedding":[3,4]}`,
		"one vector":       `{"index":0,"embedding":[1,2]}`,
		"three vectors":    `{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1,2]},{"index":2,"embedding":[1,2]}`,
		"one index twice":  `{"index":0,"embedding":[1,2]},{"index":0,"embedding":[1,2]}`,
		"two lengths":      `{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1]}`,
		"null in a vector": `{"index":0,"embedding":[1,2]},{"index":1,"embedding":[0.1,null]}`,
		"zeros":            `{"index":0,"embedding":[1,2]},{"index":1,"embedding":[0,0]}`,
	} {
		reason := map[bool]string{false: "malformed"}[name == "vectors"]
		all = append(all, answers{name, "/v1/embeddings", `{"model":"m","input":["a","b"]}`, `{"object":"list","model":"m","data":[` + data + `]}`, "", reason})
	}
	for _, c := range all {
		for kind, body := range map[string]string{"application/json": c.object, "text/event-stream": c.stream} {
			if body == "" {
				continue
			}
			t.Run(c.name+" "+kind, func(t *testing.T) {
				r := newRigAt(t, nil, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", kind)
					io.WriteString(w, body)
				}), func(o *Options) { o.CacheToolCalls = true })
				asked := c.asked
				if kind != "application/json" {
					asked = strings.TrimSuffix(asked, "}") + `,"stream":true}`
				}
				first, again, want := r.ask(t, c.path, asked), r.ask(t, c.path, asked), "exact"
				if c.reason != "" {
					want = "miss"
				}
				if first.body != body || again.cache() != want || want == "miss" && again.body != body {
					t.Errorf("%s, then %s, want %s\n%s", status(first), again.cache(), want, again.body)
				}
				said, where := status(first), "not-stored="+c.reason
				if kind != "application/json" { // its header was sent before
					said, where = status(again), "why=not-stored:"+c.reason
				}
				if c.reason != "" && !strings.Contains(said, where) {
					t.Errorf("%s, want %s", said, where)
				}
			})
		}
	}
}

// TestLiveAnswersOfARule: where a rule keeps answers from the web, an equal request gets them, and no other one.
func TestLiveAnswersOfARule(t *testing.T) {
	r := newRigAt(t, nil, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, strings.Replace(string(upstreamReply), "{", `{"citations":["https://a.example"],`, 1))
	}), func(o *Options) {
		o.Rules = []*rules.Rule{{Name: "live", Match: rules.Match{Namespaces: []string{"live"}}, Mode: ModeSemantic, TTL: time.Hour, LiveWeb: true}}
	})
	for _, c := range []struct{ model, prompt, namespace, want string }{
		{"gpt-4o", capital, "live", "miss"}, {"gpt-4o", capital, "live", "exact"}, {"gpt-4o", similar, "live", "miss"},
		{"gpt-4o", capital, "other", "miss"}, {"gpt-4o", capital, "other", "miss"},
		{"perplexity/sonar", capital, "live", "miss"}, {"perplexity/sonar", capital, "live", "exact"}, {"perplexity/sonar", similar, "live", "miss"},
		{"perplexity/sonar", capital, "other", "bypass"}, {"gpt-4o:online", capital, "other", "bypass"},
	} {
		asked := strings.Replace(chat(c.prompt), "gpt-4o", c.model, 1)
		if got := r.ask(t, "/v1/chat/completions", asked, "X-Reprise-Namespace: "+c.namespace); got.cache() != c.want {
			t.Errorf("%+v: %s", c, status(got))
		}
	}
}

// TestCacheFieldsOfUpstreams: an answer with no-store is not kept, whatever else it says is passed on. An upstream's Age and Cache-Status stay
// in its own answer, where Cache-Status has ours behind them; a replay has ours alone.
func TestCacheFieldsOfUpstreams(t *testing.T) {
	for control, kept := range map[string]bool{"": true, "private, max-age=0": true, "no-cache": true, "No-Store": false, "private, no-store": false} {
		for _, path := range []string{"/v1/chat/completions", "/v1/moderations"} {
			r := newRigAt(t, nil, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Cache-Status"] = []string{"edge; hit", "inner; fwd=miss"}
				w.Header()["Age"], w.Header()["Cache-Control"] = []string{"77"}, []string{control}
				answers(w)
			}))
			got := r.ask(t, path, chat(capital))
			status := got.header["Cache-Status"]
			if len(status) != 3 || status[0] != "edge; hit" || status[1] != "inner; fwd=miss" || got.header.Get("Age") != "77" || got.header.Get("Cache-Control") != control {
				t.Errorf("%s, %q: %q, Age %q", path, control, status, got.header["Age"])
			}
			if path == "/v1/moderations" {
				continue
			}
			if reason := strings.Contains(status[2], "not-stored=no-store"); reason == kept || strings.Contains(status[2], "; stored") != kept {
				t.Errorf("%q: %s", control, status[2])
			}
			again := r.ask(t, path, chat(capital))
			if want := map[bool]string{true: "exact", false: "miss"}[kept]; again.cache() != want {
				t.Errorf("%q, asked again: %s, want %s", control, again.cache(), want)
			} else if kept && (len(again.header["Cache-Status"]) != 1 || again.header.Get("Age") != "0" || again.header.Get("Cache-Control") != "") {
				t.Errorf("a replay has %v", again.header)
			}
		}
	}
}

// TestToolCallsAreExactOnly: where answers that call tools are kept, only equal requests get them.
func TestToolCallsAreExactOnly(t *testing.T) {
	r := newRig(t, func(o *Options) { o.CacheToolCalls = true })
	ask := func(prompt string) reply {
		return r.ask(t, "/v1/chat/completions", chat(prompt, `"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}}],"tool_choice":"required"`))
	}
	first := ask(capital)
	if again := ask(capital); again.cache() != "exact" || !strings.Contains(again.body, `"tool_calls"`) {
		t.Errorf("the same request: %s", again.cache())
	}
	if other := ask(similar); first.cache() != "miss" || other.cache() != "miss" {
		t.Errorf("a paraphrase: %s", other.cache())
	}
}

func TestEntrySizeIsBounded(t *testing.T) {
	r := newRig(t, func(o *Options) { o.MaxEntryBytes = 100 })
	first, again := r.ask(t, "/v1/chat/completions", chat(capital)), r.ask(t, "/v1/chat/completions", chat(capital))
	if again.cache() != "miss" || !strings.Contains(first.header.Get("Cache-Status"), "not-stored=size") {
		t.Errorf("%s, %s", again.cache(), first.header.Get("Cache-Status"))
	}
}

// TestHugeAnswers: an answer that is too large to keep reaches all who asked for it, of a known length or not, and in either
// form.
func TestHugeAnswers(t *testing.T) {
	huge := append([]byte(`{"pad":"`+strings.Repeat("x", 3<<20)+`",`), upstreamReply[1:]...)
	stream := strings.Repeat(event(strings.Repeat("y", 64<<10)), 40) + strings.Replace(lastEvents, usageEvent, "", 1)
	for _, tc := range []struct{ contentType, body, length, asked string }{
		{"application/json", string(huge), strconv.Itoa(len(huge)), chat(capital)}, {"application/json", string(huge), "", chat(capital)},
		{"text/event-stream", stream, "", chat(capital, `"stream":true`)},
	} {
		up := newStage()
		r := newRigAt(t, nil, up, func(o *Options) { o.MaxEntryBytes = 1 << 20 })
		for _, n := range []int{1, 2} {
			replies := make(chan reply, n)
			for range n {
				go func() { got, _ := r.try("/v1/chat/completions", tc.asked); replies <- got }()
			}
			within(t, up.arrived, "the upstream call")
			r.waiters(t, n)
			up.script <- func(w http.ResponseWriter) {
				if tc.length != "" {
					w.Header().Set("Content-Length", tc.length)
				}
				w.Header().Set("Content-Type", tc.contentType)
				w.Write([]byte(tc.body))
			}
			for range n {
				if got := within(t, replies, "an answer"); got.body != tc.body {
					t.Errorf("%s for %d: %d, %d bytes of %d, %s", tc.contentType, n, got.status, len(got.body), len(tc.body), got.header.Get("Cache-Status"))
				}
			}
		}
		if up.asked.Load() != 2 || r.Stats().Stored != 0 {
			t.Errorf("%s: %d upstream calls, %d stored", tc.contentType, up.asked.Load(), r.Stats().Stored)
		}
	}
}

// TestUsageOptionRefused: an upstream that refuses stream_options, or fails because of it, is asked again without it, once.
func TestUsageOptionRefused(t *testing.T) {
	for _, status := range []int{http.StatusBadRequest, http.StatusInternalServerError} {
		testUsageOptionRefused(t, status)
	}
}

func testUsageOptionRefused(t *testing.T, status int) {
	var bodies []string
	up := http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		b, _ := io.ReadAll(q.Body)
		bodies = append(bodies, string(b))
		if strings.Contains(string(b), "stream_options") {
			w.WriteHeader(status)
			w.Write([]byte(`{"error":{"message":"Unknown parameter: stream_options"}}`))
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.Write([]byte(event("one") + lastEvents))
	})
	r := newRigAt(t, nil, up)
	for i, prompt := range []string{"The first question", "Another matter", "The first question"} {
		got := r.ask(t, "/v1/chat/completions", chat(prompt, `"stream":true`))
		if got.status != 200 || streamedText(got.body) != "one" {
			t.Fatalf("call %d: %d %s", i, got.status, got.body)
		}
	}
	if len(bodies) != 3 {
		t.Errorf("the upstream was asked %d times, want 3: with, without, without", len(bodies))
	}
}

// TestEvictionsReachTheTopics: entries that the policy evicts are removed from the topics too.
func TestEvictionsReachTheTopics(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Store = newStore(t, 5, nil) })
	for _, noun := range nouns[:40] {
		r.ask(t, "/v1/chat/completions", chat("Explain the word "+noun+" to a child in two sentences"))
	}
	st := r.Stats()
	if st.Entries != 5 || st.Evictions != 35 {
		t.Errorf("stats %+v", st)
	}
	if n := r.topics.Stats().Entries; n != 5 {
		t.Errorf("the topics hold %d entries", n)
	}
}

// TestEarlyVictimLeavesTheTopics: an entry that is evicted before it is added to the topics does not stay in them.
func TestEarlyVictimLeavesTheTopics(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Store = newStore(t, 1, nil) })
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() {
			for j := range 60 {
				if _, err := r.try("/v1/chat/completions", chat(fmt.Sprint("Tell me tale ", i*1000+j))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	clients.Wait()
	if n := r.topics.Stats().Entries; n > 1 {
		t.Errorf("the topics hold %d entries, the store %d", n, r.Stats().Entries)
	}
}
