package ollama

import (
	"flag"
	"testing"

	"reprise/proxy/answer"
	"reprise/proxy/api/apitest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// cases are answers and the reasons not to keep them; see [apitest.Judge].
type cases = []struct {
	Name         string
	Stream       bool
	Body, Reason string
}

func TestChatConformance(t *testing.T) {
	usage, tools := answer.Usage{Input: 31, Output: 5}, answer.Usage{Input: 120, Output: 20}
	apitest.Run(t, Chat, *update, map[string]answer.Verdict{
		"text.json":    {Keep: true, Text: "Paris, of course.", Usage: usage},
		"text.ndjson":  {Keep: true, Text: `Paris, of "course".`, Usage: usage},
		"tools.json":   {Reason: answer.ReasonToolCalls, ToolCalls: true, Usage: tools},
		"tools.ndjson": {Reason: answer.ReasonToolCalls, ToolCalls: true, Usage: tools},
		"length.json":  {Reason: answer.ReasonLength, Text: "It all began", Usage: answer.Usage{Output: 3}},
		"load.json":    {Reason: answer.ReasonIncomplete},
	})
}

func TestChatJudge(t *testing.T) {
	apitest.Judge(t, Chat, cases{
		{"older", false, `{"message":{"role":"assistant","content":"a"},"done":true}`, ""},
		{"a call", false, `{"message":{"content":"","tool_calls":[{"function":{"name":"f","arguments":{}}}]},"done":true,"done_reason":"stop"}`, answer.ReasonToolCalls},
		{"a call without a name", false, `{"message":{"content":"","tool_calls":[{"function":{"name":"","arguments":{}}}]},"done":true,"done_reason":"stop"}`, answer.ReasonMalformed},
		{"a call without a name in a stream", true, `{"message":{"content":"","tool_calls":[{"function":{"arguments":{}}}]},"done":false}` + "\n" + `{"message":{"content":""},"done":true}` + "\n", answer.ReasonMalformed},
		{"not done", false, `{"message":{"role":"assistant","content":"a"},"done":false}`, answer.ReasonIncomplete},
		{"done in words", false, `{"message":{"content":"a"},"done":"true","done_reason":"stop"}`, answer.ReasonIncomplete},
		{"blank", false, `{"message":{"content":" "},"done":true,"done_reason":"stop"}`, answer.ReasonEmpty},
		{"error", false, `{"error":"model not found"}`, answer.ReasonError},
		{"stream without its end", true, `{"message":{"content":"a"},"done":false}` + "\n", answer.ReasonIncomplete},
		{"last line without a line feed", true, `{"message":{"content":"a"},"done":true}`, answer.ReasonIncomplete},
		{"error in the stream", true, `{"message":{"content":"a"},"done":false}` + "\n" + `{"error":"out of memory"}` + "\n", answer.ReasonError},
		{"event stream", true, "data: " + `{"message":{"content":"a"},"done":true}` + "\n\n", answer.ReasonMalformed},
		{"empty lines", true, "\n" + `{"message":{"content":"a"},"done":true,"done_reason":"stop"}` + "\r\n\n", ""},
	})
}

func TestGenerateConformance(t *testing.T) {
	usage := answer.Usage{Input: 26, Output: 4}
	apitest.Run(t, Generate, *update, map[string]answer.Verdict{
		"text.json":       {Keep: true, Text: "Light is scattered.", Usage: usage},
		"text.ndjson":     {Keep: true, Text: "Light is scattered.", Usage: usage},
		"thinking.ndjson": {Keep: true, Text: "Scattering.", Usage: answer.Usage{Output: 9}},
	})
}

func TestGenerateJudge(t *testing.T) {
	apitest.Judge(t, Generate, cases{
		{"unloaded", false, `{"response":"","done":true,"done_reason":"unload"}`, answer.ReasonIncomplete},
		{"cut", true, `{"response":"a","done":true,"done_reason":"length"}` + "\n", answer.ReasonLength},
		{"more behind the end", true, `{"response":"a","done":true}` + "\n" + `{"response":"b","done":true}` + "\n", ""},
	})
}
