package chat

import (
	"flag"
	"strings"
	"testing"

	"reprise/proxy/answer"
	"reprise/proxy/api/apitest"
)

// usage is that of the recorded answers.
var usage = answer.Usage{Input: 11, Output: 7}

var update = flag.Bool("update", false, "rewrite the golden files")

func TestConformance(t *testing.T) {
	apitest.Run(t, Family, *update, map[string]answer.Verdict{
		"azure.sse":      {Keep: true, Text: "ok", Usage: usage},
		"choices.json":   {Keep: true, Text: "one", Usage: usage},
		"choices.sse":    {Keep: true, Text: "one", Usage: usage},
		"folded.sse":     {Keep: true, Text: "😀!"},
		"function.sse":   {Reason: answer.ReasonToolCalls, ToolCalls: true},
		"logprobs.json":  {Keep: true, Text: "ab", Usage: usage},
		"logprobs.sse":   {Keep: true, Text: "ab", Usage: usage},
		"plain.sse":      {Keep: true, Text: "no usage"},
		"reasoning.json": {Keep: true, Text: "Yes.", Usage: usage},
		"reasoning.sse":  {Keep: true, Text: "Yes.", Usage: usage},
		"refusal.json":   {Reason: answer.ReasonRefusal, Usage: usage},
		"refusal.sse":    {Reason: answer.ReasonRefusal, Usage: usage},
		"text.json":      {Keep: true, Text: `Grüße, "world"`, Usage: usage},
		"text.sse":       {Keep: true, Text: `Grüße, "world" \n 😀`, Usage: usage},
		"tools.json":     {Reason: answer.ReasonToolCalls, ToolCalls: true, Usage: usage},
		"tools.sse":      {Reason: answer.ReasonToolCalls, ToolCalls: true, Usage: usage},
	})
}

func TestJudge(t *testing.T) {
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
		stream bool
		body   string
		want   string
	}{
		{"stop", true, text + finish("stop") + done, ""},
		{"the same reason twice", true, text + finish("stop") + finish("stop") + done, ""},
		{"two finish reasons", true, text + finish("stop") + finish("length") + done, answer.ReasonMalformed},
		{"length", true, text + finish("length") + done, answer.ReasonLength},
		{"filter", true, text + finish("content_filter") + done, answer.ReasonContentFilter},
		{"unknown reason", true, text + finish("abort") + done, answer.ReasonIncomplete},
		{"no reason", true, text + done, answer.ReasonIncomplete},
		{"no [DONE]", true, text + finish("stop"), answer.ReasonIncomplete},
		{"one choice unfinished", true, text + finish("stop") + chunk(`{"choices":[{"index":1,"delta":{"content":"b"}}]}`) + done, answer.ReasonIncomplete},
		{"no text", true, finish("stop") + done, answer.ReasonEmpty},
		{"blank", true, chunk(`{"choices":[{"delta":{"content":" \n"},"finish_reason":"stop"}]}`) + done, answer.ReasonEmpty},
		{"no choice", true, done, answer.ReasonEmpty},
		{"error object", true, text + chunk(`{"error":{"message":"x"}}`) + finish("stop") + done, answer.ReasonError},
		{"error event", true, text + "event: error\ndata: oops\n\n" + finish("stop") + done, answer.ReasonError},
		{"error of old vLLM", true, text + chunk(`{"object":"error","message":"x"}`) + finish("stop") + done, answer.ReasonError},
		{"not JSON", true, text + chunk(`{"choices":[`) + finish("stop") + done, answer.ReasonMalformed},
		{"not an object", true, chunk(`[1]`) + done, answer.ReasonMalformed},
		{"choice is no object", true, chunk(`{"choices":[7]}`) + done, answer.ReasonMalformed},
		{"a message in place of a delta", true, chunk(`{"choices":[{"index":0,"message":{"content":"a"},"finish_reason":"stop"}]}`) + done, answer.ReasonMalformed},
		{"a message beside the delta", true, text + chunk(`{"choices":[{"index":0,"delta":{"content":"a"},"message":{"content":"b"},"finish_reason":"stop"}]}`) + done, answer.ReasonMalformed},
		{"a message of null", true, text + chunk(`{"choices":[{"index":0,"delta":{},"message":null,"finish_reason":"stop"}]}`) + done, ""},
		{"after [DONE]", true, text + finish("stop") + done + chunk("junk"), ""},
		{"too deep", false, `{"a":` + strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20) + `}`, answer.ReasonMalformed},
		{"null", false, `null`, answer.ReasonMalformed},
		{"empty body", false, ``, answer.ReasonMalformed},
		{"no choices", false, `{}`, answer.ReasonMalformed},
		{"choices empty", false, choice(``), answer.ReasonEmpty},
		{"error body", false, `{"error":{"message":"x"}}`, answer.ReasonError},
		{"error null", false, `{"error":null,"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`, ""},
		{"parts", false, choice(`{"message":{"content":[{"type":"text","text":"a"}]},"finish_reason":"stop"}`), ""},
		{"no tool in tool_calls", false, choice(`{"message":{"content":"a","tool_calls":[]},"finish_reason":"stop"}`), ""},
		{"second choice cut, the first calls", false, choice(`{"message":{"tool_calls":[{}]},"finish_reason":"tool_calls"},{"message":{"content":"b"},"finish_reason":"length"}`), answer.ReasonLength},
		{"second choice calls", false, choice(`{"message":{"content":"a"},"finish_reason":"stop"},{"message":{"tool_calls":[{}]},"finish_reason":"tool_calls"}`), answer.ReasonToolCalls},
		{"ends for a call that is not there", false, choice(`{"message":{"content":"Let me look."},"finish_reason":"tool_calls"}`), answer.ReasonIncomplete},
		{"a call of a builtin tool", false, choice(`{"message":{"tool_calls":[{"id":"a","type":"builtin_function","function":{"name":"$web_search","arguments":"{}"}}]},"finish_reason":"tool_calls"}`), answer.ReasonServerTools},
		{"a call of a custom tool", false, choice(`{"message":{"tool_calls":[{"id":"a","type":"custom","custom":{"name":"sql","input":"select"}}]},"finish_reason":"tool_calls"}`), answer.ReasonToolCalls},
		{"arguments cut", false, choice(`{"message":{"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":"}}]},"finish_reason":"tool_calls"}`), answer.ReasonMalformed},
		{"no arguments", false, choice(`{"message":{"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":""}}]},"finish_reason":"tool_calls"}`), answer.ReasonToolCalls},
		{"a signed call", false, choice(`{"message":{"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"c"}}}]},"finish_reason":"tool_calls"}`), answer.ReasonEncrypted},
		{"encrypted details", false, choice(`{"message":{"content":"a","reasoning_details":[{"type":"reasoning.encrypted","data":"b"}]},"finish_reason":"stop"}`), answer.ReasonEncrypted},
		{"no thought", false, choice(`{"message":{"content":"a \"signature\":\"b\"","thinking_blocks":[{"signature":null}]},"finish_reason":"stop"}`), ""},
	} {
		apitest.Judge(t, Family, c.name, c.stream, c.body, c.want)
	}
}
