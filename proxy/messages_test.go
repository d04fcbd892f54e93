package proxy

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"reprise/internal/enginesim"
)

// message is the body of a request of Anthropic's API with one user message; more are members such as `"stream":true`.
func message(prompt string, more ...string) string {
	return `{"model":"claude-sonnet-5","max_tokens":500,"messages":[{"role":"user","content":"` + prompt + `"}]` + joined(more) + `}`
}

const version = "Anthropic-Version: 2023-06-01"

// claude is a rig in front of an engine that receives fields as Anthropic does. last is the last body that it got.
func claude(t *testing.T, adjust ...func(*Options)) (r *rig, last func() string) {
	var mu sync.Mutex
	var got string
	engine := enginesim.New(enginesim.Options{Models: []string{enginesim.AnyModel}, Strict: "anthropic", OnRequest: func(_ string, _ http.Header, body []byte) {
		mu.Lock()
		defer mu.Unlock()
		got = string(body)
	}})
	r = newRigAt(t, engine, engine, append([]func(*Options){func(o *Options) { o.Upstreams[0].Dialect = "anthropic" }}, adjust...)...)
	return r, func() string {
		mu.Lock()
		defer mu.Unlock()
		return got
	}
}

func (r *rig) say(t *testing.T, body string, header ...string) reply {
	t.Helper()
	return r.ask(t, "/v1/messages", body, append([]string{version}, header...)...)
}

// TestMessagesShared: what two requests of Anthropic's API must have in common, and in what they may differ.
func TestMessagesShared(t *testing.T) {
	const prompt = "How do I reset my password?"
	first := message(prompt, `"system":[{"type":"text","text":"Be brief."}]`, `"metadata":{"user_id":"u-1"}`)
	for _, tc := range []struct {
		name, body, header, want string
	}{
		{"again", first, "", "exact"},
		{"as a stream", strings.Replace(first, "{", `{"stream":true,`, 1), "", "exact"},
		{"content as a block", strings.Replace(first, `"`+prompt+`"`, `[{"type":"text","text":"`+prompt+`"}]`, 1), "", "exact"},
		{"a mark on the system prompt", strings.Replace(first, `"Be brief."`, `"Be brief.","cache_control":{"type":"ephemeral"}`, 1), "", "exact"},
		{"marks everywhere", strings.Replace(strings.Replace(first, `"`+prompt+`"`, `[{"type":"text","text":"`+prompt+`","cache_control":{"type":"ephemeral"}}]`, 1),
			"{", `{"cache_control":{"type":"ephemeral","ttl":"1h"},`, 1), "", "exact"},
		{"a paraphrase", strings.Replace(first, prompt, "How can I reset my password?", 1), "", "semantic"},
		{"a paraphrase as a stream", strings.Replace(strings.Replace(first, prompt, "Please, how do I reset my password?", 1), "{", `{"stream":true,`, 1), "", "semantic"},
		{"another version", first, "Anthropic-Version: 2026-10-21", "miss"},
		{"a beta", first, "Anthropic-Beta: context-1m-2025-08-07", "miss"},
		{"another key", first, "X-Api-Key: sk-ant-2", "miss"},
		{"another user", strings.Replace(first, "u-1", "u-2", 1), "", "exact"},
		{"another system prompt", strings.Replace(first, "Be brief.", "Be long.", 1), "", "miss"},
		{"another limit", strings.Replace(first, "500", "400", 1), "", "miss"},
		{"thoughts", strings.Replace(first, "{", `{"thinking":{"type":"adaptive"},`, 1), "", "miss"},
		{"a container", strings.Replace(first, "{", `{"container":"c_1",`, 1), "", "bypass"},
		{"a search", strings.Replace(first, "{", `{"tools":[{"type":"web_search_20250305","name":"web_search"}],`, 1), "", "bypass"},
		{"servers of tools", strings.Replace(first, "{", `{"mcp_servers":[{"type":"url","url":"https://example.com","name":"m"}],`, 1), "", "bypass"},
		{"encrypted thoughts", strings.Replace(first, `[{"role"`, `[{"role":"user","content":"Hi."},{"role":"assistant","content":[{"type":"redacted_thinking","data":"x"}]},{"role"`, 1), "", "bypass"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, _ := claude(t)
			if got := r.say(t, first); got.cache() != "miss" {
				t.Fatalf("%s %s", got.cache(), got.body)
			}
			var header []string
			if tc.header != "" {
				header = []string{tc.header}
			}
			if got := r.say(t, tc.body, header...); got.cache() != tc.want || got.status != http.StatusOK {
				t.Errorf("%d %s, want %s: %s %s", got.status, got.cache(), tc.want, got.header.Get("Cache-Status"), got.body)
			}
		})
	}
}

// TestMessagesMarks: the hints of the anthropic dialect reach the upstream, which then reads the scaffold from its cache. A mark of the client's
// keeps them away.
func TestMessagesMarks(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r, last := claude(t, func(o *Options) {
		o.Hints = Hints{Breakpoints: true, Retention: true}
		o.Now = func() time.Time { return now }
	})
	system := `"system":"` + strings.Repeat("stay calm ", 1500) + `"`
	var got reply
	for _, q := range []string{"why is the sky blue", "list three rivers of France", "what is a monad", "how do bees find home", "who wrote Faust"} {
		now = now.Add(time.Minute)
		got = r.say(t, message(q, system))
	}
	if !strings.Contains(last(), `stay calm ","cache_control":{"type":"ephemeral"`) || strings.Count(last(), "cache_control") != 1 {
		t.Errorf("the upstream got %.100s...%s", last(), last()[max(0, len(last())-200):])
	}
	if n := gjson.Get(got.body, "usage.cache_read_input_tokens").Int(); n < 1024 {
		t.Errorf("%d tokens were read from the cache of the upstream: %s", n, gjson.Get(got.body, "usage").Raw)
	}
	own := strings.Replace(message("what is a functor", system), `"what is a functor"`, `[{"type":"text","text":"what is a functor","cache_control":{"type":"ephemeral"}}]`, 1)
	now = now.Add(time.Minute)
	if r.say(t, own); last() != own {
		t.Errorf("the upstream got ...%s", last()[max(0, len(last())-200):])
	}
}

// TestMessagesErrors: errors of the proxy are in Anthropic's shape, those of the upstream pass.
func TestMessagesErrors(t *testing.T) {
	r, _ := claude(t)
	for _, tc := range []struct {
		name, body, header string
		status             int
		kind               string
	}{
		{"no JSON", `{"model":`, "", 400, "invalid_request_error"},
		{"no messages", `{"model":"m","max_tokens":5}`, "", 400, "invalid_request_error"},
		{"only if cached", message("x"), "Cache-Control: only-if-cached", 504, "timeout_error"},
		{"the upstream's", message("x", `"max_tokns":5`), "", 400, "invalid_request_error"},
		{"overloaded", message("x"), enginesim.FaultHeader + ": status=529", 529, "overloaded_error"},
	} {
		var header []string
		if tc.header != "" {
			header = []string{tc.header}
		}
		got := r.say(t, tc.body, header...)
		if kind := gjson.Get(got.body, "error.type").String(); got.status != tc.status || kind != tc.kind || gjson.Get(got.body, "type").String() != "error" {
			t.Errorf("%s: %d %s", tc.name, got.status, got.body)
		}
	}
	r.up.Close()
	if got := r.say(t, message("y")); got.status != http.StatusBadGateway || gjson.Get(got.body, "error.type").String() != "api_error" {
		t.Errorf("an upstream that is gone: %d %s", got.status, got.body)
	}
}

// TestMessagesNotKept: answers that are cut, refuse or go on with another request.
func TestMessagesNotKept(t *testing.T) {
	for fault, reason := range map[string]string{"finish=max_tokens": "length", "finish=pause_turn": "incomplete", "finish=model_context_window_exceeded": "length",
		"refusal=no": "refusal", "no-done": "incomplete", "error-event": "error"} {
		r, _ := claude(t)
		for _, more := range [][]string{nil, {`"stream":true`}} {
			if more == nil && (fault == "no-done" || fault == "error-event") {
				continue
			}
			for range 2 {
				if got := r.say(t, message("x", more...), enginesim.FaultHeader+": "+fault); got.cache() != "miss" || more == nil && !strings.Contains(got.header.Get("Cache-Status"), "not-stored="+reason) {
					t.Errorf("%s: %s %s", fault, got.cache(), got.header.Get("Cache-Status"))
				}
			}
		}
	}
}

// TestMessagesBeside: what lies beside the endpoint passes through.
func TestMessagesBeside(t *testing.T) {
	r, _ := claude(t)
	for range 2 {
		if got := r.ask(t, "/v1/messages/count_tokens", message("x"), version); got.cache() != "bypass" || !gjson.Get(got.body, "input_tokens").Exists() {
			t.Errorf("%s %s", got.cache(), got.body)
		}
	}
	if got := r.ask(t, "/v1/messages/batches", `{"requests":[]}`, version); got.cache() != "bypass" || got.status != http.StatusNotFound {
		t.Errorf("%d %s %s", got.status, got.cache(), got.body)
	}
}
