package enginesim

import (
	"encoding/json"
	"strings"
	"testing"
)

// messagesWith is a request of Anthropic's API of one user turn with more fields.
func messagesWith(more string) string {
	return `{"model":"claude-sonnet-5","max_tokens":500,"messages":[{"role":"user","content":"Tell me of birds."}]` + more + `}`
}

const weather = `,"tools":[{"name":"f","input_schema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}}]`

func TestMessagesFields(t *testing.T) {
	e := New(Options{Models: []string{AnyModel}})
	loop := func(id string) string {
		return strings.Replace(messagesWith(weather), `{"role":"user","content":"Tell me of birds."}`, `{"role":"user","content":"Call tool 2 times."},`+
			`{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"f","input":{"a":"x"}}]},`+
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"`+id+`","content":"sunny"}]}`, 1)
	}
	tests := []struct{ name, body, want string }{
		{"text", messagesWith(``), `"content":[{"text":`},
		{"end", messagesWith(``), `"stop_reason":"end_turn","stop_sequence":null`},
		{"limit", strings.Replace(messagesWith(``), "500", "5", 1), `"stop_reason":"max_tokens"`},
		{"stop", messagesWith(`,"stop_sequences":["."]`), `"stop_reason":"stop_sequence","stop_sequence":"."`},
		{"thought", messagesWith(`,"thinking":{"type":"enabled","budget_tokens":1024}`), `"type":"thinking"`},
		{"named tool", messagesWith(weather + `,"tool_choice":{"type":"tool","name":"f"}`), `"name":"f","type":"tool_use"`},
		{"any tool", messagesWith(weather + `,"tool_choice":{"type":"any"}`), `"stop_reason":"tool_use"`},
		{"no tool", messagesWith(weather + `,"tool_choice":{"type":"none"}`), `"stop_reason":"end_turn"`},
		{"the second of two calls", loop("toolu_1"), `"stop_reason":"tool_use"`},
		{"a result of no call", loop("toolu_2"), "unexpected `tool_use_id` found in `tool_result` blocks: toolu_2"},
		{"schema", messagesWith(`,"output_config":{"format":{"type":"json_schema","schema":{"type":"object","properties":{"b":{"type":"integer"}},"required":["b"]}}}`), `"text":"{\"b\":`},
		{"no messages", `{"model":"m","max_tokens":5,"messages":[]}`, `"type":"invalid_request_error"},"request_id":"req_sim`},
		{"a role", `{"model":"m","max_tokens":5,"messages":[{"role":"tool","content":"a"}]}`, `messages.0.role`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, body := answerTo(e, "POST", "/v1/messages", tt.body); !strings.Contains(body, tt.want) {
				t.Errorf("want %s in %s", tt.want, body)
			}
		})
	}
	if _, body := answerTo(e, "POST", "/v1/messages/count_tokens", messagesWith(``)); !strings.HasPrefix(body, `{"input_tokens":`) {
		t.Errorf("count: %s", body)
	}
}

// TestThreads: a request that continues a thread gets the answer of one with the whole conversation.
func TestThreads(t *testing.T) {
	e := New(Options{Models: []string{AnyModel}})
	answer := func(body string) (id, text string, status int) {
		status, got := answerTo(e, "POST", "/v1/messages", body)
		var m struct {
			ID      string
			Content []struct{ Text string }
		}
		if err := json.Unmarshal([]byte(got), &m); err != nil {
			t.Fatal(err)
		}
		if len(m.Content) > 0 {
			text = m.Content[0].Text
		}
		return m.ID, text, status
	}
	id, said, _ := answer(messagesWith(`,"system":"S","thread":{"type":"create"}`))
	turns := `{"role":"user","content":"Tell me of birds."},{"role":"assistant","content":[{"type":"text","text":` + compact(said) + `}]},{"role":"user","content":"And fish?"}`
	_, want, _ := answer(`{"model":"claude-sonnet-5","max_tokens":500,"system":"S","messages":[` + turns + `]}`)
	rest := `{"model":"claude-sonnet-5","max_tokens":500,"messages":[{"role":"user","content":"And fish?"}],"thread":{"type":"continue","previous_message_id":"`
	if _, got, _ := answer(rest + id + `"}}`); got != want || got == "" {
		t.Errorf("%q, want %q", got, want)
	}
	if _, _, status := answer(rest + `msg_0"}}`); status != 404 {
		t.Errorf("status %d for a thread that is not there", status)
	}
}

// TestMessagesStream: the fragments of a stream make the content of the whole answer.
func TestMessagesStream(t *testing.T) {
	for name, more := range map[string]string{"text": `,"thinking":{"type":"enabled","budget_tokens":1024}`, "call": weather + `,"tool_choice":{"type":"any"}`} {
		e := New(Options{Models: []string{AnyModel}})
		_, whole := answerTo(e, "POST", "/v1/messages", messagesWith(more))
		_, stream := answerTo(e, "POST", "/v1/messages", messagesWith(more+`,"stream":true`))
		var want struct {
			Content []struct {
				Text, Thinking string
				Input          json.RawMessage
			}
			StopReason string `json:"stop_reason"`
		}
		if err := json.Unmarshal([]byte(whole), &want); err != nil {
			t.Fatal(err)
		}
		var said, thought, input, reason, last string
		for line := range strings.Lines(stream) {
			var ev struct {
				Type  string
				Delta struct {
					Text, Thinking string
					Partial        string `json:"partial_json"`
					Stop           string `json:"stop_reason"`
				}
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok && json.Unmarshal([]byte(data), &ev) == nil {
				said, thought, input, reason, last = said+ev.Delta.Text, thought+ev.Delta.Thinking, input+ev.Delta.Partial, reason+ev.Delta.Stop, ev.Type
			}
		}
		for _, b := range want.Content {
			said, thought, input = strings.TrimPrefix(said, b.Text), strings.TrimPrefix(thought, b.Thinking), strings.TrimPrefix(input, string(b.Input))
		}
		if said+thought+input != "" || reason != want.StopReason || last != "message_stop" {
			t.Errorf("%s: %q, %q and %q are left, the reason is %s, the last event %s\n%s\n%s", name, said, thought, input, reason, last, whole, stream)
		}
	}
}

func TestMessagesFaults(t *testing.T) {
	e := New(Options{Models: []string{AnyModel}})
	for fault, want := range map[string]string{"status=529": `"type":"overloaded_error"`, "status=401": `"type":"authentication_error"`, "status=500": `"type":"api_error"`,
		"refusal=no": `"stop_reason":"refusal"`, "finish=pause_turn": `"stop_reason":"pause_turn"`} {
		if _, body := answerTo(e, "POST", "/v1/messages", messagesWith(``), FaultHeader, fault); !strings.Contains(body, want) {
			t.Errorf("%s: want %s in %s", fault, want, body)
		}
	}
	for fault, want := range map[string]string{"error-event": "event: error\ndata: {\"error\":{", "no-done": "event: content_block_stop\ndata: {\"index\":0,\"type\":\"content_block_stop\"}\n\n"} {
		_, body := answerTo(e, "POST", "/v1/messages", messagesWith(`,"stream":true`), FaultHeader, fault)
		if at := strings.LastIndex(body, want); at < 0 || strings.Contains(body, "message_stop") {
			t.Errorf("%s: %s", fault, body)
		}
	}
}
