package enginesim

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"
)

type responseRequest struct {
	sampling
	Input        items           `json:"input"`
	Instructions *string         `json:"instructions"`
	Previous     *string         `json:"previous_response_id"`
	Stream       bool            `json:"stream"`
	Store        *bool           `json:"store"`
	Background   bool            `json:"background"`
	MaxOutput    *int            `json:"max_output_tokens"`
	Metadata     json.RawMessage `json:"metadata"`
	Tools        json.RawMessage `json:"tools"`
	ToolChoice   json.RawMessage `json:"tool_choice"`
	Parallel     *bool           `json:"parallel_tool_calls"`
	Text         json.RawMessage `json:"text"`
	Include      []string        `json:"include"`
	Reasoning    struct {
		Effort *string `json:"effort"`
	} `json:"reasoning"`
}

// thinks reports whether the output begins with an item of reasoning: that of models that reason, and of others that are asked to.
func (q *responseRequest) thinks() bool {
	if effort := q.Reasoning.Effort; effort != nil {
		return *effort != "none"
	}
	return strings.HasPrefix(q.Model, "gpt-5")
}

// items is the input: a text, or a list of messages, calls and their results.
type items []chatMessage

func (in *items) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*in = items{{Role: "user", Content: content{text: text}}}
		return nil
	}
	var list []json.RawMessage
	if json.Unmarshal(b, &list) != nil {
		return badRequest("input", "invalid_type", "Invalid type for 'input': expected a string or a list of items.")
	}
	for _, raw := range list {
		m, err := item(raw)
		if err != nil {
			return err
		}
		*in = append(*in, m)
	}
	return nil
}

// item is one element of the input as a message of a chat. Kinds that a chat does not have become tokens of their bytes.
func item(raw json.RawMessage) (chatMessage, error) {
	var it struct {
		Type    string  `json:"type"`
		ID      string  `json:"id"`
		Sealed  string  `json:"encrypted_content"`
		Role    string  `json:"role"`
		CallID  string  `json:"call_id"`
		Content content `json:"content"`
		Output  content `json:"output"`
	}
	if err := decode(raw, &it); err != nil {
		return chatMessage{}, err
	}
	switch {
	case it.Role != "":
		return chatMessage{Role: it.Role, Content: it.Content}, nil
	case it.Type == "function_call_output":
		return chatMessage{Role: "tool", ToolCallID: it.CallID, Content: it.Output}, nil
	case it.Type == "function_call":
		return chatMessage{Role: "assistant", ToolCalls: raw}, nil
	case it.Type == "item_reference", it.Type == "reasoning" && it.Sealed == "":
		return chatMessage{at: it.ID}, nil
	case it.Type == "reasoning":
		return chatMessage{Role: it.Type}, nil
	case it.Type == "":
		return chatMessage{}, missing("input[].type")
	}
	return chatMessage{Role: it.Type, Content: content{other: blob(canonical(raw))}}, nil
}

func (e *Engine) responses(c *call) error {
	var q responseRequest
	if err := e.parse(c.body, &q); err != nil {
		return err
	}
	turns, err := e.answers.conversation(&q)
	if err != nil {
		return err
	}
	j, err := e.responseJob(&q, turns)
	r, err := c.run(e, j, err)
	if err != nil {
		return err
	}
	defer r.end()
	c.headers(r)
	p := newResponse(c, &q, r)
	p.answers, p.turns = e.answers, turns
	if q.Stream {
		return p.stream()
	}
	if err := r.wait(c.ctx, r.steps()); err != nil {
		return err
	}
	body := marshal(p.finished())
	p.answers.keep(p, body)
	return c.whole(http.StatusOK, "application/json", body)
}

func (e *Engine) responseJob(q *responseRequest, turns []chatMessage) (*job, error) {
	j := &job{model: q.Model, salt: q.salt(), choices: 1}
	j.limit = or(q.MaxOutput, 0)
	j.prompt = appendTokens(j.prompt, canonical(q.Tools))
	if q.Instructions != nil {
		system := chatMessage{Role: "system", Content: content{text: *q.Instructions}}
		system.render(j)
	}
	for i := range turns {
		turns[i].render(j)
	}
	j.prompt = append(j.prompt, answerBegins...)
	if err := cmp.Or(link(turns), e.fits(j)); err != nil {
		return nil, err
	}
	return j, q.choose(j)
}

func (q *responseRequest) validate() error {
	switch {
	case len(q.Input) == 0:
		return missing("input")
	case or(q.MaxOutput, 1) < 1:
		return badRequest("max_output_tokens", "integer_below_min_value", "Invalid 'max_output_tokens': expected a value of at least 1.")
	}
	return q.sampling.validate()
}

// choose decides between text, JSON and a tool call.
func (q *responseRequest) choose(j *job) error {
	var tools []toolSpec
	if len(q.Tools) > 0 && json.Unmarshal(q.Tools, &tools) != nil {
		return badRequest("tools", "invalid_type", "Invalid type for 'tools': expected a list of functions.")
	}
	var text struct {
		Format *format `json:"format"`
	}
	if len(q.Text) > 0 && json.Unmarshal(q.Text, &text) != nil {
		return badRequest("text", "invalid_type", "Invalid type for 'text': expected an object.")
	}
	return q.settle(j, tools, q.ToolChoice, text.Format)
}
