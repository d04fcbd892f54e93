package openai

import (
	"strings"
	"testing"

	"reprise/proxy/answer"
	"reprise/proxy/api/apitest"
)

func TestResponsesConformance(t *testing.T) {
	apitest.Run(t, Responses, *update, map[string]answer.Verdict{
		"reasoning.json": {Reason: answer.ReasonLiveWeb, LiveWeb: true, Text: "Hi ü", Usage: usage},
		"refusal.json":   {Reason: answer.ReasonRefusal, Usage: usage},
		"text.json":      {Reason: answer.ReasonLiveWeb, LiveWeb: true, Text: "Hi ü", Usage: usage},
		"text.sse":       {Reason: answer.ReasonLiveWeb, LiveWeb: true, Text: "Hi ü", Usage: usage},
		"tools.json":     {Reason: answer.ReasonToolCalls, ToolCalls: true, Usage: usage},
	})
}

func TestResponsesJudge(t *testing.T) {
	chunk := func(s string) string { return "data: " + s + "\n\n" }
	response := func(items string) string { return `{"status":"completed","output":[` + items + `]}` }
	message := func(more string) string {
		return `{"type":"message","content":[{"type":"output_text","text":"a"` + more + `}]}`
	}
	completed := func(output string) string {
		return chunk(`{"type":"response.completed","response":{"status":"completed","output":` + output + `}}`)
	}
	added := chunk(`{"type":"response.output_item.added","output_index":0,"item":{"type":"message","content":[]}}`)
	done := chunk(`{"type":"response.output_item.done","output_index":0,"item":` + message("") + `}`)
	apitest.Judge(t, Responses, cases{
		{"an error in an item", false, response(`{"type":"function_call","name":"f","arguments":"{}","error":{"code":"x"}},` + message("")), answer.ReasonError},
		{"an item that failed", false, response(`{"type":"function_call","name":"f","arguments":"{}","status":"failed"}`), answer.ReasonError},
		{"an item that is incomplete", false, response(`{"type":"function_call","name":"f","arguments":"{}","status":"incomplete"}`), answer.ReasonIncomplete},
		{"items without a status", false, response(`{"type":"reasoning","status":null},` + message("")), ""},
		{"a call without a name", false, response(`{"type":"function_call","name":"","arguments":"{}"}`), answer.ReasonMalformed},
		{"a call whose name is missing", false, response(`{"type":"function_call","arguments":"{}"}`), answer.ReasonMalformed},
		{"a custom call without a name", false, response(`{"type":"custom_tool_call","input":"x"}`), answer.ReasonMalformed},
		{"a shell call, which has no name", false, response(`{"type":"local_shell_call","action":{"type":"exec"}}`), answer.ReasonToolCalls},
		{"a page in an annotation", false, response(message(`,"annotations":[{"type":"url_citation","url":"https://a.example"}]`)), answer.ReasonLiveWeb},
		{"a file in an annotation", false, response(message(`,"annotations":[{"type":"file_citation","file_id":"f"}]`)), ""},
		{"reasoning that is text alone", false, response(`{"type":"reasoning","content":[{"type":"reasoning_text","text":"a"}]}`), answer.ReasonEmpty},
		{"stream whose response has no items", true, added + done + completed("[]"), ""},
		{"stream whose response has null for its items", true, added + done + completed("null"), ""},
		{"stream whose items only end", true, done + completed("[]"), ""},
		{"stream with two items at one place", true, done + done + completed("[]"), answer.ReasonEmpty},
		{"stream with an item at a place too far", true, strings.Replace(done, `"output_index":0`, `"output_index":1`, 1) + completed("[]"), answer.ReasonEmpty},
		{"stream without an item", true, completed("[]"), answer.ReasonEmpty},
		{"stream whose response has no items and whose item has no end", true, added + completed("[]"), answer.ReasonEmpty},
		{"response cut", false, `{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[]}`, answer.ReasonLength},
		{"response filtered", false, `{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]}`, answer.ReasonContentFilter},
		{"response failed", false, `{"status":"failed","output":[]}`, answer.ReasonError},
		{"response in progress", false, `{"status":"in_progress","output":[]}`, answer.ReasonIncomplete},
		{"response empty", false, `{"status":"completed","output":[]}`, answer.ReasonEmpty},
		{"web search", false, `{"status":"completed","output":[{"type":"web_search_call"},{"type":"message","content":[{"type":"output_text","text":"a"}]}]}`, answer.ReasonServerTools},
		{"a call of a function", false, `{"status":"completed","output":[{"type":"function_call","name":"f","arguments":"{}"}]}`, answer.ReasonToolCalls},
		{"a call beside one of the server", false, `{"status":"completed","output":[{"type":"function_call","name":"f","arguments":"{}"},{"type":"mcp_call"}]}`, answer.ReasonServerTools},
		{"arguments cut", false, `{"status":"completed","output":[{"type":"function_call","name":"f","arguments":"{"}]}`, answer.ReasonMalformed},
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
