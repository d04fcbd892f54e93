package answer

import (
	"strings"
	"testing"

	"reprise/proxy/canon"
)

func TestJudgeFixtures(t *testing.T) {
	want := map[string]Verdict{
		"chat-azure.sse":           {Keep: true, Text: "ok"},
		"chat-choices.json":        {Keep: true, Text: "one"},
		"chat-choices.sse":         {Keep: true, Text: "one"},
		"chat-folded.sse":          {Keep: true, Text: "😀!"},
		"chat-function.sse":        {Reason: ReasonToolCalls, ToolCalls: true},
		"chat-logprobs.json":       {Keep: true, Text: "ab"},
		"chat-logprobs.sse":        {Keep: true, Text: "ab"},
		"chat-plain.sse":           {Keep: true, Text: "no usage"},
		"chat-reasoning.json":      {Keep: true, Text: "Yes."},
		"chat-reasoning.sse":       {Keep: true, Text: "Yes."},
		"chat-refusal.json":        {Reason: ReasonRefusal},
		"chat-refusal.sse":         {Reason: ReasonRefusal},
		"chat-text.json":           {Keep: true, Text: `Grüße, "world"`},
		"chat-text.sse":            {Keep: true, Text: `Grüße, "world" \n 😀`},
		"chat-tools.json":          {Reason: ReasonToolCalls, ToolCalls: true},
		"chat-tools.sse":           {Reason: ReasonToolCalls, ToolCalls: true},
		"completions-text.json":    {Keep: true, Text: "Once upon"},
		"completions-text.sse":     {Keep: true, Text: "Once upon"},
		"embeddings-float.json":    {Keep: true},
		"responses-reasoning.json": {Keep: true, Text: "Hi ü"},
		"responses-refusal.json":   {Reason: ReasonRefusal},
		"responses-text.json":      {Keep: true, Text: "Hi ü"},
		"responses-text.sse":       {Keep: true, Text: "Hi ü"},
		"responses-tools.json":     {Reason: ReasonToolCalls, ToolCalls: true},
	}
	withoutUsage := "chat-folded.sse chat-function.sse chat-plain.sse"
	for _, x := range fixtures(t) {
		w := want[x.name]
		switch {
		case x.family == canon.Embeddings:
			w.Usage = Usage{Input: 2}
		case !strings.Contains(withoutUsage, x.name):
			w.Usage = Usage{Input: 11, Output: 7}
		}
		if got := Judge(x.family, x.stream, x.body); got != w {
			t.Errorf("%s: %+v, want %+v", x.name, got, w)
		}
		if x.family == canon.Embeddings {
			continue
		}
		other, err := x.freeze(t).convert()
		if err != nil {
			t.Fatal(err)
		}
		if got := Judge(x.family, other.Stream, other.Body); got != w {
			t.Errorf("%s converted: %+v, want %+v", x.name, got, w)
		}
	}
}

// A stream or object that ends early, at whatever byte, is never kept.
func TestJudgeCutAnywhere(t *testing.T) {
	for _, x := range fixtures(t) {
		body := []byte(strings.TrimRight(string(x.body), " \n"))
		if x.stream {
			body = x.body
		}
		for cut := range body {
			if v := Judge(x.family, x.stream, body[:cut]); v.Keep || v.Reason == ReasonToolCalls {
				t.Fatalf("%s cut at %d of %d: %+v", x.name, cut, len(body), v)
			}
		}
	}
}

func TestJudgeReasons(t *testing.T) {
	const (
		done = "data: [DONE]\n\n"
		text = `data: {"choices":[{"index":0,"delta":{"content":"a"}}]}` + "\n\n"
	)
	chunk := func(s string) string { return "data: " + s + "\n\n" }
	finish := func(s string) string {
		return chunk(`{"choices":[{"index":0,"delta":{},"finish_reason":"` + s + `"}]}`)
	}
	choice := func(s string) string { return `{"choices":[` + s + `]}` }
	for _, c := range []struct {
		name   string
		family canon.Family
		stream bool
		body   string
		want   string
	}{
		{"stop", canon.Chat, true, text + finish("stop") + done, ""},
		{"the same reason twice", canon.Chat, true, text + finish("stop") + finish("stop") + done, ""},
		{"two finish reasons", canon.Chat, true, text + finish("stop") + finish("length") + done, ReasonMalformed},
		{"length", canon.Chat, true, text + finish("length") + done, ReasonLength},
		{"filter", canon.Chat, true, text + finish("content_filter") + done, ReasonContentFilter},
		{"unknown reason", canon.Chat, true, text + finish("abort") + done, ReasonIncomplete},
		{"no reason", canon.Chat, true, text + done, ReasonIncomplete},
		{"no [DONE]", canon.Chat, true, text + finish("stop"), ReasonIncomplete},
		{"one choice unfinished", canon.Chat, true, text + finish("stop") + chunk(`{"choices":[{"index":1,"delta":{"content":"b"}}]}`) + done, ReasonIncomplete},
		{"no text", canon.Chat, true, finish("stop") + done, ReasonEmpty},
		{"blank", canon.Chat, true, chunk(`{"choices":[{"delta":{"content":" \n"},"finish_reason":"stop"}]}`) + done, ReasonEmpty},
		{"no choice", canon.Chat, true, done, ReasonEmpty},
		{"error object", canon.Chat, true, text + chunk(`{"error":{"message":"x"}}`) + finish("stop") + done, ReasonError},
		{"error event", canon.Chat, true, text + "event: error\ndata: oops\n\n" + finish("stop") + done, ReasonError},
		{"error of old vLLM", canon.Chat, true, text + chunk(`{"object":"error","message":"x"}`) + finish("stop") + done, ReasonError},
		{"not JSON", canon.Chat, true, text + chunk(`{"choices":[`) + finish("stop") + done, ReasonMalformed},
		{"not an object", canon.Chat, true, chunk(`[1]`) + done, ReasonMalformed},
		{"choice is no object", canon.Chat, true, chunk(`{"choices":[7]}`) + done, ReasonMalformed},
		{"after [DONE]", canon.Chat, true, text + finish("stop") + done + chunk("junk"), ""},
		{"too deep", canon.Chat, false, `{"a":` + strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20) + `}`, ReasonMalformed},
		{"null", canon.Chat, false, `null`, ReasonMalformed},
		{"empty body", canon.Chat, false, ``, ReasonMalformed},
		{"no choices", canon.Chat, false, `{}`, ReasonMalformed},
		{"choices empty", canon.Chat, false, choice(``), ReasonEmpty},
		{"error body", canon.Chat, false, `{"error":{"message":"x"}}`, ReasonError},
		{"error null", canon.Chat, false, `{"error":null,"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`, ""},
		{"parts", canon.Chat, false, choice(`{"message":{"content":[{"type":"text","text":"a"}]},"finish_reason":"stop"}`), ""},
		{"no tool in tool_calls", canon.Chat, false, choice(`{"message":{"content":"a","tool_calls":[]},"finish_reason":"stop"}`), ""},
		{"second choice cut", canon.Completions, false, choice(`{"text":"a","finish_reason":"stop"},{"text":"b","finish_reason":"length"}`), ReasonLength},
		{"second choice cut, the first calls", canon.Chat, false, choice(`{"message":{"tool_calls":[{}]},"finish_reason":"tool_calls"},{"message":{"content":"b"},"finish_reason":"length"}`), ReasonLength},
		{"second choice calls", canon.Chat, false, choice(`{"message":{"content":"a"},"finish_reason":"stop"},{"message":{"tool_calls":[{}]},"finish_reason":"tool_calls"}`), ReasonToolCalls},
		{"ends for a call that is not there", canon.Chat, false, choice(`{"message":{"content":"Let me look."},"finish_reason":"tool_calls"}`), ReasonToolCalls},
		{"completion", canon.Completions, false, choice(`{"text":"a","finish_reason":"stop"}`), ""},
		{"response cut", canon.Responses, false, `{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[]}`, ReasonLength},
		{"response filtered", canon.Responses, false, `{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]}`, ReasonContentFilter},
		{"response failed", canon.Responses, false, `{"status":"failed","output":[]}`, ReasonError},
		{"response in progress", canon.Responses, false, `{"status":"in_progress","output":[]}`, ReasonIncomplete},
		{"response empty", canon.Responses, false, `{"status":"completed","output":[]}`, ReasonEmpty},
		{"web search", canon.Responses, false, `{"status":"completed","output":[{"type":"web_search_call"},{"type":"message","content":[{"type":"output_text","text":"a"}]}]}`, ReasonToolCalls},
		{"stream failed", canon.Responses, true, chunk(`{"type":"response.failed","response":{}}`), ReasonError},
		{"stream error", canon.Responses, true, chunk(`{"type":"error","message":"x"}`), ReasonError},
		{"stream incomplete", canon.Responses, true, chunk(`{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}`), ReasonLength},
		{"stream without end", canon.Responses, true, chunk(`{"type":"response.created","response":{}}`) + done, ReasonIncomplete},
		{"completed without response", canon.Responses, true, chunk(`{"type":"response.completed"}`), ReasonMalformed},
		{"base64", canon.Embeddings, false, `{"data":[{"embedding":"AAAA"}]}`, ""},
		{"no data", canon.Embeddings, false, `{"data":[]}`, ReasonEmpty},
		{"no vector", canon.Embeddings, false, `{"data":[{"embedding":[1]},{"embedding":[]}]}`, ReasonEmpty},
		{"data missing", canon.Embeddings, false, `{}`, ReasonMalformed},
		{"streamed embeddings", canon.Embeddings, true, done, ReasonMalformed},
	} {
		if v := Judge(c.family, c.stream, []byte(c.body)); v.Reason != c.want || v.Keep != (c.want == "") {
			t.Errorf("%s: keep %v, reason %q, want %q", c.name, v.Keep, v.Reason, c.want)
		}
	}
}
