package openai

import (
	"strings"
	"testing"

	"reprise/proxy/answer"
	"reprise/proxy/api/apitest"
)

func TestResponsesConformance(t *testing.T) {
	apitest.Run(t, Responses, *update, map[string]answer.Verdict{
		"reasoning.json": {Keep: true, Text: "Hi ü", Usage: usage},
		"refusal.json":   {Reason: answer.ReasonRefusal, Usage: usage},
		"text.json":      {Keep: true, Text: "Hi ü", Usage: usage},
		"text.sse":       {Keep: true, Text: "Hi ü", Usage: usage},
		"tools.json":     {Reason: answer.ReasonToolCalls, ToolCalls: true, Usage: usage},
	})
}

func TestResponsesJudge(t *testing.T) {
	chunk := func(s string) string { return "data: " + s + "\n\n" }
	apitest.Judge(t, Responses, cases{
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
	})
}

const responsesRequest = `{"model":"m","input":"hi"}`

func TestResponsesDefaults(t *testing.T) {
	apitest.Defaults(t, Responses, responsesRequest)
}

func TestResponsesApart(t *testing.T) {
	apitest.Apart(t, Responses, responsesRequest, map[string]string{
		`"store":null`:                "vLLM takes null for false",
		`"store":false`:               "absent is true",
		`"parallel_tool_calls":null`:  "vLLM takes null for false",
		`"truncation":null`:           "vLLM takes null for auto",
		`"truncation":"auto"`:         "the other",
		`"top_logprobs":null`:         "vLLM returns none for null",
		`"top_logprobs":0`:            "not documented",
		`"reasoning":{}`:              "not documented",
		`"reasoning":{"effort":null}`: "SGLang has medium for absent",
		`"tool_choice":"auto"`:        "documented for requests with tools",
		`"tools":null`:                "not documented",
		`"text":{"x":1}`:              "not documented",
		`"service_tier":"auto"`:       "Groq has on_demand",
		`"metadata":{}`:               "not documented",
		`"include":[]`:                "not documented",
		`"stop":[]`:                   "not documented",
		`"temperature":1`:             "vLLM has that of the model's generation config",
	})
	const tools = `{"model":"m","input":"hi","tools":[{"type":"function","name":"f"}]}`
	apitest.Apart(t, Responses, tools, map[string]string{`"tool_choice":null`: "not documented"})
}

// TestResponsesStreamOutOfProportion: each event repeats the id of its item, so that a long one times many parts would be gigabytes.
func TestResponsesStreamOutOfProportion(t *testing.T) {
	for _, c := range []struct {
		id, parts int
		ok        bool
	}{{50, 200, true}, {100_000, 20_000, false}} {
		body := `{"id":"r","object":"response","status":"completed","output":[{"id":"` + strings.Repeat("i", c.id) +
			`","type":"message","content":[` + strings.Repeat(`{"type":"output_text","text":"a","annotations":[]},`, c.parts) + `{"type":"output_text","text":"b"}]}]}`
		z, err := answer.Freeze(Responses.Answers, "application/json", []byte(body))
		if err != nil || !answer.Judge(Responses.Answers, false, []byte(body)).Keep {
			t.Fatal("not kept: ", err)
		}
		out, _, err := z.Replay(nil, answer.ReplayOptions{Stream: true})
		if (err == nil) != c.ok || len(out) > 1<<20+33*len(body) {
			t.Errorf("an id of %d bytes: a stream of %d bytes for %d, %v", c.id, len(out), len(body), err)
		}
	}
}
