package canon_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"reprise/proxy/api"
	"reprise/proxy/canon"
)

// ask is a chat body with one message of the user and more members.
func ask(more string) string {
	return `{"model":"m","messages":[{"role":"user","content":"hi"}]` + more + `}`
}

func input(more string) string { return `{"model":"m","input":"hi"` + more + `}` }

// talk is a chat body with the given messages.
func talk(messages string) string { return `{"model":"m","messages":[` + messages + `]}` }

func items(list string) string { return `{"model":"m","input":[` + list + `]}` }

// pair is two bodies that are one request, or are not.
type pair struct {
	name   string
	family *api.Family
	a, b   string
	same   bool
}

// check compares a hash of both requests.
func (p pair) check(t *testing.T, what string, of func(*canon.Request) canon.Hash) {
	t.Helper()
	if same := of(parse(t, p.family, p.a)) == of(parse(t, p.family, p.b)); same != p.same {
		t.Errorf("%s: same %s: %v, want %v\n%.300s\n%.300s", p.name, what, same, p.same, p.a, p.b)
	}
}

func keyOf(r *canon.Request) canon.Hash { return r.Key }

func scopeOf(r *canon.Request) canon.Hash { return r.Scope }

// TestLiveModels: models that search the web unasked, and names that look a little like theirs.
func TestLiveModels(t *testing.T) {
	for model, live := range map[string]bool{
		"x:online": true, "openai/gpt-4o:online": true, "qwen3-4b:strip_thinking_response=true&enable_web_search=on": true, "sonar": true, "sonar-pro": true, "perplexity/sonar-reasoning-pro": true,
		"llama-3.1-sonar-small-128k-online": true, "gpt-4o-search-preview": true, "gpt-4o-mini-search-preview-2025-03-11": true, "gpt-5-search-api": true,
		"groq/compound": true, "groq/compound-mini": true, "compound-beta": true,
		"gpt-4o": false, "online": false, "sonarqube": false, "sonar/llama-3": false, "compounds": false, "search": false, "x:free": false, "": false,
	} {
		want := map[bool]string{true: "live-web"}[live]
		if got := parse(t, chat, `{"model":"`+model+`","messages":[{"role":"user","content":"hi"}]}`).Uncacheable; got != want {
			t.Errorf("%s: %q, want %q", model, got, want)
		}
	}
}

// TestReasons is the table of requests that are uncacheable, or matched exactly only.
func TestReasons(t *testing.T) {
	const u, a = `{"role":"user","content":"hi"}`, `{"role":"assistant","content":"yes"}`
	for _, c := range []struct {
		family                  *api.Family
		body, uncacheable, only string
	}{
		{chat, ask(``), "", ""},
		{chat, ask(`,"n":1,"store":false,"audio":null,"modalities":["text"],"tools":[{"type":"function"}],"web_search_options":null`), "", ""},
		{chat, ask(`,"n":1.0`), "", ""},
		{chat, ask(`,"n":null`), "", ""},
		{chat, ask(`,"n":2`), "n", ""},
		{chat, ask(`,"n":2e0`), "n", ""},
		{chat, ask(`,"n":"2"`), "n", ""},
		{chat, ask(`,"n":100000000000000000000000000000000000000000000`), "n", ""},
		{comp, `{"model":"m","prompt":"a","n":2}`, "n", ""},
		{comp, `{"model":"m","prompt":"a","best_of":4}`, "", ""},
		{chat, ask(`,"modalities":["text","audio"]`), "audio", ""},
		{chat, ask(`,"audio":{"voice":"x"}`), "audio", ""},
		{chat, ask(`,"store":true`), "stored", ""},
		{chat, ask(`,"store":"true"`), "stored", ""},
		{resp, input(`,"store":true`), "stored", ""},
		{resp, input(`,"store":false`), "", ""},
		{resp, input(``), "", ""},
		{resp, input(`,"background":true`), "background", ""},
		{resp, input(`,"previous_response_id":"r"`), "previous-response", ""},
		{resp, input(`,"previous_response_id":null`), "", ""},
		{resp, input(`,"conversation":"c"`), "conversation", ""},
		{resp, `{"model":"m","prompt":{"id":"p"}}`, "server-state", "no-prompt"},
		{chat, ask(`,"prompt":{"id":"p"}`), "", ""},
		{resp, items(u + `,{"type":"item_reference","id":"i"}`), "", "role"},
		{resp, items(`{"type":"item_reference","id":"i"},` + u), "", ""},
		{chat, ask(`,"web_search_options":{}`), "live-web", ""},
		{chat, ask(`,"enable_search":false`), "", ""},
		{chat, ask(`,"enable_search":true`), "live-web", ""},
		{chat, ask(`,"search_parameters":{"mode":"auto"}`), "live-web", ""},
		{chat, ask(`,"plugins":[{"id":"web"}]`), "live-web", ""},
		{chat, ask(`,"compound_custom":{"tools":{}}`), "live-web", ""},
		{chat, ask(`,"web_search":true`), "live-web", ""},
		{chat, ask(`,"data_sources":[{"type":"azure_search"}]`), "live-tools", ""},
		{chat, ask(`,"web_search":false,"plugins":null`), "", ""},
		{chat, ask(`,"web_search":true,"store":true`), "stored", ""},
		{chat, ask(`,"store":true,"web_search":true`), "stored", ""},
		{chat, `{"model":"x:online","messages":[` + u + `,` + a + `,{"role":"user","content":" "}]}`, "empty-prompt", "no-prompt"},
		{msgs, `{"model":"m","max_tokens":1,"messages":[` + u + `],"web_search":true}`, "unknown-field", ""},
		{chat, ask(`,"tools":[{"type":"function"},{"type":"web_search"}]`), "live-tools", ""},
		{resp, input(`,"tools":[{"type":"custom"}]`), "", ""},
		{resp, input(`,"tools":[{"type":"file_search"}]`), "live-tools", ""},
		{resp, input(`,"tools":[{"type":"mcp"}]`), "live-tools", ""},
		{chat, talk(`{"role":"user","content":" \n\t"}`), "empty-prompt", "no-prompt"},
		{chat, talk(`{"role":"user","content":""}`), "empty-prompt", "no-prompt"},
		{chat, talk(`{"role":"user","content":[{"type":"text","text":" "}]}`), "empty-prompt", "no-prompt"},
		{chat, talk(`{"role":"user"}`), "empty-prompt", "no-prompt"},
		{chat, talk(u + `,` + a + `,{"role":"user","content":null}`), "empty-prompt", "no-prompt"},
		{comp, `{"model":"m","prompt":" "}`, "empty-prompt", "no-prompt"},
		{resp, `{"model":"m","input":""}`, "empty-prompt", "no-prompt"},
		{chat, talk(u + `,` + a), "", "prefill"},
		{chat, talk(u + `,` + a + `,{"role":"tool","tool_call_id":"x","content":"3"}`), "", "tool-result"},
		{chat, talk(u + `,` + a + `,{"role":"function","name":"x","content":"3"}`), "", "tool-result"},
		{chat, talk(u + `,{"role":"critic","content":"3"}`), "", "role"},
		{chat, talk(`{"role":"system","content":"x"}`), "", "no-prompt"},
		{chat, talk(u + `,` + a + `,{"role":"system","content":"x"}`), "", "no-prompt"},
		{chat, talk(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"u"}}]}`), "", "media"},
		{resp, items(u + `,{"type":"function_call","call_id":"c"},{"type":"function_call_output","call_id":"c","output":"3"}`), "", "tool-result"},
		{resp, items(u + `,{"type":"function_call","call_id":"c"}`), "", "prefill"},
		{resp, items(``), "", "no-prompt"},
		{resp, `{"model":"m"}`, "", "no-prompt"},
		{comp, `{"model":"m","prompt":["a","b"]}`, "", "batch"},
		{comp, `{"model":"m","prompt":[1,2]}`, "", "tokens"},
		{comp, `{"model":"m","prompt":[[1],[2]]}`, "", "tokens"},
		{comp, `{"model":"m"}`, "", "no-prompt"},
		{embs, `{"model":"m","input":"a"}`, "", "embeddings"},
	} {
		r := parse(t, c.family, c.body)
		if r.Uncacheable != c.uncacheable || r.ExactOnly != c.only {
			t.Errorf("%s %s\ngot  uncacheable %q, exact only %q\nwant %q, %q", c.family.Name, c.body, r.Uncacheable, r.ExactOnly, c.uncacheable, c.only)
		}
		if (r.ExactOnly != "") != (r.Prompt == "") {
			t.Errorf("%s: prompt %q beside exact only %q", c.body, r.Prompt, r.ExactOnly)
		}
	}
}

// TestSpellings is the table of bodies that are one request, or are not.
func TestSpellings(t *testing.T) {
	const u = `{"role":"user","content":"hi"}`
	for _, p := range []pair{
		{"stream", chat, ask(``), ask(`,"stream":true,"stream_options":{"include_usage":true}`), true},
		{"prompt cache hints", chat, ask(``), ask(`,"prompt_cache_key":"k","prompt_cache_retention":"24h","prompt_cache_options":{}`), true},
		{"cache directives", chat, ask(``), ask(`,"cache":{"no-cache":true,"ttl":7}`), true},
		{"cache namespace", chat, ask(``), ask(`,"cache":{"namespace":"x"}`), false},
		{"cache of the upstream's own", chat, ask(``), ask(`,"cache":{"type":"exact_match","ttl":7}`), false},
		{"caches of the upstream's own", chat, ask(`,"cache":{"type":"a"}`), ask(`,"cache":{"type":"b"}`), false},
		{"cache of another kind", chat, ask(``), ask(`,"cache":"x"`), false},
		{"null of an unknown field is not absent", chat, ask(``), ask(`,"x":null`), false},
		{"null is absent where documented", chat, ask(``), ask(`,"seed":null`), true},
		{"unknown field", chat, ask(``), ask(`,"x":1`), false},
		{"cache salt", chat, ask(`,"cache_salt":"a"`), ask(`,"cache_salt":"b"`), false},
		{"string and its one part", chat, talk(u), talk(`{"role":"user","content":[{"type":"text","text":"hi"}]}`), true},
		{"one part with more to it", chat, talk(u), talk(`{"role":"user","content":[{"type":"text","text":"hi","cache_control":{}}]}`), false},
		{"two parts", chat, talk(`{"role":"user","content":"a\nb"}`), talk(`{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`), false},
		{"composed and decomposed", chat, talk(`{"role":"user","content":"\u00e9"}`), talk(`{"role":"user","content":"e\u0301"}`), false},
		{"content and name", chat, talk(`{"role":"user","content":"name"}`), talk(`{"role":"user","name":"content"}`), false},
		{"messages apart", chat, talk(u + `,` + u), talk(`{"role":"user","content":"hi\nhi"}`), false},
		{"large integers", chat, ask(`,"seed":9007199254740993`), ask(`,"seed":9007199254740992`), false},
		{"input string and message", resp, input(``), items(u), true},
		{"message type", resp, items(u), items(`{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}`), true},
		{"id of a reply", resp, items(u + `,{"type":"message","id":"1","role":"assistant","content":"x"},` + u), items(u + `,{"type":"message","id":"2","role":"assistant","content":"x"},` + u), true},
		{"instructions", resp, input(``), input(`,"instructions":"x"`), false},
		{"prompt string and list of one", comp, `{"model":"m","prompt":"a"}`, `{"model":"m","prompt":["a"]}`, true},
		{"prompt and its bytes as tokens", comp, `{"model":"m","prompt":[1]}`, `{"model":"m","prompt":[[1]]}`, false},
		{"embeddings input", embs, `{"model":"m","input":"a"}`, `{"model":"m","input":["a"]}`, true},
	} {
		p.check(t, "key", keyOf)
	}
}

func TestIdentityCounts(t *testing.T) {
	seen := map[canon.Hash]bool{}
	for _, id := range []canon.Identity{
		{}, {Tenant: "a"}, {Namespace: "a"}, {Path: "a"}, {Query: "a"}, {Headers: []string{"a"}},
		{Headers: []string{"a", ""}}, {Tenant: "a", Namespace: "b"}, {Tenant: "ab"}, {Tenant: strings.Repeat("a", 5000)},
	} {
		r, err := chat.Parse([]byte(ask("")), id)
		if err != nil {
			t.Fatal(err)
		}
		if seen[r.Key] || seen[r.Scope] {
			t.Errorf("%.80v shares a key or scope", id)
		}
		seen[r.Key], seen[r.Scope] = true, true
	}
	if a, b := parse(t, resp, input("")), parse(t, embs, input("")); a.Key == b.Key || a.Scope == b.Scope {
		t.Error("two families share a key or scope")
	}
}

// TestScope is the table of pairs that may, or may not, share an answer by meaning.
func TestScope(t *testing.T) {
	const img = `{"type":"image_url","image_url":{"url":"u"}}`
	text := func(s string) string { return `{"type":"text","text":"` + s + `"}` }
	user := func(content string) string { return `{"role":"user","content":` + content + `}` }
	for _, p := range []pair{
		{"other words", chat, talk(user(`"a"`)), talk(user(`"b"`)), true},
		{"parts or string", chat, talk(user(`"a"`)), talk(user(`[` + text("b") + `,` + text("c") + `]`)), true},
		{"earlier turns", chat, talk(user(`"a"`)), talk(user(`"x"`) + `,{"role":"assistant","content":"y"},` + user(`"a"`)), true},
		{"system prompt", chat, talk(user(`"a"`)), talk(`{"role":"system","content":"s"},` + user(`"a"`)), false},
		{"greeting", chat, talk(user(`"a"`)), talk(`{"role":"assistant","content":"s"},` + user(`"a"`)), false},
		{"system message among the last", chat, talk(user(`"a"`)), talk(user(`"a"`) + `,{"role":"developer","content":"s"}`), false},
		{"same image", chat, talk(user(`[` + img + `,` + text("a") + `]`)), talk(user(`[` + img + `,` + text("b") + `]`)), true},
		{"image or none", chat, talk(user(`[` + text("a") + `]`)), talk(user(`[` + img + `,` + text("a") + `]`)), false},
		{"order of image and text", chat, talk(user(`[` + text("a") + `,` + img + `]`)), talk(user(`[` + img + `,` + text("a") + `]`)), false},
		{"name", chat, talk(user(`"a"`)), talk(`{"role":"user","name":"n","content":"a"}`), false},
		{"name of the other message", chat, talk(user(`"a"`) + `,{"role":"user","name":"n","content":"a"}`), talk(`{"role":"user","name":"n","content":"a"},` + user(`"a"`)), false},
		{"part or member", chat, talk(user(`["a",{"b":1},` + text("x") + `]`)), talk(`{"role":"user","a":{"b":1},"content":"x"}`), false},
		{"part or member of a part", chat, talk(user(`[` + text("x") + `,"a",{"b":1}]`)), talk(user(`[{"type":"text","text":"x","a":{"b":1}}]`)), false},
		{"temperature", chat, ask(``), ask(`,"temperature":0`), false},
		{"model", chat, ask(``), strings.Replace(ask(``), `"m"`, `"m2"`, 1), false},
	} {
		p.check(t, "scope", scopeOf)
	}
}

func TestAnswerText(t *testing.T) {
	const u = `{"role":"user","content":"hi"},`
	for _, c := range []struct {
		name   string
		family *api.Family
		answer string
		want   string // "" for none
	}{
		{"string", chat, `{"role":"assistant","content":"a\u0062"}`, "ab"},
		{"part", chat, `{"role":"assistant","content":[{"type":"text","text":"ab"}]}`, "ab"},
		{"blank members", chat, `{"role":"assistant","content":"ab","refusal":null,"annotations":[],"tool_calls":null}`, "ab"},
		{"tool call", chat, `{"role":"assistant","content":"ab","tool_calls":[{"id":"x"}]}`, ""},
		{"two messages", chat, `{"role":"assistant","content":"a"},{"role":"assistant","content":"b"}`, ""},
		{"not the assistant's", chat, `{"role":"tool","content":"a"}`, ""},
		{"output message", resp, `{"type":"message","id":"i","status":"completed","role":"assistant","content":[{"type":"output_text","text":"ab","annotations":[]}]}`, "ab"},
		{"cut output", resp, `{"type":"message","id":"i","status":"incomplete","role":"assistant","content":[{"type":"output_text","text":"ab"}]}`, ""},
		{"thoughts", resp, `{"type":"reasoning","id":"r"},{"role":"assistant","content":"ab"}`, ""},
		{"annotated", resp, `{"role":"assistant","content":[{"type":"output_text","text":"ab","annotations":[{}]}]}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			list := u + c.answer + `,{"role":"user","content":"more"}`
			body := talk(list)
			if c.family == resp {
				body = items(list)
			}
			r := parse(t, c.family, body)
			var want canon.Hash
			if c.want != "" {
				want = canon.AnswerText([]byte(c.want))
			}
			if len(r.Turns) != 1 || r.Turns[0].AnswerText != want {
				t.Errorf("turns %v, want one with %v", r.Turns, want)
			}
		})
	}
}

func TestDirective(t *testing.T) {
	for _, c := range []struct {
		cache string
		want  canon.Directive
	}{
		{`{}`, canon.Directive{}},
		{`{"ttl":90,"s-maxage":1.5,"no-cache":true,"no-store":true,"use-cache":true,"namespace":"n"}`,
			canon.Directive{TTL: 90 * time.Second, MaxAge: 1500 * time.Millisecond, NoCache: true, NoStore: true, Namespace: "n"}},
		{`{"ttl":null,"namespace":null,"else":1}`, canon.Directive{}},
		{`{"ttl":0}`, canon.Directive{NoStore: true}},
		{`{"s-maxage":0,"no-cache":false}`, canon.Directive{NoCache: true}},
		{`{"ttl":1e300}`, canon.Directive{TTL: 1e9 * time.Second}},
	} {
		if got := parse(t, chat, ask(`,"cache":`+c.cache)).Directive; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.cache, got, c.want)
		}
	}
}

// TestOwnCache: a cache object is for the proxy alone where all of it is directives.
func TestOwnCache(t *testing.T) {
	for members, own := range map[string]bool{
		``: false, `,"cache":{}`: true, `,"cache":{"ttl":1,"s-maxage":1,"no-cache":true,"no-store":true,"use-cache":false,"namespace":"n"}`: true,
		`,"cache":{"ttl":null}`: true, `,"cache":{"ttl":1,"type":"x"}`: false, `,"cache":{"type":null}`: false, `,"cache":true`: false, `,"cache":null`: false,
	} {
		if got := parse(t, chat, ask(members)).OwnCache; got != own {
			t.Errorf("%s: %v", members, got)
		}
	}
}

func TestStreamOptions(t *testing.T) {
	r := parse(t, chat, ask(`,"stream":true,"stream_options":{"include_usage":true}`))
	if !r.Stream || !r.IncludeUsage || r.Model != "m" {
		t.Errorf("stream %v, usage %v, model %q", r.Stream, r.IncludeUsage, r.Model)
	}
	if r := parse(t, chat, ask(`,"stream":null,"stream_options":null`)); r.Stream || r.IncludeUsage {
		t.Error("null is read as true")
	}
}
