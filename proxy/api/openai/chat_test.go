package openai

import (
	"flag"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

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

// usage is that of the recorded answers.
var usage = answer.Usage{Input: 11, Output: 7}

func TestChatConformance(t *testing.T) {
	apitest.Run(t, Chat, *update, map[string]answer.Verdict{
		"azure.sse":      {Keep: true, Text: "ok", Usage: usage},
		"choices.json":   {Keep: true, Text: "one", Usage: usage},
		"choices.sse":    {Keep: true, Text: "one", Usage: usage},
		"folded.sse":     {Keep: true, Text: "😀!", Usage: usage},
		"function.sse":   {Reason: answer.ReasonToolCalls, ToolCalls: true, Usage: usage},
		"llamacpp.sse":   {Keep: true, Text: "Hello", Usage: usage},
		"logprobs.json":  {Keep: true, Text: "ab", Usage: usage},
		"logprobs.sse":   {Keep: true, Text: "ab", Usage: usage},
		"plain.sse":      {Keep: true, Text: "no usage"},
		"reasoning.json": {Keep: true, Text: "Yes.", Usage: usage},
		"reasoning.sse":  {Keep: true, Text: "Yes.", Usage: usage},
		"refusal.json":   {Reason: answer.ReasonRefusal, Usage: usage},
		"refusal.sse":    {Reason: answer.ReasonRefusal, Usage: usage},
		"text.json":      {Reason: answer.ReasonLiveWeb, LiveWeb: true, Text: `Grüße, "world"`, Usage: usage},
		"text.sse":       {Keep: true, Text: `Grüße, "world" \n 😀`, Usage: usage},
		"tools.json":     {Reason: answer.ReasonToolCalls, ToolCalls: true, Usage: usage},
		"tools.sse":      {Reason: answer.ReasonToolCalls, ToolCalls: true, Usage: usage},
	})
}

func TestChatJudge(t *testing.T) {
	const (
		done = "data: [DONE]\n\n"
		text = `data: {"choices":[{"index":0,"delta":{"content":"a"}}]}` + "\n\n"
	)
	chunk := func(s string) string { return "data: " + s + "\n\n" }
	finish := func(s string) string {
		return chunk(`{"choices":[{"index":0,"delta":{},"finish_reason":"` + s + `"}]}`)
	}
	choice := func(s string) string { return `{"choices":[` + s + `]}` }
	// more is an answer of text that has more members, before its choices and in its message and choice.
	more := func(top, message, inChoice string) string {
		return `{` + top + `"choices":[{"index":0,"message":{"role":"assistant","content":"a"` + message + `},"finish_reason":"stop"` + inChoice + `}]}`
	}
	calls := func(s string) string {
		return choice(`{"message":{"tool_calls":[` + s + `]},"finish_reason":"tool_calls"}`)
	}
	const (
		call   = `{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}`
		unsaid = `{"index":0,"id":"a","type":"function","function":{"name":"","arguments":"{}"}}`
	)
	apitest.Judge(t, Chat, cases{
		{"an error in a choice", false, more("", "", `,"error":{"code":502,"message":"x"},"native_finish_reason":"error"`), answer.ReasonError},
		{"an error in a choice alone", false, more("", "", `,"error":{"code":502,"message":"x"}`), answer.ReasonError},
		{"an error in a chunk's choice", true, text + chunk(`{"choices":[{"index":0,"delta":{},"error":{"code":502},"finish_reason":"stop"}]}`) + done, answer.ReasonError},
		{"an error in a message", false, more("", `,"error":"x"`, ""), answer.ReasonError},
		{"an error in a delta", true, text + chunk(`{"choices":[{"index":0,"delta":{"error":{"message":"x"}},"finish_reason":"stop"}]}`) + done, answer.ReasonError},
		{"no errors", false, more(`"error":null,`, `,"error":null`, `,"error":null,"native_finish_reason":"STOP"`), ""},
		{"an error of the provider behind", false, more("", "", `,"native_finish_reason":"error"`), answer.ReasonError},
		{"an error of the provider behind, streamed", true, text + chunk(`{"choices":[{"index":0,"delta":{},"finish_reason":"stop","native_finish_reason":"MALFORMED_FUNCTION_CALL"}]}`) + done, answer.ReasonError},
		{"cut by the provider behind", false, more("", "", `,"native_finish_reason":"MAX_TOKENS"`), answer.ReasonLength},
		{"filtered by the provider behind", false, more("", "", `,"native_finish_reason":"SAFETY"`), answer.ReasonContentFilter},
		{"a status of MiniMax", false, more(`"base_resp":{"status_code":1013,"status_msg":"x"},`, "", ""), answer.ReasonError},
		{"a good status of MiniMax", false, more(`"base_resp":{"status_code":0,"status_msg":""},`, "", ""), ""},
		{"a call without a name", false, calls(unsaid), answer.ReasonMalformed},
		{"a call without a name beside a good one", false, calls(call + `,` + unsaid), answer.ReasonMalformed},
		{"a call without a name, streamed", true, chunk(`{"choices":[{"index":0,"delta":{"tool_calls":[`+unsaid+`]}}]}`) + finish("tool_calls") + done, answer.ReasonMalformed},
		{"a call whose name is blank", false, calls(`{"function":{"name":" ","arguments":"{}"}}`), answer.ReasonMalformed},
		{"a call whose name is null", false, calls(`{"function":{"name":null,"arguments":"{}"}}`), answer.ReasonMalformed},
		{"a call without anything", false, calls(`{}`), answer.ReasonMalformed},
		{"a custom call without a name", false, calls(`{"id":"a","type":"custom","custom":{"input":"x"}}`), answer.ReasonMalformed},
		{"a function_call", false, choice(`{"message":{"function_call":{"name":"f","arguments":"{}"}},"finish_reason":"function_call"}`), answer.ReasonToolCalls},
		{"a function_call without a name", false, choice(`{"message":{"function_call":{"name":"","arguments":"{\"x\":1}"}},"finish_reason":"function_call"}`), answer.ReasonMalformed},
		{"an empty function_call", false, choice(`{"message":{"function_call":{"name":"","arguments":""}},"finish_reason":"function_call"}`), answer.ReasonIncomplete},
		{"an empty function_call beside a call", false, choice(`{"message":{"tool_calls":[` + call + `],"function_call":{"name":"","arguments":""}},"finish_reason":"tool_calls"}`), answer.ReasonToolCalls},
		{"a refusal that is empty", false, more("", `,"refusal":""`, ""), ""},

		{"citations of the web", false, more(`"citations":["https://a.example"],`, "", ""), answer.ReasonLiveWeb},
		{"citations of the web, streamed", true, text + chunk(`{"citations":["https://a.example"],"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`) + done, answer.ReasonLiveWeb},
		{"citations with addresses", false, more(`"citations":[{"title":"x","url":"https://a.example"}],`, "", ""), answer.ReasonLiveWeb},
		{"no citations", false, more(`"citations":[],"search_results":null,`, `,"annotations":[],"executed_tools":[]`, ""), ""},
		{"citations of documents", false, more(`"citations":[{"document_id":"d","start":0}],`, `,"annotations":[{"type":"file_citation","file_id":"f"}]`, ""), ""},
		{"citations of Venice", false, more(`"venice_parameters":{"web_search_citations":[{"url":"https://a.example"}]},`, "", ""), answer.ReasonLiveWeb},
		{"no citations of Venice", false, more(`"venice_parameters":{"enable_web_search":"auto","web_search_citations":[]},`, "", ""), ""},
		{"a search of DashScope", false, more(`"search_info":{"search_results":[{"index":1}]},`, "", ""), answer.ReasonLiveWeb},
		{"a search of Zhipu", false, more(`"web_search":[{"link":"https://a.example"}],`, "", ""), answer.ReasonLiveWeb},
		{"insufficient_system_resource", true, text + finish("insufficient_system_resource") + done, answer.ReasonError},
		{"model_length", true, text + finish("model_length") + done, answer.ReasonLength},
		{"search results", false, more(`"search_results":[{"title":"x"}],`, "", ""), answer.ReasonLiveWeb},
		{"a page in an annotation", false, more("", `,"annotations":[{"type":"url_citation","url_citation":{"url":"https://a.example"}}]`, ""), answer.ReasonLiveWeb},
		{"tools that the upstream ran", false, more("", `,"executed_tools":[{"type":"search"}]`, ""), answer.ReasonLiveWeb},
		{"cut, with citations", false, strings.Replace(more(`"citations":["https://a.example"],`, "", ""), `"stop"`, `"length"`, 1), answer.ReasonLength},

		{"eos", false, choice(`{"message":{"content":"a"},"finish_reason":"eos"}`), ""},
		{"eos, streamed", true, text + finish("eos") + done, ""},
		{"eos_token", true, text + finish("eos_token") + done, ""},
		{"stop_sequence", true, text + finish("stop_sequence") + done, ""},
		{"end_turn", true, text + finish("end_turn") + done, ""},
		{"COMPLETE", true, text + finish("COMPLETE") + done, ""},
		{"STOP", true, text + finish("STOP") + done, ""},
		{"MAX_TOKENS", true, text + finish("MAX_TOKENS") + done, answer.ReasonLength},
		{"tool_use for a call that is not there", true, text + finish("tool_use") + done, answer.ReasonIncomplete},
		{"sensitive", true, text + finish("sensitive") + done, answer.ReasonContentFilter},
		{"network_error", true, text + finish("network_error") + done, answer.ReasonError},
		{"eos without [DONE]", true, text + finish("eos"), answer.ReasonIncomplete},
		{"an empty finish reason", false, choice(`{"message":{"content":"a"},"finish_reason":""}`), answer.ReasonIncomplete},
		{"empty finish reasons until the last", true, finish("") + chunk(`{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":""}]}`) + finish("stop") + done, ""},
		{"an empty finish reason behind the last", true, text + finish("stop") + finish("") + done, ""},
		{"empty finish reasons alone", true, text + finish("") + done, answer.ReasonIncomplete},

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
		{"second choice cut, the first calls", false, choice(`{"message":{"tool_calls":[` + call + `]},"finish_reason":"tool_calls"},{"message":{"content":"b"},"finish_reason":"length"}`), answer.ReasonLength},
		{"second choice calls", false, choice(`{"message":{"content":"a"},"finish_reason":"stop"},{"message":{"tool_calls":[` + call + `]},"finish_reason":"tool_calls"}`), answer.ReasonToolCalls},
		{"ends for a call that is not there", false, choice(`{"message":{"content":"Let me look."},"finish_reason":"tool_calls"}`), answer.ReasonIncomplete},
		{"a call of a builtin tool", false, choice(`{"message":{"tool_calls":[{"id":"a","type":"builtin_function","function":{"name":"$web_search","arguments":"{}"}}]},"finish_reason":"tool_calls"}`), answer.ReasonServerTools},
		{"a call of a custom tool", false, choice(`{"message":{"tool_calls":[{"id":"a","type":"custom","custom":{"name":"sql","input":"select"}}]},"finish_reason":"tool_calls"}`), answer.ReasonToolCalls},
		{"arguments cut", false, choice(`{"message":{"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":"}}]},"finish_reason":"tool_calls"}`), answer.ReasonMalformed},
		{"no arguments", false, choice(`{"message":{"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":""}}]},"finish_reason":"tool_calls"}`), answer.ReasonToolCalls},
		{"a signed call", false, choice(`{"message":{"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"c"}}}]},"finish_reason":"tool_calls"}`), answer.ReasonEncrypted},
		{"encrypted details", false, choice(`{"message":{"content":"a","reasoning_details":[{"type":"reasoning.encrypted","data":"b"}]},"finish_reason":"stop"}`), answer.ReasonEncrypted},
		{"no thought", false, choice(`{"message":{"content":"a \"signature\":\"b\"","thinking_blocks":[{"signature":null}]},"finish_reason":"stop"}`), ""},
	})
}

const chatRequest = `{"model":"m","messages":[{"role":"user","content":"hi"}]}`

func TestChatDefaults(t *testing.T) {
	apitest.Defaults(t, Chat, chatRequest)
}

func TestChatApart(t *testing.T) {
	const tools = `"tools":[{"type":"function","function":{"name":"f"}}]`
	apitest.Apart(t, Chat, chatRequest, map[string]string{
		`"tools":null`:                  "not documented",
		`"tool_choice":"none"`:          "SGLang finds tools in messages",
		`"parallel_tool_calls":null`:    "vLLM takes null for false",
		`"top_logprobs":0`:              "llama.cpp has 20",
		`"top_logprobs":null`:           "vLLM returns none for null",
		`"reasoning_effort":null`:       "SGLang has had medium",
		`"reasoning_effort":"medium"`:   "the default is the model's",
		`"verbosity":"medium"`:          "the default is the model's",
		`"stop":[]`:                     "Ollama drops the stops of the model",
		`"modalities":["text"]`:         "the default is the model's",
		`"service_tier":"auto"`:         "Groq has on_demand",
		`"temperature":1`:               "vLLM has that of the model's generation config",
		`"top_p":1`:                     "vLLM has that of the model's generation config",
		`"frequency_penalty":0`:         "vLLM has that of the model's generation config",
		`"presence_penalty":0`:          "vLLM has that of the model's generation config",
		`"max_tokens":4096`:             "each engine has its own",
		`"seed":0`:                      "a seed",
		`"response_format":null`:        "not documented",
		`"user":null`:                   "not documented",
		`"logit_bias":{}`:               "not documented",
		`"metadata":{}`:                 "not documented",
		`"x":null`:                      "not known",
		`"response_format":{"type":""}`: "not documented",
		`"chat_template_kwargs":{}`:     "not documented",
	})
	apitest.Apart(t, Chat, chatRequest[:len(chatRequest)-1]+","+tools+"}", map[string]string{
		`"tool_choice":null`:   "vLLM then returns calls of tools as text",
		`"tool_choice":"none"`: "no call",
	})
}

// hostileAnswers are answers of some size bytes that are costly to read.
func hostileAnswers(size int) map[string]string {
	repeat := func(head, unit, tail string) string {
		return head + strings.Repeat(unit+",", (size-len(head)-len(tail))/(len(unit)+1)-1) + unit + tail
	}
	numbered := func(unit func(i string) string) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			b.WriteString(unit(strconv.Itoa(i)) + ",")
		}
		return b.String()
	}
	indexed := numbered(func(i string) string { return `{"index":` + i + `}` })
	members := numbered(func(i string) string { return `"` + i + `":0` })
	event := func(s string) string { return "data: " + s + "\n\n" }
	end := event(`{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}],"object":"chat.completion.chunk","usage":{"total_tokens":1}}`) + event("[DONE]")
	delta := func(s string) string { return event(`{"choices":[{"index":0,"delta":{` + s + `}}]}`) }
	numberedEvents := func(unit func(i string) string) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			b.WriteString(unit(strconv.Itoa(i)))
		}
		return b.String()
	}
	return map[string]string{
		"choices":             repeat(`{"choices":[`, `{}`, `]}`),
		"content parts":       repeat(`{"choices":[{"finish_reason":"stop","message":{"content":[`, `{}`, `]}}]}`),
		"tool calls":          repeat(`{"choices":[{"finish_reason":"stop","message":{"content":"a","tool_calls":[`, `{}`, `]}}]}`),
		"members":             `{"choices":[{"finish_reason":"stop","message":{` + members + `"content":"a"}}]}`,
		"nested":              repeat(`{"choices":[{"finish_reason":"stop","message":{"content":"a"}}],"x":[`, strings.Repeat("[", 100)+strings.Repeat("]", 100), `]}`),
		"indexed choices":     event(`{"choices":[`+indexed+`{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}`) + event("[DONE]"),
		"calls without index": event(repeat(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0},`, `{}`, `]}}]}`)) + end,
		"new members":         event(`{"choices":[{"index":0,"delta":{`+members+`"content":"a"},"finish_reason":"stop"}]}`) + event("[DONE]"),
		"tiny events":         strings.Repeat("data:{}\n\n", size/9) + end,
		"events of a letter":  strings.Repeat(event(`{"choices":[{"delta":{"content":"a"}}]}`), size/47) + end,
		"events of arrays":    strings.Repeat(event(`{"choices":[{"delta":{"x":[1]}}]}`), size/42) + end,
		"parts and texts in turns": delta(`"content":[{"type":"image_url","image_url":"`+strings.Repeat("x", size/2)+`"}]`) +
			strings.Repeat(delta(`"content":"a"`)+delta(`"content":[{"type":"image_url"}]`), size/200) + end,
		"parts of one text":  strings.Repeat(delta(`"content":[{"type":"text","text":"a"}]`), size/80) + end,
		"ids of one index":   numberedEvents(func(i string) string { return delta(`"tool_calls":[{"index":0,"id":"` + i + `"}]`) }) + end,
		"ids in turns":       numberedEvents(func(i string) string { return delta(`"tool_calls":[{"index":0,"id":"` + i[len(i)-1:] + `"}]`) }) + end,
		"indexes down":       numberedEvents(func(i string) string { return delta(`"x":[{"index":-` + i + `}]`) }) + end,
		"nested deltas":      strings.Repeat(delta(`"x":`+strings.Repeat(`{"a":`, 90)+`"b"`+strings.Repeat("}", 90)), size/700) + end,
		"an event of a text": delta(`"content":"`+strings.Repeat(`\u00fc`, size/6)+`"`) + end,
		"comments":           strings.Repeat(":\n\n", size/3) + end,
		"data lines":         "data: " + strings.Repeat("\ndata:", size/6) + "{}\n\n" + end,
	}
}

// TestChatHostileAnswers: no answer takes time or memory out of proportion to be judged, kept and replayed in its other form. The bounds
// are far above what these take; what is quadratic in the size takes minutes, or gigabytes. Where the time is long, the least of three runs
// counts: the machine may be busy.
func TestChatHostileAnswers(t *testing.T) {
	const size = 512 << 10
	for name, body := range hostileAnswers(size) {
		t.Run(name, func(t *testing.T) {
			took, allocated := costOf(body)
			for left := 2; took > 10*time.Second && left > 0; left-- {
				again, _ := costOf(body)
				took = min(took, again)
			}
			t.Logf("%v, %d MiB allocated", took.Round(time.Millisecond), allocated>>20)
			if took > 10*time.Second || allocated > 600*size {
				t.Errorf("%d KiB took %v and %d MiB", size>>10, took, allocated>>20)
			}
		})
	}
}

// costOf judges, keeps and replays an answer, and returns how long that took and how many bytes it allocated.
func costOf(body string) (took time.Duration, allocated uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	stream, contentType := body[0] != '{', "application/json"
	if stream {
		contentType = "text/event-stream"
	}
	verdict := answer.Judge(Chat.Answers, stream, []byte(body))
	z, err := answer.Freeze(Chat.Answers, contentType, []byte(body))
	if err == nil && verdict.Keep {
		_, _, _ = z.Replay(nil, answer.ReplayOptions{ID: "x", Stream: !stream})
	}
	took = time.Since(start)
	runtime.ReadMemStats(&after)
	return took, after.TotalAlloc - before.TotalAlloc
}

// TestChatStreamOutOfProportion: each chunk repeats the name of the model, so that a long one times many members would be gigabytes.
func TestChatStreamOutOfProportion(t *testing.T) {
	var members strings.Builder
	for i := range 5000 {
		members.WriteString(`"` + strconv.Itoa(i) + `":0,`)
	}
	for _, c := range []struct {
		model int
		ok    bool
	}{{10, true}, {100_000, false}} {
		body := `{"model":"` + strings.Repeat("m", c.model) + `","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant",` + members.String() + `"content":"a"}}]}`
		z, err := answer.Freeze(Chat.Answers, "application/json", []byte(body))
		if err != nil || !answer.Judge(Chat.Answers, false, []byte(body)).Keep {
			t.Fatal("not kept: ", err)
		}
		out, _, err := z.Replay(nil, answer.ReplayOptions{Stream: true})
		if (err == nil) != c.ok || len(out) > 64<<10+33*len(body) {
			t.Errorf("a model of %d bytes: a stream of %d bytes for %d, %v", c.model, len(out), len(body), err)
		}
	}
}
