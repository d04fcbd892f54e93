package dialect

import (
	"bytes"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

// everything is an intent with every wish.
var everything = Intent{StreamUsage: true, Affinity: "p1-key", Conversation: "c1-conv", Salt: "s1-salt", Retain: RetainLong}

// hostile are bodies that readers of JSON disagree about, or that are large or deep.
func hostile() []string {
	deep := strings.Repeat("[", 100_000)
	return []string{
		`{"prompt_cache_key":"a","prompt_cache_key":"b"}`, `{"prompt\u005fcache_key":"a"}`, `{"prompt_cache_key":"a","prompt\u005fcache_key":"b"}`,
		`{"priority":1,"priority":2,"model":"m"}`, `{"p\u0072iority":1}`, `{"model":"m","priority":1}`, `{"priority":1,"kv_transfer_params":{}}`,
		`{"kv_transfer_params":{"a":[1,{}]},"model":"m","priority":1,"x":2,"id_slot":3}`, `{"nvext":{"backend_instance_id":1}}`,
		`{"nvext":{"agent_hints":{"priority":1,"osl":2},"x":1},"priority":0}`, `{"nvext":{"agent_hints":5}}`, `{"nvext":[{"backend_instance_id":1}]}`,
		`{} x`, `{}{}`, `{"a":1}]`, `{"a":1,}`, `{"a":1 "b":2}`, `{"a"}`, `{"a":}`, `{`, `}`, ``, ` `, `null`, `[]`, `"x"`, `1`, `{"a":"`, `{"a\":1}`, `{"a":"\\"}`,
		`{"a":"\\\""}`, `{"stream_options":5}`, `{"stream_options":[]}`, `{"stream_options":{"include_usage":false}}`, `{"stream_options":{ }}`,
		`{"stream_options":{"include\u005fusage":false}}`, "\xef\xbb\xbf{\"priority\":1}", "{\"a\":\"\xff\"}", "{\"a\":1}\x00", `{"a":NaN,"priority":Infinity}`,
		`{"a":` + deep + strings.Repeat("]", 100_000) + `}`, `{"a":` + deep, `{"messages":` + deep, `{"system":` + deep, `{"messages":[{"role":"system","content":` + deep,
		`{"messages":[{"role":"system","content":"` + strings.Repeat("s", 20_000) + `"}]}`, `{"system":"` + strings.Repeat("s", 20_000) + `","messages":[]}`,
		`{"tools":[{"name":"` + strings.Repeat("s", 20_000) + `"}],"messages":[]}`, `{"tools":[{"name":"` + strings.Repeat("s", 20_000) + `"},5]}`,
		`{"system":[{"type":"text","text":"` + strings.Repeat("s", 20_000) + `"},{"type":"text","text":""}]}`, `{"input":"` + strings.Repeat("s", 20_000) + `"}`,
		`{"a":"` + strings.Repeat(`\"`, 10_000) + `"}`, `{"a":"` + strings.Repeat(`\\`, 10_000) + `"}`, `{"` + strings.Repeat("a", 100_000) + `":1}`,
	}
}

// FuzzEdit: what a dialect makes of an object is an object with the same members, except for those that it reports, and the same text
// where nothing was changed; of any other body it makes nothing.
func FuzzEdit(f *testing.F) {
	for _, body := range hostile() {
		if len(body) < 50_000 {
			f.Add([]byte(body), uint8(0))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, where uint8) {
		paths := []string{"/v1/chat/completions", "/v1/messages", "/v1/responses", "/v1/completions", "/v1/x"}
		for _, d := range dialects {
			for _, model := range []string{"gpt-5.6", "gpt-5", "claude-opus-5"} {
				checkObject(t, d, Request{Path: paths[int(where)%len(paths)], Model: model, Header: http.Header{}, Body: body, SessionKey: "x-s"})
			}
		}
	})
}

func checkObject(t *testing.T, d Dialect, r Request) {
	t.Helper()
	before := bytes.Clone(r.Body)
	e := d.Edit(r, everything, none)
	if !bytes.Equal(before, r.Body) {
		t.Fatalf("%s changed the caller's body", d.Name())
	}
	object := map[string]json.RawMessage{}
	if !json.Valid(r.Body) || json.Unmarshal(r.Body, &object) != nil || object == nil {
		return // an upstream refuses it
	}
	edited := map[string]json.RawMessage{}
	if !json.Valid(e.Body) || json.Unmarshal(e.Body, &edited) != nil {
		t.Fatalf("%s made of %q the invalid %q", d.Name(), r.Body, e.Body)
	}
	ours := map[string]bool{"system": true, "messages": true, "input": true, "tools": true, "stream_options": true}
	for _, field := range append(e.Added, e.Removed...) {
		name, _, _ := strings.Cut(string(field), ".")
		ours[name] = true
	}
	for name := range ours {
		delete(object, name)
		delete(edited, name)
	}
	if !reflect.DeepEqual(object, edited) {
		t.Fatalf("%s made of %q %q", d.Name(), r.Body, e.Body)
	}
}

// TestHostileBodies: each dialect keeps the rules above, and takes no more time than a body of its size does.
func TestHostileBodies(t *testing.T) {
	for _, body := range hostile() {
		for _, d := range dialects {
			for _, path := range []string{"/v1/chat/completions", "/v1/messages"} {
				checkObject(t, d, Request{Path: path, Model: "claude-opus-5", Header: http.Header{}, Body: []byte(body)})
			}
		}
	}
}

// TestEdits: single edits, byte by byte.
func TestEdits(t *testing.T) {
	system := strings.Repeat("s", 20_000)
	for _, tc := range []struct{ dialect, model, path, body, want string }{
		{"openai", "gpt-4o", "chat/completions", `{"a":1}`, `{"a":1,"prompt_cache_key":"p1-key"}`},
		{"openai", "gpt-4o", "chat/completions", ` { } `, ` { "prompt_cache_key":"p1-key"} `},
		{"openai", "gpt-4o", "chat/completions", `{"a":1,"a":2}`, `{"a":1,"a":2,"prompt_cache_key":"p1-key"}`},
		{"openai", "gpt-4o", "chat/completions", `{"prompt_cache_key":null}`, ``},
		{"openai", "gpt-4o", "chat/completions", `{"prompt\u005fcache_key":"x"}`, ``},
		{"openai", "gpt-4o", "chat/completions", `{"cache_salt":1,"cache_salt":2}`, ``},
		{"openai", "gpt-4o", "chat/completions", `{"a":1} x`, ``},
		{"openai", "gpt-4o", "chat/completions", `[1]`, ``},
		{"openai", "gpt-4o", "embeddings", `{"a":1}`, ``},
		{"openai", "gpt-4", "chat/completions", `{"a":1}`, ``},
		{"openai", "gpt-4o-mini-2024-07-18", "responses", `{"a":1}`, `{"a":1,"prompt_cache_key":"p1-key"}`},
		{"openai", "gpt-5", "chat/completions", `{"a":1}`, `{"a":1,"prompt_cache_key":"p1-key","prompt_cache_retention":"24h"}`},
		{"openai", "gpt-5-2025-08-07", "chat/completions", `{"prompt_cache_retention":"in_memory"}`, `{"prompt_cache_retention":"in_memory","prompt_cache_key":"p1-key"}`},
		{"openai", "ft:gpt-4.1:org::id", "chat/completions", `{"a":1}`, `{"a":1,"prompt_cache_key":"p1-key","prompt_cache_retention":"24h"}`},
		{"openai", "gpt-5.6", "chat/completions", `{"messages":[{"role":"system","content":"` + system + `"}]}`, `{"messages":[{"role":"system","content":[{"type":"text","text":"` +
			system + `","prompt_cache_breakpoint":{"mode":"explicit"}}]}],"prompt_cache_key":"p1-key"}`},
		{"openai", "gpt-5.6", "chat/completions", `{"messages":[{"role":"system","content":"short"}]}`, `{"messages":[{"role":"system","content":"short"}],"prompt_cache_key":"p1-key"}`},
		{"anthropic", "claude-opus-5", "messages", `{"system":[{"type":"text","text":"` + system + `"}]}`,
			`{"system":[{"cache_control":{"type":"ephemeral","ttl":"1h"},"type":"text","text":"` + system + `"}]}`},
		{"anthropic", "claude-opus-5", "messages", `{"system":"` + system + `","cache_control":{"type":"ephemeral"}}`, ``},
		{"anthropic", "claude-opus-5", "messages", `{"tools":[{"name":"` + system + `"}]}`, `{"tools":[{"cache_control":{"type":"ephemeral","ttl":"1h"},"name":"` + system + `"}]}`},
		{"anthropic", "claude-opus-5", "chat/completions", `{"system":"` + system + `"}`, ``},
		{"anthropic", "claude-9", "messages", `{"system":"` + system + `"}`, ``},
		{"vllm", "m", "chat/completions", `{"priority":1,"a":1}`, `{"a":1,"cache_salt":"s1-salt"}`},
		{"vllm", "m", "chat/completions", `{"priority":1,"kv_transfer_params":{},"a":1,"bootstrap_host":"h"}`, `{"a":1,"cache_salt":"s1-salt"}`},
		{"vllm", "m", "chat/completions", `{"priority":1}`, `{"cache_salt":"s1-salt"}`},
		{"vllm", "m", "embeddings", `{"p\u0072iority":1,"priority":2,"a":1}`, `{"a":1}`},
		{"vllm", "m", "embeddings", `{"vllm_xargs":{"kv_transfer_params":{},"a":1}}`, `{"vllm_xargs":{"a":1}}`},
		{"vllm", "m", "embeddings", "\xef\xbb\xbf" + `{"a":1,"priority":2}`, "\xef\xbb\xbf" + `{"a":1}`},
		{"dynamo", "m", "embeddings", `{"nvext":{"agent_hints":{"osl":1,"priority":2},"decode_worker_id":1}}`, `{"nvext":{"agent_hints":{"osl":1}}}`},
		{"llamacpp", "m", "chat/completions", `{"a":1, "id_slot":3}`, `{"a":1}`},
		{"xai", "m", "responses", `{"a":1}`, `{"a":1,"prompt_cache_key":"p1-key"}`},
		{"mistral", "m", "completions", `{"a":1}`, ``},
		{"fireworks", "m", "completions", `{"a":1}`, `{"a":1,"prompt_cache_key":"p1-key","prompt_cache_isolation_key":"s1-salt"}`},
	} {
		d, err := New(tc.dialect)
		if err != nil {
			t.Fatal(err)
		}
		want := everything
		want.StreamUsage = false
		if tc.want == "" {
			tc.want = tc.body
		}
		got := d.Edit(Request{Path: "/v1/" + tc.path, Model: tc.model, Header: http.Header{}, Body: []byte(tc.body)}, want, none)
		if string(got.Body) != tc.want {
			t.Errorf("%s %s %s: %.300s became %.300s, want %.300s", tc.dialect, tc.model, tc.path, tc.body, got.Body, tc.want)
		}
		trusted := d.Edit(Request{Path: "/v1/x", Header: http.Header{}, Body: []byte(tc.body), Trust: true}, Intent{}, none)
		if string(trusted.Body) != tc.body || len(trusted.Removed) > 0 {
			t.Errorf("a trusted client's %s became %s", tc.body, trusted.Body)
		}
	}
}

// TestHeaders: which header each dialect sets, and that the client's own stays.
func TestHeaders(t *testing.T) {
	for _, tc := range []struct{ dialect, version, header, value string }{
		{"vllm", "", "", ""}, {"vllm", "0.28", "", ""}, {"vllm", "0.29", "X-Session-Id", "c1-conv"}, {"vllm", "1.0", "X-Session-Id", "c1-conv"},
		{"smg", "", "X-Smg-Routing-Key", "c1-conv"}, {"dynamo", "", "X-Dynamo-Session-Id", "c1-conv"}, {"dynamo", "1.2", "", ""}, {"dynamo", "v1.3.1", "X-Dynamo-Session-Id", "c1-conv"},
		{"llm-d", "", "X-Session-Id", "c1-conv"}, {"aibrix", "", "X-Aibrix-Session-Key", "c1-conv"}, {"production-stack", "", "X-User-Id", "c1-conv"},
		{"xai", "", "X-Grok-Conv-Id", "p1-key"}, {"fireworks", "", "X-Session-Affinity", "p1-key"}, {"openai", "", "", ""}, {"sglang", "", "", ""},
	} {
		d, err := New(tc.dialect)
		if err != nil {
			t.Fatal(err)
		}
		r := Request{Path: "/v1/chat/completions", Header: http.Header{}, Body: []byte(`{}`), Version: tc.version, SessionKey: "x-user-id"}
		got := d.Edit(r, everything, none).Header
		if tc.header == "" && len(got) > 0 || tc.header != "" && (len(got) != 1 || got.Get(tc.header) != tc.value) {
			t.Errorf("%s %s sets %v", tc.dialect, tc.version, got)
		}
		if r.Header.Set(tc.header, "mine"); tc.header != "" && len(d.Edit(r, everything, none).Header) > 0 {
			t.Errorf("%s replaces the client's %s", tc.dialect, tc.header)
		}
	}
}

// TestNoop: what a dialect cannot express is reported, and nothing else.
func TestNoop(t *testing.T) {
	for _, tc := range []struct{ dialect, model, want string }{
		{"generic", "m", "[Affinity Salt Retain]"}, {"plain", "m", "[Affinity Salt Retain]"}, {"openai", "gpt-4o", "[Salt Retain]"}, {"openai", "gpt-5", "[Salt]"},
		{"openai", "unknown", "[Affinity Salt Retain]"}, {"anthropic", "claude-opus-5", "[Affinity Salt Retain]"}, {"vllm", "m", "[Affinity Retain]"}, {"sglang", "m", "[Affinity Retain]"},
		{"llm-d", "m", "[Retain]"}, {"trtllm", "m", "[Affinity Retain]"}, {"fireworks", "m", "[Retain]"}, {"mistral", "m", "[Salt Retain]"}, {"llamacpp", "m", "[Affinity Salt Retain]"},
	} {
		d, _ := New(tc.dialect)
		r := Request{Path: "/v1/chat/completions", Model: tc.model, Header: http.Header{}, Body: []byte(`{"a":1}`)}
		if got := d.Edit(r, everything, none).Noop; strings.Join(got, " ") != strings.Trim(tc.want, "[]") {
			t.Errorf("%s %s cannot express %v, want %s", tc.dialect, tc.model, got, tc.want)
		}
		if got := d.Edit(r, Intent{}, none).Noop; len(got) > 0 {
			t.Errorf("%s without a wish: %v", tc.dialect, got)
		}
	}
}

func BenchmarkEdit(b *testing.B) {
	body := []byte(`{"model":"gpt-4o","stream":true,"messages":[{"role":"user","content":"` + strings.Repeat("a word and ", 3000) + `"}]}`)
	for _, name := range []string{"generic", "openai", "vllm"} {
		d, _ := New(name)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				d.Edit(Request{Path: "/v1/chat/completions", Model: "gpt-4o", Body: body}, Intent{StreamUsage: true, Affinity: "p"}, none)
			}
		})
	}
}
