package proxy

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"reprise/internal/enginesim"
	"reprise/proxy/answer"
	"reprise/proxy/api/registry"
	"reprise/proxy/upstream"
)

// loop is an application that calls tools until the model has an answer, over one API.
type loop struct {
	path, field, first, more string
	// next returns what an answer adds to the conversation, with a result for each call, and the ids of these calls.
	next func(object gjson.Result) (elements, ids []string)
}

const weatherTools = `"tools":[{"type":"function","function":{"name":"weather","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}]`

var loops = map[string]loop{
	"chat": {path: "/v1/chat/completions", field: "messages", first: `{"role":"user","content":"Please call tool 3 times, then say what it is like in Oslo."}`,
		more: `"model":"gpt-4o",` + weatherTools, next: func(o gjson.Result) (elements, ids []string) {
			message := o.Get("choices.0.message")
			elements = append(elements, message.Raw)
			for _, call := range message.Get("tool_calls").Array() {
				ids = append(ids, call.Get("id").Str)
				elements = append(elements, fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":"7 degrees"}`, call.Get("id").Str))
			}
			return elements, ids
		}},
	"responses": {path: "/v1/responses", field: "input", first: `{"role":"user","content":"Please call tool 3 times, then say what it is like in Oslo."}`,
		more: `"model":"gpt-4o","tools":[{"type":"function","name":"weather","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}]`,
		next: func(o gjson.Result) (elements, ids []string) {
			for _, item := range o.Get("output").Array() {
				elements = append(elements, item.Raw)
				if id := item.Get("call_id").Str; id != "" {
					ids = append(ids, id)
					elements = append(elements, fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":"7 degrees"}`, id))
				}
			}
			return elements, ids
		}},
	"messages": {path: "/v1/messages", field: "messages", first: `{"role":"user","content":"Please call tool 3 times, then say what it is like in Oslo."}`,
		more: `"model":"claude-sonnet-5","max_tokens":500,"tools":[{"name":"weather","input_schema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}]`,
		next: func(o gjson.Result) (elements, ids []string) {
			elements = append(elements, `{"role":"assistant","content":`+o.Get("content").Raw+`}`)
			for _, block := range o.Get("content").Array() {
				if id := block.Get("id").Str; id != "" {
					ids = append(ids, id)
					elements = append(elements, fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"7 degrees"}]}`, id))
				}
			}
			return elements, ids
		}},
}

func (l *loop) body(elements []string, more ...string) string {
	return `{"` + l.field + `":[` + strings.Join(elements, ",") + `],` + l.more + joined(more) + `}`
}

// object is an answer as an object, whatever form it came in.
func (l *loop) object(t *testing.T, r reply) gjson.Result {
	t.Helper()
	if r.status != http.StatusOK {
		t.Fatalf("%d %s", r.status, r.body)
	}
	z, err := answer.Freeze(registry.APIs.ByPath(l.path).Answers, r.header.Get("Content-Type"), []byte(r.body))
	if err != nil {
		t.Fatalf("%v: %s", err, r.body)
	}
	return gjson.Parse(z.Object())
}

// run plays the loop to its end, and returns how each step was answered, the ids of all calls, and the last answer.
func (l *loop) run(t *testing.T, r *rig, more ...string) (how, ids []string, last string) {
	t.Helper()
	said := []string{l.first}
	for len(how) < 10 {
		got := r.ask(t, l.path, l.body(said, more...), version)
		elements, calls := l.next(l.object(t, got))
		how, ids, said = append(how, got.cache()), append(ids, calls...), append(said, elements...)
		if len(calls) == 0 {
			return how, ids, elements[len(elements)-1]
		}
	}
	t.Fatal("the loop does not end")
	return nil, nil, ""
}

func anyModel(o *enginesim.Options) *enginesim.Engine {
	o.Models = []string{enginesim.AnyModel}
	return enginesim.New(*o)
}

// TestToolLoopHits: a loop of tools that is run again is all exact hits, streamed or not, whichever it was before, with ids that no other
// run has had.
func TestToolLoopHits(t *testing.T) {
	for name, l := range loops {
		for _, first := range []string{`"stream":false`, `"stream":true`} {
			t.Run(name+" after "+first, func(t *testing.T) {
				engine := anyModel(&enginesim.Options{})
				r := newRigAt(t, engine, engine, func(o *Options) { o.CacheToolCalls = true })
				how, ids, text := l.run(t, r, first)
				if !slices.Equal(how, []string{"miss", "miss", "miss", "miss"}) || len(ids) != 3 {
					t.Fatalf("first run: %v, ids %v", how, ids)
				}
				for _, stream := range []string{first, `"stream":true`, `"stream":false`} {
					how, again, other := l.run(t, r, stream)
					if !slices.Equal(how, []string{"exact", "exact", "exact", "exact"}) {
						t.Errorf("again with %s: %v", stream, how)
					}
					if gjson.Get(other, "content").Raw != gjson.Get(text, "content").Raw {
						t.Errorf("again with %s: %s, want %s", stream, other, text)
					}
					ids = append(ids, again...)
				}
				if distinct := slices.Compact(slices.Sorted(slices.Values(ids))); len(ids) != 12 || len(distinct) != 12 {
					t.Errorf("%d ids, %d of them distinct: %q", len(ids), len(distinct), ids)
				}
			})
		}
	}
}

// TestToolCallsOff: without the setting no step that calls a tool is kept; the last one is.
func TestToolCallsOff(t *testing.T) {
	l := loops["chat"]
	r := newRig(t)
	l.run(t, r)
	if how, _, _ := l.run(t, r); !slices.Equal(how, []string{"miss", "miss", "miss", "exact"}) {
		t.Errorf("again: %v", how)
	}
}

// witness is a rig whose engine's last request with a body can be read.
func witness(t *testing.T, adjust ...func(engine *enginesim.Engine, o *Options)) (r *rig, last func() string) {
	var mu sync.Mutex
	var got string
	engine := anyModel(&enginesim.Options{OnRequest: func(_ string, _ http.Header, body []byte) {
		mu.Lock()
		defer mu.Unlock()
		if len(body) > 0 { // else it is a question which upstream has an id, of which one may come after the request itself
			got = string(body)
		}
	}})
	r = newRigAt(t, engine, engine, func(o *Options) {
		o.CacheToolCalls = true
		for _, f := range adjust {
			f(engine, o)
		}
	})
	return r, func() string {
		mu.Lock()
		defer mu.Unlock()
		return got
	}
}

// TestOneAnswerTwiceInAConversation: two replays of one answer have different ids, and the upstream gets a conversation that has both, or one
// and the answer itself, with different ids too.
func TestOneAnswerTwiceInAConversation(t *testing.T) {
	for name, l := range loops {
		for _, how := range [][]string{{"exact", "exact"}, {"miss", "exact"}} {
			t.Run(name+" "+strings.Join(how, " "), func(t *testing.T) { testTwice(t, name, &l, how) })
		}
	}
}

// testTwice has the same request answered in each way of how, and sends what came in one conversation.
func testTwice(t *testing.T, name string, l *loop, how []string) {
	r, last := witness(t)
	var original []string
	said := []string{l.first}
	var ids []string
	if how[0] != "miss" {
		original, _ = l.next(l.object(t, r.ask(t, l.path, l.body([]string{l.first}), version)))
	}
	for _, want := range how {
		got := r.ask(t, l.path, l.body([]string{l.first}), version)
		elements, calls := l.next(l.object(t, got))
		if got.cache() != want {
			t.Fatal(got.cache())
		}
		if original == nil {
			original = elements
		}
		said, ids = append(append(said, elements...), l.first), append(ids, calls...)
	}
	if len(ids) != 2 || ids[0] == ids[1] {
		t.Fatalf("ids %q", ids)
	}
	if got := r.ask(t, l.path, l.body(said), version); got.status != http.StatusOK || got.cache() != "miss" {
		t.Fatalf("%d %s: %s", got.status, got.cache(), got.body)
	}
	seen := map[string]int{}
	for _, name := range []string{"tool_call_id", "tool_use_id", "call_id", "id"} {
		for _, e := range gjson.Get(last(), l.field).Array() {
			for _, id := range append(e.Get("tool_calls.#."+name).Array(), append(e.Get("content.#."+name).Array(), e.Get(name))...) {
				if id.Exists() {
					seen[id.Str]++
				}
			}
		}
	}
	for id, n := range seen {
		item := strings.HasPrefix(id, "fc_") || strings.HasPrefix(id, "msg_")
		if item && n != 1 || !item && n != 2 || len(id) > 64 || name == "responses" && strings.Contains(id, "_rp") {
			t.Errorf("the upstream got id %q %d times", id, n)
		}
	}
	if want := map[string]int{"responses": 4}[name]; len(seen) != max(want, 2) {
		t.Errorf("the upstream got ids %v in %s", seen, last())
	}
	if name == "responses" && !strings.Contains(last(), gjson.Get(original[0], "call_id").Raw) {
		t.Errorf("the upstream did not get its own id %s: %s", original[0], last())
	}
}

// TestReplayedPartsAtTheServer: a later request may name parts of a replay where the server has the rest of the conversation. It gets its
// own ids, whether the request is read or not, and on paths below the endpoint.
func TestReplayedPartsAtTheServer(t *testing.T) {
	t.Run("one upstream", func(t *testing.T) { testReplayedParts(t) })
	t.Run("two upstreams", func(t *testing.T) {
		testReplayedParts(t, func(engine *enginesim.Engine, o *Options) { // of which one engine is behind both
			second := httptest.NewServer(engine)
			t.Cleanup(second.Close)
			base, _ := url.Parse(second.URL + "/v1")
			o.Upstreams = []upstream.Target{{Name: "a", Base: o.Upstreams[0].Base}, {Name: "b", Base: base}}
		})
	})
}

func testReplayedParts(t *testing.T, adjust ...func(*enginesim.Engine, *Options)) {
	l := loops["responses"]
	r, last := witness(t, adjust...)
	first := l.body([]string{l.first})
	original := gjson.Parse(r.ask(t, l.path, first).body)
	replay := gjson.Parse(r.ask(t, l.path, first).body)
	item, call := replay.Get("output.0.id").Str, replay.Get("output.0.call_id").Str
	if item == original.Get("output.0.id").Str || call == original.Get("output.0.call_id").Str {
		t.Fatalf("ids %q, %q of a replay", item, call)
	}
	result := fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":"7 degrees"}`, call)
	follow := `{"model":"gpt-4o","previous_response_id":` + replay.Get("id").Raw + `,"input":[` + result + `]}`
	refer := fmt.Sprintf(`{"model":"gpt-4o","input":[{"role":"user","content":"x"},{"type":"item_reference", "id" : %q},{"role":"user","content":"y"}]}`, item)
	for _, tc := range []struct {
		name, path, body, header string
		want                     []string
		cache                    string
	}{
		{"after a previous response", l.path, follow, "X-Reprise-Mode: exact", []string{"output.0.call_id", "id"}, "bypass"},
		{"without the cache", l.path, follow, "X-Reprise-Mode: off", []string{"output.0.call_id", "id"}, "bypass"},
		{"an item", l.path, refer, "X-Reprise-Mode: exact", []string{"output.0.id"}, "miss"},
		{"an item, without the cache", l.path, refer, "X-Reprise-Mode: off", []string{"output.0.id"}, "bypass"},
		{"an item of a request whose tokens are counted", l.path + "/input_tokens", refer, "X-Reprise-Mode: exact", []string{"output.0.id"}, "bypass"},
		{"through another door", "/openai/v1/responses/input_tokens", refer, "X-Reprise-Mode: exact", []string{"output.0.id"}, "bypass"},
	} {
		got := r.ask(t, tc.path, tc.body, tc.header)
		if got.cache() != tc.cache || got.status != http.StatusOK && strings.Contains(tc.body, "previous") {
			t.Errorf("%s: %d %s %s", tc.name, got.status, got.cache(), got.body)
		}
		for _, path := range tc.want {
			if want := original.Get(path).Raw; !strings.Contains(last(), want) {
				t.Errorf("%s: the upstream got %s, want %s", tc.name, last(), want)
			}
		}
	}
}

// TestReferences: what a request refers to counts by the id that the upstream has, whichever replay the client got it from.
func TestReferences(t *testing.T) {
	r, _ := witness(t)
	first := func(prompt string) string { return `{"model":"gpt-4o","input":"` + prompt + `"}` }
	item := func(prompt string) string {
		return gjson.Get(r.ask(t, "/v1/responses", first(prompt)).body, "output.0.id").Str
	}
	refer := func(id string) (cache, body string) {
		got := r.ask(t, "/v1/responses", fmt.Sprintf(`{"model":"gpt-4o","input":[{"role":"user","content":"x"},{"type":"item_reference","id":%q},{"role":"user","content":"y"}]}`, id))
		return got.cache(), got.body
	}
	original, replay, again, other := item("a delta"), item("a delta"), item("a delta"), item("a river")
	if original == replay || replay == again {
		t.Fatalf("ids %q, %q, %q", original, replay, again)
	}
	for _, tc := range []struct{ id, want string }{{original, "miss"}, {replay, "exact"}, {again, "exact"}, {other, "miss"}, {"msg_unknown", "miss"}, {"msg_unknown", "miss"}} {
		if cache, body := refer(tc.id); cache != tc.want {
			t.Errorf("%s: %s, want %s; %s", tc.id, cache, tc.want, body)
		}
	}
}

// TestFlightsOfConversations: a request whose ids are others does not read an answer while it is written, because it may name an id; one with
// the same ids does.
func TestFlightsOfConversations(t *testing.T) {
	history := func(id string) string {
		return `{"model":"gpt-4o",` + weatherTools + `,"messages":[{"role":"user","content":"weather?"},{"role":"assistant","content":null,"tool_calls":[{"id":"` + id +
			`","type":"function","function":{"name":"weather","arguments":"{}"}}]},{"role":"tool","tool_call_id":"` + id + `","content":"7"}]}`
	}
	up := newStage()
	r := newRigAt(t, nil, up)
	answers := make(chan string, 3)
	ask := func(id string) {
		got, err := r.try("/v1/chat/completions", history(id))
		if err != nil {
			t.Error(err)
		}
		answers <- id + " " + got.cache() + " " + got.content(t)
	}
	go ask("call_A")
	within(t, up.arrived, "the first call")
	go ask("call_A")
	r.waiters(t, 2)
	go ask("call_B")
	within(t, up.arrived, "a call for the other ids")
	for range 2 {
		up.script <- func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			w.Write([]byte(`{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"gpt-4o","choices":[{"index":0,"message":{"role":"assistant","content":"7"},"finish_reason":"stop"}]}`))
		}
	}
	var got []string
	for range 3 {
		got = append(got, within(t, answers, "an answer"))
	}
	slices.Sort(got)
	if want := []string{"call_A miss 7", "call_A shared 7", "call_B miss 7"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestToolAnswersThatAreNotKept: an answer is for this conversation alone, or its tools are the upstream's.
func TestToolAnswersThatAreNotKept(t *testing.T) {
	call := func(id, kind, more string) string {
		return `{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"gpt-4o","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"` + id +
			`","type":"` + kind + `","function":{"name":"weather","arguments":"{}"}}]` + more + `},"finish_reason":"tool_calls"}]}`
	}
	text := func(content string) string {
		return `{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"gpt-4o","choices":[{"index":0,"message":{"role":"assistant","content":"` + content + `"},"finish_reason":"stop"}]}`
	}
	history := func(id string) string {
		return `{"model":"gpt-4o",` + weatherTools + `,"messages":[{"role":"user","content":"weather?"},{"role":"assistant","content":null,"tool_calls":[{"id":"` + id +
			`","type":"function","function":{"name":"weather","arguments":"{}"}}]},{"role":"tool","tool_call_id":"` + id + `","content":"7"}]}`
	}
	for _, tc := range []struct {
		name, asked, again, answer, reason string
	}{
		{"a call of the client", chat("weather?", weatherTools), "", call("call_1", "function", ""), ""},
		{"a builtin of the server", chat("weather?", weatherTools), "", call("call_1", "builtin_function", ""), "server-tools"},
		{"an encrypted thought", chat("weather?", weatherTools), "", call("call_1", "function", `,"reasoning_details":[{"type":"reasoning.encrypted","data":"x"}]`), "encrypted-reasoning"},
		{"an answer that names an id", history("call_AAAAAAAAAA"), history("call_BBBBBBBBBB"), text("Call call_AAAAAAAAAA said 7."), "names-ids"},
		{"an answer that names one in an escape", history("call_AAAAAAAAAA"), history("call_BBBBBBBBBB"), text(`Calls:\ncall_AAAAAAAAAA`), "names-ids"},
		{"an answer that names its own call", chat("weather?", weatherTools), "", strings.Replace(call("call_1", "function", ""), `"{}"`, `"{\"after\":\"call_1\"}"`, 1), "names-ids"},
		{"an answer that names none", history("call_AAAAAAAAAA"), history("call_BBBBBBBBBB"), text("It is 7, as call_A said."), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			up := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.Write([]byte(tc.answer))
			})
			r := newRigAt(t, nil, up, func(o *Options) { o.CacheToolCalls = true })
			first := r.ask(t, "/v1/chat/completions", tc.asked)
			if tc.again == "" {
				tc.again = tc.asked
			}
			again, want := r.ask(t, "/v1/chat/completions", tc.again), "exact"
			if tc.reason != "" {
				want = "miss"
				if status := first.header.Get("Cache-Status"); !strings.Contains(status, "not-stored="+tc.reason) {
					t.Errorf("Cache-Status %q, want %s", status, tc.reason)
				}
			}
			if again.cache() != want {
				t.Errorf("again: %s, want %s", again.cache(), want)
			}
		})
	}
}
