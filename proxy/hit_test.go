package proxy

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"reprise/proxy/api/registry"
)

const capital = "What is the capital of France?"

// streamedText is the text of a stream of any endpoint.
func streamedText(body string) string {
	var b strings.Builder
	for line := range strings.Lines(body) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		ev := gjson.Parse(data)
		b.WriteString(ev.Get("choices.0.delta.content").String())
		b.WriteString(ev.Get("choices.0.text").String())
		if ev.Get("type").String() == "response.output_text.delta" {
			b.WriteString(ev.Get("delta").String())
		}
		if ev.Get("type").String() == "content_block_delta" {
			b.WriteString(ev.Get("delta.text").String())
		}
	}
	return b.String()
}

// TestUsageOnReplay: a client sees the usage of a stream if it asked for it, and never otherwise; who asked first makes no
// difference.
func TestUsageOnReplay(t *testing.T) {
	with, without := chat(capital, `"stream":true`, `"stream_options":{"include_usage":true}`), chat(capital, `"stream":true`)
	for _, order := range [][]string{{with, without, with}, {without, with, without}} {
		r := newRig(t)
		var usages []string
		for i, body := range order {
			got := r.ask(t, "/v1/chat/completions", body)
			if shown := strings.Contains(got.body, `"usage"`); shown != (body == with) {
				t.Errorf("call %d: usage shown %v, asked for %v: %s", i, shown, body == with, got.body)
			}
			if body == with {
				lines := strings.Split(strings.TrimSpace(got.body), "\n\n")
				usages = append(usages, gjson.Get(strings.TrimPrefix(lines[len(lines)-2], "data: "), "usage.total_tokens").String())
			}
		}
		for _, u := range usages {
			if u == "" || u == "0" || u != usages[0] {
				t.Errorf("usages %v", usages)
			}
		}
	}
}

func TestStatusOfHitAndMiss(t *testing.T) {
	r := newRig(t)
	first, second := r.ask(t, "/v1/chat/completions", chat(capital)), r.ask(t, "/v1/chat/completions", chat(capital))
	if got, want := first.header.Get("Cache-Status"), `reprise; fwd=uri-miss; stored; detail="why=new"`; got != want {
		t.Errorf("miss: Cache-Status %q, want %q", got, want)
	}
	if got := second.header.Get("Cache-Status"); !strings.HasPrefix(got, "reprise; hit; ttl=863") {
		t.Errorf("hit: Cache-Status %q", got)
	}
	if first.header.Get("X-Reprise-Entry") == "" || first.header.Get("X-Reprise-Entry") != second.header.Get("X-Reprise-Entry") {
		t.Errorf("entries %q and %q", first.header.Get("X-Reprise-Entry"), second.header.Get("X-Reprise-Entry"))
	}
	if second.header.Get("Age") != "0" {
		t.Errorf("Age %q", second.header.Get("Age"))
	}
}

// TestParaphraseBecomesExact: the second time, a paraphrase is found by its alias key.
func TestParaphraseBecomesExact(t *testing.T) {
	r := newRig(t)
	first := r.ask(t, "/v1/chat/completions", chat(capital))
	similar := r.ask(t, "/v1/chat/completions", chat("what is the capital of france"))
	again := r.ask(t, "/v1/chat/completions", chat("what is the capital of france"))
	if similar.cache() != "semantic" || again.cache() != "exact" || !strings.Contains(again.header.Get("Cache-Status"), `detail="alias"`) {
		t.Fatalf("X-Cache %s, %s: %s", similar.cache(), again.cache(), again.header.Get("Cache-Status"))
	}
	if strict := r.ask(t, "/v1/chat/completions", chat("what is the capital of france"), "X-Reprise-Mode: exact"); strict.cache() != "miss" {
		t.Errorf("an alias where only the very words count: %s", strict.cache())
	}
	if similar.content(t) != first.content(t) || again.content(t) != first.content(t) {
		t.Error("the answers differ")
	}
	if !strings.Contains(similar.header.Get("Cache-Status"), "topic=") {
		t.Errorf("Cache-Status %q names no topic", similar.header.Get("Cache-Status"))
	}
}

// turns is a chat body with the messages given, the user's first and then in turn.
func turns(messages ...string) string {
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	var ms []message
	for i, m := range messages {
		ms = append(ms, message{[]string{"user", "assistant"}[i%2], m})
	}
	b, _ := json.Marshal(map[string]any{"model": "gpt-4o", "messages": ms})
	return string(b)
}

// TestEquivalentChains: two conversations are equivalent when each turn was answered by the same entry, whatever words
// led to it; the same last question after anything else is another question.
func TestEquivalentChains(t *testing.T) {
	r := newRig(t)
	u1, v1, u2 := "Tell me about the city of Paris, please", "tell me about the city of paris please", "How many people live there?"
	a1 := r.ask(t, "/v1/chat/completions", turns(u1)).content(t)
	if got := r.ask(t, "/v1/chat/completions", turns(v1)); got.cache() != "semantic" || got.content(t) != a1 {
		t.Fatalf("paraphrase: %s", got.cache())
	}
	first := r.ask(t, "/v1/chat/completions", turns(u1, a1, u2))
	if first.cache() != "miss" {
		t.Fatalf("second turn: %s", first.cache())
	}
	if got := r.ask(t, "/v1/chat/completions", turns(v1, a1, u2)); got.cache() != "semantic" || got.content(t) != first.content(t) {
		t.Errorf("an equivalent conversation: %s, want semantic", got.cache())
	}
	for name, body := range map[string]string{
		"another answer":    turns(u1, a1+" No.", u2),
		"another question":  turns("Tell me about the city of Oslo, please", a1, u2),
		"no earlier turns":  turns(u2),
		"one more turn":     turns(u1, a1, "Thanks", "You are welcome", u2),
		"a system message":  strings.Replace(turns(u1, a1, u2), `"messages":[`, `"messages":[{"role":"system","content":"Be brief."},`, 1),
		"other temperature": strings.Replace(turns(u1, a1, u2), `"model"`, `"temperature":0.1,"model"`, 1),
		"another model":     strings.Replace(turns(u1, a1, u2), "gpt-4o", "gpt-4o-mini", 1),
	} {
		if got := r.ask(t, "/v1/chat/completions", body); got.cache() != "miss" {
			t.Errorf("%s: %s, want miss", name, got.cache())
		}
	}
	e, ok := r.store.Get(entryOf(t, first))
	if !ok || e.Parent == 0 {
		t.Errorf("the second turn does not depend on the first: %+v", e)
	}
	// An answer that did not come from the cache: the words of its question count.
	r.ask(t, "/v1/chat/completions", turns(v1, "Somebody else's words.", u2))
	if got := r.ask(t, "/v1/chat/completions", turns(u1, "Somebody else's words.", u2)); got.cache() != "miss" {
		t.Errorf("other words to a foreign answer: %s, want miss", got.cache())
	}
}

// TestUpstreamsOwnTime: the time saved is the upstream's own figure, where that is more than the time measured.
func TestUpstreamsOwnTime(t *testing.T) {
	r := newRigAt(t, nil, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Openai-Processing-Ms", "90000")
		instantUpstream(w, q)
	}))
	for range 3 {
		r.ask(t, "/v1/chat/completions", chat(capital))
	}
	if got := r.counted(t, 3); got.UpstreamSaved != 3*time.Minute || got.TokensSaved != 220 {
		t.Errorf("saved %v and %d tokens", got.UpstreamSaved, got.TokensSaved)
	}
}

// TestUpstreamKey: the upstream's key replaces all credentials of the client, on the cached path and on the pass-through.
func TestUpstreamKey(t *testing.T) {
	var mu sync.Mutex
	var seen []http.Header
	r := newRigAt(t, nil, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		mu.Lock()
		seen = append(seen, q.Header)
		mu.Unlock()
		instantUpstream(w, q)
	}), func(o *Options) { o.UpstreamKey = "sk-upstream" })
	for _, path := range []string{"/v1/chat/completions", "/v1/moderations"} {
		r.ask(t, path, chat(capital), "Api-Key: mine", "X-Reprise-Namespace: n", "X-Title: kept", "X-Other: dropped")
	}
	for _, h := range seen {
		if h.Get("Authorization") != "Bearer sk-upstream" || h.Get("Api-Key") != "" || h.Get("X-Reprise-Namespace") != "" || h.Get("X-Title") != "kept" || h.Get("X-Other") != "" {
			t.Errorf("the upstream saw %v", h)
		}
	}
	if len(seen) != 2 {
		t.Errorf("%d upstream calls", len(seen))
	}
}

// TestBytesReachTheUpstream: unknown fields arrive as they were written.
func TestBytesReachTheUpstream(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	r := newRigAt(t, nil, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		b, _ := io.ReadAll(q.Body)
		mu.Lock()
		seen = append(seen, q.Method+" "+q.URL.RequestURI()+" "+q.Header.Get("Content-Type")+" "+string(b))
		mu.Unlock()
		instantUpstream(w, q)
	}))
	odd := `{ "model":"m",  "x_unknown":{"deep":[1.0,2e0,"\u00e9"]},"top_k":5,"messages":[{"role":"user","content":"a\u0062c"}] }`
	compact := `{"model":"m","x_unknown":{"deep":[1.0,2e0,"\u00e9"]},"top_k":5,"messages":[{"role":"user","content":"a\u0062c"}]}`
	r.ask(t, "/v1/chat/completions", odd)
	r.ask(t, "/v1/chat/completions", strings.Replace(odd, "{ ", `{"n":2,`, 1))
	r.ask(t, "/v1/chat/completions", strings.Replace(odd, "{ ", `{"c\u0061che":{"no-cache":true,"ttl":1} ,`, 1))
	r.ask(t, "/v1/chat/completions", strings.Replace(odd, "{ ", `{"n":2,"cache":{},`, 1))
	r.ask(t, "/v1/chat/completions", strings.Replace(odd, "{ ", `{"cache":{"type":"theirs","no-store":true},`, 1))
	r.ask(t, "/v1/audio/speech?x=%2F&y", "--raw\x00bytes--", "Content-Type: multipart/form-data")
	req, _ := http.NewRequest("DELETE", r.api.URL+"/v1/files/a%2Fb", nil)
	resp, err := r.api.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	want := []string{
		"POST /v1/chat/completions application/json " + odd,
		"POST /v1/chat/completions application/json " + strings.Replace(odd, "{ ", `{"n":2,`, 1),
		"POST /v1/chat/completions application/json " + compact, // without the directives, and white space between members
		"POST /v1/chat/completions application/json " + strings.Replace(compact, "{", `{"n":2,`, 1),
		"POST /v1/chat/completions application/json " + strings.Replace(odd, "{ ", `{"cache":{"type":"theirs","no-store":true},`, 1),
		"POST /v1/audio/speech?x=%2F&y multipart/form-data --raw\x00bytes--",
		"DELETE /v1/files/a%2Fb  ",
	}
	for i := range want {
		if i >= len(seen) || seen[i] != want[i] {
			t.Fatalf("the upstream saw\n%q, want\n%q", seen, want)
		}
	}
}

// TestNotCacheable: requests that must not be cached pass through, with the reason.
func TestNotCacheable(t *testing.T) {
	r := newRig(t)
	for _, tc := range []struct{ path, body, reason string }{
		{"/v1/chat/completions", chat(capital, `"n":2`), "n"},
		{"/v1/chat/completions", chat(capital, `"modalities":["text","audio"]`), "audio"},
		{"/v1/chat/completions", chat(capital, `"store":true`), "stored"},
		{"/v1/responses", `{"model":"gpt-4o","input":"hi there","store":true}`, "stored"},
		{"/v1/responses", `{"model":"gpt-4o","input":"hi there","background":true}`, "background"},
		{"/v1/responses", `{"model":"gpt-4o","input":"hi there","previous_response_id":"resp_1"}`, "previous-response"},
		{"/v1/chat/completions", chat(" \n "), "empty-prompt"},
	} {
		for range 2 {
			got := r.ask(t, tc.path, tc.body)
			if got.cache() != "bypass" || got.header.Get("Cache-Status") != `reprise; fwd=bypass; detail="`+tc.reason+`"` {
				t.Errorf("%s: %s, %s", tc.body, got.cache(), got.header.Get("Cache-Status"))
			}
		}
	}
	if st := r.counted(t, 14); st.Stored != 0 || st.Bypass != 14 {
		t.Errorf("stats %+v", st)
	}
}

func TestToolResultIsExactOnly(t *testing.T) {
	r := newRig(t)
	body := func(result string) string {
		return `{"model":"gpt-4o","messages":[{"role":"user","content":"weather?"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"w","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"` + result + `"}]}`
	}
	first, again, other := r.ask(t, "/v1/chat/completions", body("Sunny.")), r.ask(t, "/v1/chat/completions", body("Sunny.")), r.ask(t, "/v1/chat/completions", body("sunny"))
	if first.cache() != "miss" || again.cache() != "exact" || other.cache() != "miss" {
		t.Errorf("X-Cache %s, %s, %s", first.cache(), again.cache(), other.cache())
	}
	if !strings.Contains(other.header.Get("Cache-Status"), "exact-only=tool-result") {
		t.Errorf("Cache-Status %q", other.header.Get("Cache-Status"))
	}
}

// TestReplayedResponseCanBeRetrieved: a path under /v1/responses that names a replay becomes that of the upstream's own response.
func TestReplayedResponseCanBeRetrieved(t *testing.T) {
	const nonce = "00112233445566778899aabb"
	for path, want := range map[string]string{
		"/v1/responses/resp_rp" + nonce + "_1":             "/v1/responses/resp_1",
		"/v1/responses/resp_rp" + nonce + "_1/input_items": "/v1/responses/resp_1/input_items",
		"/v1/responses/resp_1/input_items":                 "/v1/responses/resp_1/input_items",
		"/v1/responses":                                    "/v1/responses",
		"/openai/responses/resp_rp" + nonce + "_1":         "/openai/responses/resp_1",
		"/v1/files/resp_rp" + nonce + "_1":                 "/v1/files/resp_rp" + nonce + "_1",
	} {
		if got := registry.APIs.OriginalURL(&url.URL{Path: path}).Path; got != want {
			t.Errorf("%s becomes %s, want %s", path, got, want)
		}
	}
}
