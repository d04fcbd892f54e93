package enginesim

import (
	"encoding/json"
	"slices"
)

// response is the answer to one request in progress.
type response struct {
	*call
	q      *responseRequest
	run    *run
	choice *choice
	head   responseBody

	answers *answers      // keep it once it is finished
	turns   []chatMessage // the conversation before it
}

type responseBody struct {
	ID           string          `json:"id"`
	Object       string          `json:"object"`
	Created      int64           `json:"created_at"`
	Status       string          `json:"status"`
	Background   bool            `json:"background"`
	Error        *responseError  `json:"error"`
	Incomplete   *incomplete     `json:"incomplete_details"`
	Instructions *string         `json:"instructions"`
	MaxOutput    *int            `json:"max_output_tokens"`
	Model        string          `json:"model"`
	Output       []responseItem  `json:"output"`
	Parallel     bool            `json:"parallel_tool_calls"`
	Previous     *string         `json:"previous_response_id"`
	Reasoning    map[string]*int `json:"reasoning"`
	ServiceTier  string          `json:"service_tier"`
	Store        bool            `json:"store"`
	Temperature  float64         `json:"temperature"`
	Text         json.RawMessage `json:"text"`
	ToolChoice   json.RawMessage `json:"tool_choice"`
	Tools        json.RawMessage `json:"tools"`
	TopP         float64         `json:"top_p"`
	Truncation   string          `json:"truncation"`
	Usage        *responseUsage  `json:"usage"`
	Metadata     json.RawMessage `json:"metadata"`
}

type responseError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type incomplete struct {
	Reason string `json:"reason"`
}

type responseUsage struct {
	Input         int            `json:"input_tokens"`
	InputDetails  map[string]int `json:"input_tokens_details"`
	Output        int            `json:"output_tokens"`
	OutputDetails map[string]int `json:"output_tokens_details"`
	Total         int            `json:"total_tokens"`
}

// responseItem is a message, a function call or reasoning; the fields of the other kinds are omitted.
type responseItem struct {
	ID        string         `json:"id"`
	Type      string         `json:"type"`
	Status    string         `json:"status,omitempty"`
	Role      string         `json:"role,omitempty"`
	Content   []responsePart `json:"content,omitzero"`
	Name      string         `json:"name,omitempty"`
	CallID    string         `json:"call_id,omitempty"`
	Arguments *string        `json:"arguments,omitempty"`
	Summary   []struct{}     `json:"summary,omitzero"`
	Sealed    string         `json:"encrypted_content,omitempty"`
}

// responsePart is output_text or refusal.
type responsePart struct {
	Type        string     `json:"type"`
	Text        *string    `json:"text,omitempty"`
	Annotations []struct{} `json:"annotations,omitzero"`
	Logprobs    []struct{} `json:"logprobs,omitzero"`
	Refusal     *string    `json:"refusal,omitempty"`
}

func newResponse(c *call, q *responseRequest, r *run) *response {
	return &response{call: c, q: q, run: r, choice: &r.choices[0], head: responseBody{
		ID: c.name("resp_"), Object: "response", Created: c.now.Unix(), Status: "in_progress", Background: q.Background,
		Instructions: q.Instructions, MaxOutput: q.MaxOutput, Model: q.Model, Output: []responseItem{},
		Parallel: or(q.Parallel, true), Previous: q.Previous, Reasoning: map[string]*int{"effort": nil, "summary": nil},
		ServiceTier: serviceTier, Store: or(q.Store, true), Temperature: or(q.Temperature, 1), TopP: or(q.TopP, 1),
		Text: given(q.Text, `{"format":{"type":"text"}}`), ToolChoice: given(q.ToolChoice, `"auto"`), Tools: given(q.Tools, `[]`),
		Truncation: "disabled", Metadata: given(q.Metadata, `{}`),
	}}
}

func marshal(v any) json.RawMessage {
	b, _ := json.Marshal(v) // called with plain structs only
	return b
}

func given(raw json.RawMessage, otherwise string) json.RawMessage {
	if len(raw) == 0 || string(raw) == "null" {
		return json.RawMessage(otherwise)
	}
	return raw
}

// finished is the body at the end.
func (p *response) finished() *responseBody {
	b := p.head
	b.Status = "completed"
	switch p.choice.finish {
	case "length":
		b.Status, b.Incomplete = "incomplete", &incomplete{"max_output_tokens"}
	case "content_filter":
		b.Status, b.Incomplete = "incomplete", &incomplete{"content_filter"}
	}
	b.Output = []responseItem{}
	if p.q.thinks() {
		b.Output = append(b.Output, p.thought())
	}
	b.Output = append(b.Output, p.item(b.Status))
	if p.choice.also != "" {
		b.Output = append(b.Output, p.also(b.Status, p.choice.args))
	}
	if !p.fault.NoUsage {
		u := p.run.usage()
		b.Usage = &responseUsage{u.Prompt, map[string]int{"cached_tokens": u.Details.Cached}, u.Completion, map[string]int{"reasoning_tokens": 0}, u.Total}
	}
	return &b
}

// failed is the body of an answer that failed midway.
func (p *response) failed() *responseBody {
	b := p.head
	b.Status, b.Error = "failed", &responseError{"server_error", faultError(500).Message}
	return &b
}

func (p *response) itemID() string {
	if p.choice.tool != "" {
		return p.name("fc_")
	}
	return p.name("msg_")
}

// item is the message or the first call of the output, complete, or empty while it is in progress.
func (p *response) item(status string) responseItem {
	text := ""
	if status != "in_progress" {
		text = p.choice.text()
	}
	it := responseItem{ID: p.itemID(), Status: status}
	if p.choice.tool != "" {
		it.Type, it.Name, it.CallID, it.Arguments = "function_call", p.choice.tool, p.callID(0), &text
		return it
	}
	it.Type, it.Role, it.Content = "message", "assistant", []responsePart{}
	if status != "in_progress" {
		it.Content = append(it.Content, p.part(text))
	}
	return it
}

// thought is the item of reasoning. What was thought stays at the server, or is sealed for a client that asks for it.
func (p *response) thought() responseItem {
	it := responseItem{ID: p.name("rs_"), Type: "reasoning", Summary: []struct{}{}}
	if slices.Contains(p.q.Include, "reasoning.encrypted_content") {
		it.Sealed = "sealed-" + it.ID
	}
	return it
}

// also is the call of another function.
func (p *response) also(status, args string) responseItem {
	return responseItem{ID: p.itemID() + alsoID, Type: "function_call", Status: status, Name: p.choice.also, CallID: p.callID(0) + alsoID, Arguments: &args}
}

func (p *response) part(text string) responsePart {
	if p.choice.refusal {
		return responsePart{Type: "refusal", Refusal: &text}
	}
	return responsePart{Type: "output_text", Text: &text, Annotations: []struct{}{}, Logprobs: []struct{}{}}
}
