package proxy

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reprise/proxy/upstream"
)

// reporter is an upstream by what it sends for one question. A line is the data of an event, without the braces of the object; ALL stands for
// the members of every chunk, and U for a usage.
type reporter struct {
	name, dialect string
	all           string
	object        string   // the members of an answer that is not streamed, beside those of all; "": it is not tried
	unasked       []string // the stream of a request without stream_options
	asked         []string // and with include_usage
	gets          []string // of a client that did not ask, where that differs from unasked because nobody can know; nil: it does not
	after         []string // the same, where another client has asked before; nil: gets
}

const openAIChunk = `"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m-1","service_tier":"default","system_fingerprint":"fp_1"`

// reporters are written from the documentation of the upstreams, from their sources, and from streams that users have recorded.
var reporters = []reporter{
	{name: "OpenAI", dialect: "openai", all: openAIChunk,
		unasked: []string{`ALL,"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}],"obfuscation":"a1"`,
			`ALL,"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"obfuscation":"b"`},
		asked: []string{`ALL,"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}],"usage":null,"obfuscation":"a1"`,
			`ALL,"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null,"obfuscation":"b"`,
			`ALL,"choices":[],"usage":U,"obfuscation":"c"`}},
	{name: "Azure", dialect: "azure-openai", all: openAIChunk,
		unasked: []string{`"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0,"content_filter_results":{"hate":{"filtered":false}}}]`,
			`"choices":[{"content_filter_results":{"hate":{"filtered":false}},"delta":{"content":"Hi"},"finish_reason":null,"index":0}],ALL`,
			`"choices":[{"content_filter_results":{},"delta":{},"finish_reason":"stop","index":0}],ALL`},
		asked: []string{`"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0,"content_filter_results":{"hate":{"filtered":false}}}]`,
			`"choices":[{"content_filter_results":{"hate":{"filtered":false}},"delta":{"content":"Hi"},"finish_reason":null,"index":0}],ALL,"usage":null`,
			`"choices":[{"content_filter_results":{},"delta":{},"finish_reason":"stop","index":0}],ALL,"usage":null`,
			`"choices":[],ALL,"usage":U`}},
	{name: "vLLM", dialect: "vllm", all: `"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m-1"`,
		unasked: []string{`ALL,"choices":[{"index":0,"delta":{"content":"Hi"},"logprobs":null,"finish_reason":null,"token_ids":null}]`,
			`ALL,"choices":[{"index":0,"delta":{"content":""},"logprobs":null,"finish_reason":"stop","stop_reason":null}]`},
		asked: []string{`ALL,"choices":[{"index":0,"delta":{"content":"Hi"},"logprobs":null,"finish_reason":null,"token_ids":null}]`,
			`ALL,"choices":[{"index":0,"delta":{"content":""},"logprobs":null,"finish_reason":"stop","stop_reason":null}]`,
			`ALL,"choices":[],"usage":U`}},
	{name: "SGLang", dialect: "sglang", all: `"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m-1"`,
		unasked: []string{`ALL,"choices":[{"index":0,"delta":{"role":null,"content":"Hi"},"logprobs":null,"finish_reason":null,"matched_stop":null}],"usage":null`,
			`ALL,"choices":[{"index":0,"delta":{"role":null,"content":null},"logprobs":null,"finish_reason":"stop","matched_stop":151645}],"usage":null`},
		asked: []string{`ALL,"choices":[{"index":0,"delta":{"role":null,"content":"Hi"},"logprobs":null,"finish_reason":null,"matched_stop":null}],"usage":null`,
			`ALL,"choices":[{"index":0,"delta":{"role":null,"content":null},"logprobs":null,"finish_reason":"stop","matched_stop":151645}],"usage":null`,
			`ALL,"choices":[],"usage":U`}},
	{name: "llama.cpp", dialect: "llamacpp", all: `"created":1700000000,"id":"chatcmpl-1","model":"m-1","system_fingerprint":"b6881-8b11deea4","object":"chat.completion.chunk"`,
		object: `"choices":[{"finish_reason":"stop","index":0,"message":{"role":"assistant","content":"Hi"}}],"created":1700000000,"model":"m-1","system_fingerprint":"b6881-8b11deea4","object":"chat.completion","usage":U,"id":"chatcmpl-1","timings":{"prompt_n":1,"prompt_ms":203.4}`,
		unasked: []string{`"choices":[{"finish_reason":null,"index":0,"delta":{"content":"Hi"}}],ALL`,
			`"choices":[{"finish_reason":"stop","index":0,"delta":{}}],ALL,"timings":{"prompt_n":1,"prompt_ms":203.4}`},
		asked: []string{`"choices":[{"finish_reason":null,"index":0,"delta":{"content":"Hi"}}],ALL`,
			`"choices":[{"finish_reason":"stop","index":0,"delta":{}}],ALL`,
			`"choices":[],ALL,"usage":U,"timings":{"prompt_n":1,"prompt_ms":203.4}`}},
	{name: "Ollama", all: `"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m-1","system_fingerprint":"fp_ollama"`,
		unasked: []string{`ALL,"choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"},"finish_reason":null}]`,
			`ALL,"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"stop"}]`},
		asked: []string{`ALL,"choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"},"finish_reason":null}]`,
			`ALL,"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"stop"}]`,
			`ALL,"choices":[],"usage":U`}},
	{name: "Groq", all: `"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m-1","system_fingerprint":"fp_2"`,
		unasked: []string{`ALL,"choices":[{"index":0,"delta":{"content":"Hi"},"logprobs":null,"finish_reason":null}],"x_groq":{"id":"req_1","seed":9}`,
			`ALL,"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"x_groq":{"id":"req_1","usage":U}`},
		asked: []string{`ALL,"choices":[{"index":0,"delta":{"content":"Hi"},"logprobs":null,"finish_reason":null}],"x_groq":{"id":"req_1","seed":9}`,
			`ALL,"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"x_groq":{"id":"req_1","usage":U},"usage":U`,
			`ALL,"choices":[],"usage":U,"service_tier":"on_demand"`},
		gets: []string{`ALL,"choices":[{"index":0,"delta":{"content":"Hi"},"logprobs":null,"finish_reason":null}],"x_groq":{"id":"req_1","seed":9}`,
			`ALL,"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"x_groq":{"id":"req_1","usage":U},"usage":U`}},
	{name: "OpenRouter", all: `"id":"gen-1","provider":"Meta","model":"m-1","object":"chat.completion.chunk","created":1700000000`,
		unasked: []string{`ALL,"choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"},"finish_reason":"stop","native_finish_reason":"stop"}]`,
			`ALL,"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null,"native_finish_reason":null}],"usage":U`},
		asked: []string{`ALL,"choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"},"finish_reason":"stop","native_finish_reason":"stop"}]`,
			`ALL,"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null,"native_finish_reason":null}],"usage":U`}},
	{name: "xAI", dialect: "xai", all: `"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m-1"`,
		unasked: []string{`ALL,"choices":[{"index":0,"delta":{"content":"Hi","role":"assistant"}}],"system_fingerprint":"fp_3"`,
			`ALL,"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"system_fingerprint":"fp_3"`},
		asked: []string{`ALL,"choices":[{"index":0,"delta":{"content":"Hi","role":"assistant"}}],"system_fingerprint":"fp_3"`,
			`ALL,"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"system_fingerprint":"fp_3"`,
			`ALL,"choices":[],"usage":U,"system_fingerprint":"fp_3"`}},
	{name: "an upstream that always reports, and is not asked", dialect: "fireworks", all: openAIChunk,
		unasked: []string{`ALL,"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}],"usage":null`, `ALL,"choices":[],"usage":U,"stats":{"n":1}`},
		asked:   []string{`ALL,"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}],"usage":null`, `ALL,"choices":[],"usage":U,"stats":{"n":1}`},
		after:   []string{`ALL,"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]`, `ALL,"choices":[],"stats":{"n":1}`}},
	{name: "one with more in the last chunk", all: openAIChunk,
		unasked: []string{`ALL,"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]`, `ALL,"choices":[],"stats":{"n":1},"search":{"n":2}`},
		asked:   []string{`ALL,"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}],"usage":null`, `ALL,"choices":[],"stats":{"n":1},"usage":U,"search":{"n":2}`}},
}

func (u *reporter) text(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString("data: {" + u.filled(line) + "}\n\n")
	}
	return b.String() + "data: [DONE]\n\n"
}

func (u *reporter) filled(line string) string {
	return strings.NewReplacer("ALL", u.all, `:U`, `:{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18}`).Replace(line)
}

func (u *reporter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if !strings.Contains(string(body), `"stream":true`) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, "{"+u.filled(u.object)+"}")
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	lines := u.unasked
	if strings.Contains(string(body), `"include_usage":true`) {
		lines = u.asked
	}
	io.WriteString(w, u.text(lines))
}

// renewed are the values that a replay makes anew.
var renewed = regexp.MustCompile(`"id":"[^"]*"|"created":[0-9]+`)

// TestUsageThatNobodyAskedFor: a client gets what the upstream would have sent to it, member by member at the same places, whether or not the
// proxy has asked for usage, whoever was first, and from the cache as from the upstream.
func TestUsageThatNobodyAskedFor(t *testing.T) {
	const asks = `"stream":true,"stream_options":{"include_usage":true}`
	for _, u := range reporters {
		t.Run(u.name, func(t *testing.T) {
			gets := u.gets
			if gets == nil {
				gets = u.unasked
			}
			after := u.after
			if after == nil {
				after = gets
			}
			for _, first := range []string{`"stream":true`, asks} {
				r := newRigAt(t, nil, &u, func(o *Options) { o.Upstreams = []upstream.Target{{Base: o.Upstreams[0].Base, Dialect: u.dialect}} })
				for i, options := range []string{first, `"stream":true`, asks} {
					got, want := r.ask(t, "/v1/chat/completions", chat("What does it report?", options)), u.text(gets)
					switch {
					case options == asks:
						want = u.text(u.asked)
					case first == asks:
						want = u.text(after)
					}
					if i > 0 {
						got.body, want = renewed.ReplaceAllString(got.body, "X"), renewed.ReplaceAllString(want, "X")
					}
					if got.body != want || (got.cache() == "exact") != (i > 0) {
						t.Errorf("first with %s, then %d: %s, %s:\n%s\nwant\n%s", first, i, options, got.cache(), got.body, want)
					}
				}
			}
		})
	}
}

// TestMovedMembersOfAnObject: what an object has of llama.cpp's timings stands in a stream where that server has it.
func TestMovedMembersOfAnObject(t *testing.T) {
	for _, u := range reporters {
		if u.object == "" {
			continue
		}
		r := newRigAt(t, nil, &u)
		r.ask(t, "/v1/chat/completions", chat("What does it report?"))
		for options, lines := range map[string][]string{`"stream":true`: u.unasked, `"stream":true,"stream_options":{"include_usage":true}`: u.asked} {
			got := r.ask(t, "/v1/chat/completions", chat("What does it report?", options))
			events := strings.Split(strings.TrimSpace(got.body), "\n\n")
			last, want := map[string]any{}, map[string]any{}
			if len(events) < 2 || json.Unmarshal([]byte(strings.TrimPrefix(events[len(events)-2], "data: ")), &last) != nil {
				t.Fatalf("%s: %s", u.name, got.body)
			}
			json.Unmarshal([]byte("{"+u.filled(lines[len(lines)-1])+"}"), &want)
			for name := range want {
				if _, has := last[name]; !has || got.cache() != "exact" {
					t.Errorf("%s, %s: the last chunk has no %s: %s", u.name, options, name, got.body)
				}
			}
		}
	}
}

// TestCutBehindWhatWaits: where the upstream breaks off while a chunk waits for the next one, the client has all that was sent.
func TestCutBehindWhatWaits(t *testing.T) {
	u := &reporters[slices.IndexFunc(reporters, func(u reporter) bool { return u.name == "llama.cpp" })]
	sent := strings.TrimSuffix(u.text(u.asked[:2]), "data: [DONE]\n\n") + `data: {"choices":[],"usa`
	r := newRigAt(t, nil, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, sent)
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}))
	got, err := r.try("/v1/chat/completions", chat("What does it report?", `"stream":true`))
	if err == nil || got.body != sent {
		t.Errorf("%v, %s, want %s", err, got.body, sent)
	}
}
