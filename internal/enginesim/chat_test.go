package enginesim

import (
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// chatWith is a chat request of one user turn with more fields.
func chatWith(more string) string {
	return `{"model":"gpt-4o","messages":[{"role":"user","content":"Tell me of birds."}]` + more + `}`
}

func TestChatFields(t *testing.T) {
	e := New(Options{})
	tests := []struct{ name, more, want string }{
		{"limit", `,"max_tokens":5`, `"finish_reason":"length"`},
		{"newer limit", `,"max_completion_tokens":5,"max_tokens":100`, `"completion_tokens":5,`},
		{"choices", `,"n":3`, `{"index":2,"message":`},
		{"no logprobs", ``, `"logprobs":null`},
		{"object", `,"response_format":{"type":"json_object"}`, `"content":"{\"answer\":`},
		{"tier and fingerprint", ``, `"service_tier":"default","system_fingerprint":"fp_sim16"`},
		{"named tool", `,"tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"g"}}],"tool_choice":{"type":"function","function":{"name":"g"}}`, `"function":{"name":"g",`},
		{"no tool", `,"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"none"`, `"finish_reason":"stop"`},
		{"streamed usage", `,"stream":true,"stream_options":{"include_usage":true}`, `"choices":[],"usage":{"prompt_tokens":`},
		{"null usage before", `,"stream":true,"stream_options":{"include_usage":true}`, `"finish_reason":"stop"}],"usage":null`},
		{"streamed without usage", `,"stream":true`, `"finish_reason":"stop"}],"service_tier"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, body := answerTo(e, "POST", "/v1/chat/completions", chatWith(tt.more))
			if status != 200 || !strings.Contains(body, tt.want) {
				t.Errorf("want %s in %d %s", tt.want, status, body)
			}
		})
	}
}

func TestStop(t *testing.T) {
	e := New(Options{})
	whole := chatText(t, e, chatWith(``))
	before, _, _ := strings.Cut(whole, " with")
	for stop, want := range map[string]string{`" with"`: before, `["nothing like it"," with"]`: before, `"nothing like it"`: whole, `null`: whole} {
		if got := chatText(t, e, chatWith(`,"stop":`+stop)); got != want || before == whole {
			t.Errorf("stop %s: %q, want %q", stop, got, want)
		}
	}
}

func TestRefusedRequests(t *testing.T) {
	e := New(Options{})
	tests := []struct {
		path, body string
		status     int
		want       string
	}{
		{"/v1/chat/completions", `{`, 400, "could not parse"},
		{"/v1/chat/completions", `{"messages":[]}`, 400, `"param":"model"`},
		{"/v1/chat/completions", `{"model":"gpt-4o","messages":[]}`, 400, `"param":"messages"`},
		{"/v1/chat/completions", `{"model":"gpt-4o","messages":[{}]}`, 400, `messages[0].role`},
		{"/v1/chat/completions", `{"model":"gpt-4o","messages":"x"}`, 400, `"invalid_type"`},
		{"/v1/chat/completions", `{"model":"gpt-4o","messages":[{"role":"user","content":5}]}`, 400, `'content'`},
		{"/v1/chat/completions", chatWith(`,"temperature":3`), 400, `"temperature"`},
		{"/v1/chat/completions", chatWith(`,"n":0`), 400, `"n"`},
		{"/v1/chat/completions", chatWith(`,"max_tokens":0`), 400, `"max_tokens"`},
		{"/v1/chat/completions", chatWith(`,"stop":["a","b","c","d","e"]`), 400, `"stop"`},
		{"/v1/chat/completions", chatWith(`,"cache_salt":""`), 400, `"cache_salt"`},
		{"/v1/chat/completions", chatWith(`,"tool_choice":"required"`), 400, `"tool_choice"`},
		{"/v1/chat/completions", chatWith(`,"response_format":{"type":"xml"}`), 400, `"response_format.type"`},
		{"/v1/completions", `{"model":"gpt-4o"}`, 400, `"prompt"`},
		{"/v1/completions", `{"model":"x","prompt":"p"}`, 404, `"model_not_found"`},
		{"/v1/responses", `{"model":"gpt-4o"}`, 400, `"input"`},
		{"/v1/responses", `{"model":"gpt-4o","input":"x","previous_response_id":"r"}`, 400, `"previous_response_not_found"`},
		{"/v1/responses", `{"model":"gpt-4o","input":[{"content":"x"}]}`, 400, `input[].type`},
		{"/v1/embeddings", `{"model":"gpt-4o","input":[]}`, 400, `"input"`},
		{"/v1/embeddings", `{"model":"gpt-4o","input":"a","dimensions":0}`, 400, `dimensions`},
		{"/v2/chat", `{}`, 404, `Invalid URL (POST /v2/chat)`},
	}
	for _, tt := range tests {
		status, body := answerTo(e, "POST", tt.path, tt.body)
		if status != tt.status || !strings.Contains(body, tt.want) || !strings.HasPrefix(body, `{"error":{"message":`) {
			t.Errorf("%s %s: %d %s, want %d %s", tt.path, tt.body, status, body, tt.status, tt.want)
		}
	}
}

// TestToolLoop: a model that is asked to call a tool 3 times does so after each result, whatever the ids of the calls, and then answers.
func TestToolLoop(t *testing.T) {
	const tools = `,"tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"g"}}]`
	e, turns := New(Options{}), `{"role":"user","content":"Please call tool 3 times."}`
	called := func(id, name string) string {
		return `,{"role":"assistant","tool_calls":[{"id":"` + id + `","type":"function","function":{"name":"` + name + `","arguments":"{}"}}]},{"role":"tool","tool_call_id":"` + id + `","content":"done"}`
	}
	var names []string
	for _, id := range []string{"a", "b", "c"} {
		_, body := answerTo(e, "POST", "/v1/chat/completions", `{"model":"gpt-4o","messages":[`+turns+`]`+tools+`}`)
		_, name, _ := strings.Cut(body, `"function":{"name":"`)
		name, _, _ = strings.Cut(name, `"`)
		names = append(names, name)
		turns += called(id, name)
	}
	if all := strings.Join(names, " "); all != "f g f" && all != "g f g" {
		t.Errorf("calls %q", names)
	}
	text := chatText(t, e, `{"model":"gpt-4o","messages":[`+turns+`]`+tools+`}`)
	if text == "" {
		t.Error("no text in the end")
	}
	if other := chatText(t, e, `{"model":"gpt-4o","messages":[`+strings.ReplaceAll(turns, `id":"`, `id":"x`)+`]`+tools+`}`); other != text {
		t.Errorf("with other ids %q, not %q", other, text)
	}
	broken := strings.Replace(turns, `"tool_call_id":"b"`, `"tool_call_id":"z"`, 1)
	if status, body := answerTo(e, "POST", "/v1/chat/completions", `{"model":"gpt-4o","messages":[`+broken+`]`+tools+`}`); status != 400 || !strings.Contains(body, "with id 'z'") {
		t.Errorf("the result of a call that was not made: %d %s", status, body)
	}
}

// TestCallsAtOnce: each API calls two tools in one answer, also in a stream.
func TestCallsAtOnce(t *testing.T) {
	e := New(Options{Models: []string{AnyModel}})
	for path, body := range map[string]string{
		"/v1/chat/completions": `{"model":"m","messages":[{"role":"user","content":"Call tools."}],"tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"g"}}]`,
		"/v1/responses":        `{"model":"m","input":"Call tools.","tools":[{"type":"function","name":"f"},{"type":"function","name":"g"}]`,
		"/v1/messages":         `{"model":"m","max_tokens":100,"messages":[{"role":"user","content":"Call tools."}],"tools":[{"name":"f","input_schema":{}},{"name":"g","input_schema":{}}]`,
	} {
		for _, end := range []string{`}`, `,"stream":true}`} {
			_, answer := answerTo(e, "POST", path, body+end)
			ids := map[string]bool{}
			for _, found := range regexp.MustCompile(`"(?:call_id|id)":"((?:call|toolu)_\w+)"`).FindAllStringSubmatch(answer, -1) {
				ids[found[1]] = true
			}
			if len(ids) != 2 || !strings.Contains(answer, `"name":"f"`) || !strings.Contains(answer, `"name":"g"`) {
				t.Errorf("%s: calls %v in %s", path, ids, answer)
			}
		}
	}
}

func TestContext(t *testing.T) {
	e := New(Options{Context: 50})
	long := strings.Repeat("word ", 100)
	for path, body := range map[string]string{
		"/v1/chat/completions": `{"model":"gpt-4o","messages":[{"role":"user","content":"` + long + `"}]}`,
		"/v1/responses":        `{"model":"gpt-4o","input":"` + long + `"}`,
	} {
		if status, answer := answerTo(e, "POST", path, body); status != 400 || !strings.Contains(answer, `"code":"context_length_exceeded"`) {
			t.Errorf("%s: %d %s", path, status, answer)
		}
	}
}

// TestReferences: each item of an answer may be named in its place in a later request.
func TestReferences(t *testing.T) {
	e := New(Options{Models: []string{AnyModel}})
	_, answer := answerTo(e, "POST", "/v1/responses", `{"model":"gpt-5","input":"Call tools.","tools":[{"type":"function","name":"f"},{"type":"function","name":"g"}]}`)
	var response struct {
		Output []struct {
			ID     string
			CallID string `json:"call_id"`
		}
	}
	if err := json.Unmarshal([]byte(answer), &response); err != nil {
		t.Fatal(err)
	}
	var named, results string
	for _, item := range response.Output {
		named += `,{"type":"item_reference","id":"` + item.ID + `"}`
		if item.CallID != "" {
			results += `,{"type":"function_call_output","call_id":"` + item.CallID + `","output":"done"}`
		}
	}
	body := `{"model":"gpt-5","input":[{"role":"user","content":"Call tools."}` + named + results + `]}`
	if status, answer := answerTo(e, "POST", "/v1/responses", body); status != 200 || len(response.Output) != 3 {
		t.Errorf("%s: %d %s", body, status, answer)
	}
}

func TestResponsesThatAreNotStored(t *testing.T) {
	e := New(Options{})
	_, body := answerTo(e, "POST", "/v1/responses", `{"model":"gpt-4o","input":"x","store":false}`)
	var got struct{ ID string }
	if err := json.Unmarshal([]byte(body), &got); err != nil || got.ID == "" {
		t.Fatalf("%s: %v", body, err)
	}
	if status, body := answerTo(e, "GET", "/v1/responses/"+got.ID, ""); status != 404 {
		t.Errorf("found again: %s", body)
	}
}

func TestFill(t *testing.T) {
	tests := []struct{ schema, want string }{
		{`{"const":7}`, `7`},
		{`{"enum":["x"]}`, `"x"`},
		{`{"type":"null"}`, `null`},
		{`{"type":["null","array"],"items":{"const":1}}`, `[1]`},
		{`{"anyOf":[{"const":"a"},{"const":"b"}]}`, `"a"`},
		{`{"properties":{"a":{"const":1},"b":{"const":2}},"required":["b"]}`, `{"b":2}`},
		{`{"$ref":"#/$defs/x","$defs":{"x":{"const":true}}}`, `true`},
		{`{"$ref":"#/$defs/x","$defs":{"x":{"type":"object","properties":{"next":{"$ref":"#/$defs/x"}},"required":["next"]}}}`, `{"next":`},
	}
	for _, tt := range tests {
		var schema map[string]any
		if err := json.Unmarshal([]byte(tt.schema), &schema); err != nil {
			t.Fatal(err)
		}
		if got := compact(fill(rand.New(rand.NewPCG(1, 2)), schema)); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %s, want %s", tt.schema, got, tt.want)
		}
	}
}
