package responses

import (
	"flag"
	"testing"

	"reprise/proxy/answer"
	"reprise/proxy/api/apitest"
)

// usage is that of the recorded answers.
var usage = answer.Usage{Input: 11, Output: 7}

var update = flag.Bool("update", false, "rewrite the golden files")

func TestConformance(t *testing.T) {
	apitest.Run(t, Family, *update, map[string]answer.Verdict{
		"reasoning.json": {Keep: true, Text: "Hi ü", Usage: usage},
		"refusal.json":   {Reason: answer.ReasonRefusal, Usage: usage},
		"text.json":      {Keep: true, Text: "Hi ü", Usage: usage},
		"text.sse":       {Keep: true, Text: "Hi ü", Usage: usage},
		"tools.json":     {Reason: answer.ReasonToolCalls, ToolCalls: true, Usage: usage},
	})
}

func TestJudge(t *testing.T) {
	chunk := func(s string) string { return "data: " + s + "\n\n" }
	for _, c := range []struct {
		name   string
		stream bool
		body   string
		want   string
	}{
		{"response cut", false, `{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[]}`, answer.ReasonLength},
		{"response filtered", false, `{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]}`, answer.ReasonContentFilter},
		{"response failed", false, `{"status":"failed","output":[]}`, answer.ReasonError},
		{"response in progress", false, `{"status":"in_progress","output":[]}`, answer.ReasonIncomplete},
		{"response empty", false, `{"status":"completed","output":[]}`, answer.ReasonEmpty},
		{"web search", false, `{"status":"completed","output":[{"type":"web_search_call"},{"type":"message","content":[{"type":"output_text","text":"a"}]}]}`, answer.ReasonServerTools},
		{"a call of a function", false, `{"status":"completed","output":[{"type":"function_call","arguments":"{}"}]}`, answer.ReasonToolCalls},
		{"a call beside one of the server", false, `{"status":"completed","output":[{"type":"function_call","arguments":"{}"},{"type":"mcp_call"}]}`, answer.ReasonServerTools},
		{"arguments cut", false, `{"status":"completed","output":[{"type":"function_call","arguments":"{"}]}`, answer.ReasonMalformed},
		{"encrypted", false, `{"status":"completed","output":[{"type":"reasoning","encrypted_content":"gAAA"},{"type":"message","content":[{"type":"output_text","text":"a"}]}]}`, answer.ReasonEncrypted},
		{"stream failed", true, chunk(`{"type":"response.failed","response":{}}`), answer.ReasonError},
		{"stream error", true, chunk(`{"type":"error","message":"x"}`), answer.ReasonError},
		{"stream incomplete", true, chunk(`{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}`), answer.ReasonLength},
		{"stream without end", true, chunk(`{"type":"response.created","response":{}}`) + "data: [DONE]\n\n", answer.ReasonIncomplete},
		{"completed without response", true, chunk(`{"type":"response.completed"}`), answer.ReasonMalformed},
	} {
		apitest.Judge(t, Family, c.name, c.stream, c.body, c.want)
	}
}
