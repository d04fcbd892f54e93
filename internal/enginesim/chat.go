package enginesim

import (
	"cmp"
	"encoding/json"
	"strconv"
)

const (
	fingerprint = "fp_sim16"
	serviceTier = "default"
)

type chatRequest struct {
	sampling
	Messages      []chatMessage   `json:"messages"`
	Stream        bool            `json:"stream"`
	StreamOptions streamOptions   `json:"stream_options"`
	N             *int            `json:"n"`
	MaxTokens     *int            `json:"max_tokens"`
	MaxCompletion *int            `json:"max_completion_tokens"`
	Stop          stops           `json:"stop"`
	Tools         json.RawMessage `json:"tools"`
	ToolChoice    json.RawMessage `json:"tool_choice"`
	Format        *format         `json:"response_format"`
	Logprobs      bool            `json:"logprobs"`
	TopLogprobs   int             `json:"top_logprobs"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type chatMessage struct {
	Role       string          `json:"role"`
	Name       string          `json:"name"`
	Content    content         `json:"content"`
	ToolCalls  json.RawMessage `json:"tool_calls"`
	ToolCallID string          `json:"tool_call_id"`

	at string // the id of an item that the server holds, of which this is no more than the name; "": none
}

func (e *Engine) chat(c *call) error {
	var q chatRequest
	if err := e.parse(c.body, &q); err != nil {
		return err
	}
	j, err := e.chatJob(&q)
	r, err := c.run(e, j, err)
	if err != nil {
		return err
	}
	defer r.end()
	c.headers(r)
	if q.Stream {
		return c.streamChat(&q, r)
	}
	if err := r.wait(c.ctx, r.steps()); err != nil {
		return err
	}
	return c.json(c.chatBody(&q, r))
}

// chatJob makes the job of a request.
func (e *Engine) chatJob(q *chatRequest) (*job, error) {
	j := &job{model: q.Model, salt: q.salt(), stop: q.Stop, choices: or(q.N, 1)}
	j.limit = or(q.MaxCompletion, or(q.MaxTokens, 0))
	j.prompt = appendTokens(j.prompt, canonical(q.Tools))
	for i := range q.Messages {
		q.Messages[i].render(j)
	}
	j.prompt = append(j.prompt, answerBegins...)
	if err := cmp.Or(link(q.Messages), e.fits(j)); err != nil {
		return nil, err
	}
	return j, q.choose(j)
}

func (q *chatRequest) validate() error {
	switch {
	case len(q.Messages) == 0:
		return missing("messages")
	case or(q.N, 1) < 1 || or(q.N, 1) > 128:
		return badRequest("n", "integer_out_of_range", "Invalid 'n': expected a value from 1 to 128.")
	case or(q.MaxTokens, 1) < 1 || or(q.MaxCompletion, 1) < 1:
		return badRequest("max_tokens", "integer_below_min_value", "Invalid 'max_tokens': expected a value of at least 1.")
	case q.TopLogprobs < 0 || q.TopLogprobs > 20 || (q.TopLogprobs > 0 && !q.Logprobs):
		return badRequest("top_logprobs", "", "Invalid 'top_logprobs': expected a value from 0 to 20, with 'logprobs'.")
	}
	for i, m := range q.Messages {
		if m.Role == "" {
			return missing("messages[" + strconv.Itoa(i) + "].role")
		}
	}
	return q.sampling.validate()
}

// render appends a message as a chat template does. Each message is cut into tokens by itself, so that the next prompt of a
// conversation begins with the tokens of this prompt and its answer.
func (m *chatMessage) render(j *job) {
	j.prompt = appendTokens(j.prompt, "<|"+m.Role+"|>")
	if m.Name != "" {
		j.prompt = appendTokens(j.prompt, m.Name)
	}
	j.prompt = appendTokens(j.prompt, m.Content.text)
	j.prompt = append(j.prompt, m.Content.other...)
	j.prompt = appendTokens(j.prompt, withoutIDs(m.ToolCalls))
	j.prompt = append(j.prompt, endOfTurn)
	j.turns = append(j.turns, turn{m.Role, m.Content.text})
	if m.Role == "user" {
		j.asked = m.Content.text
	}
}

var (
	endOfTurn    = tokenOf("<|end|>")
	answerBegins = appendTokens(nil, "<|assistant|>")
)

// choose decides between text, JSON and a tool call.
func (q *chatRequest) choose(j *job) error {
	var listed []struct {
		Function toolSpec `json:"function"`
	}
	if len(q.Tools) > 0 && json.Unmarshal(q.Tools, &listed) != nil {
		return badRequest("tools", "invalid_type", "Invalid type for 'tools': expected a list of functions.")
	}
	tools := make([]toolSpec, len(listed))
	for i, t := range listed {
		tools[i] = t.Function
	}
	return q.settle(j, tools, q.ToolChoice, q.Format)
}

type chatBody struct {
	ID          string       `json:"id"`
	Object      string       `json:"object"`
	Created     int64        `json:"created"`
	Model       string       `json:"model"`
	Choices     []chatChoice `json:"choices"`
	Usage       any          `json:"usage,omitempty"` // omitted, null, or *usage
	ServiceTier string       `json:"service_tier"`
	Fingerprint string       `json:"system_fingerprint"`
}

type chatChoice struct {
	Index    int       `json:"index"`
	Message  *chatMsg  `json:"message,omitempty"`
	Delta    *chatMsg  `json:"delta,omitempty"`
	Logprobs *struct{} `json:"logprobs"`
	Finish   *string   `json:"finish_reason"`
}

// chatMsg is a message or a delta. A field that is nil is omitted; null is null.
type chatMsg struct {
	Role      string     `json:"role,omitempty"`
	Content   any        `json:"content,omitempty"`
	Refusal   any        `json:"refusal,omitempty"`
	ToolCalls []toolCall `json:"tool_calls,omitempty"`
	Notes     []struct{} `json:"annotations,omitzero"`
}

var null any = (*struct{})(nil)

type toolCall struct {
	Index    *int         `json:"index,omitempty"` // in a delta only
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function toolFunction `json:"function"`
}

type toolFunction struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

func (c *call) chatHead(q *chatRequest, object string) chatBody {
	return chatBody{ID: c.name("chatcmpl-"), Object: object, Created: c.now.Unix(), Model: q.Model, ServiceTier: serviceTier, Fingerprint: fingerprint}
}

func (c *call) chatBody(q *chatRequest, r *run) chatBody {
	b := c.chatHead(q, "chat.completion")
	if !c.fault.NoUsage {
		b.Usage = r.usage()
	}
	for i := range r.choices {
		ch := &r.choices[i]
		b.Choices = append(b.Choices, chatChoice{Index: i, Message: ch.message(c.callID(i)), Finish: &ch.finish})
	}
	return b
}

// alsoID is added to the id of a call for one that is made at once with it.
const alsoID = "b"

func (c *call) callID(choice int) string { return c.name("call_" + strconv.Itoa(choice)) }

func (ch *choice) message(callID string) *chatMsg {
	m := &chatMsg{Role: "assistant", Content: null, Refusal: null, Notes: []struct{}{}}
	switch {
	case ch.tool != "":
		m.ToolCalls = []toolCall{{ID: callID, Type: "function", Function: toolFunction{ch.tool, ch.text()}}}
		if ch.also != "" {
			m.ToolCalls = append(m.ToolCalls, toolCall{ID: callID + alsoID, Type: "function", Function: toolFunction{ch.also, ch.args}})
		}
	case ch.refusal:
		m.Refusal = ch.text()
	default:
		m.Content = ch.text()
	}
	return m
}
