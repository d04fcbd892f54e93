package answer

import (
	"errors"
	"strings"

	"github.com/tidwall/gjson"

	"reprise/proxy/canon"
)

// Reasons of a Verdict not to keep an answer.
const (
	ReasonLength        = "length"         // cut by the token limit
	ReasonContentFilter = "content-filter" // cut or replaced by a filter
	ReasonRefusal       = "refusal"        // the model declined
	ReasonEmpty         = "empty"          // no text and no tool call
	ReasonToolCalls     = "tool-calls"     // complete, but calls tools: kept only where that is allowed
	ReasonIncomplete    = "incomplete"     // no terminal event, or no terminal finish reason
	ReasonError         = "error"          // an error object or event
	ReasonMalformed     = "malformed"      // not an answer of its family
	ReasonStatus        = "status"         // for the caller, who knows the HTTP status
)

// Usage is the tokens of an answer as the upstream counted them.
type Usage struct {
	Input, Output int64
}

// Verdict tells whether an answer is worth keeping. The fields after Reason are filled in for every answer that could be
// read to its end, kept or not.
type Verdict struct {
	Keep bool
	// Reason is why not. With ReasonToolCalls the tool calls are the only objection.
	Reason    string
	Text      string // the answer's text, as a client would repeat it in its next request
	ToolCalls bool
	Usage     Usage
}

// Judge reads a whole answer, with stream as an event stream. To be kept, a chat or completions answer needs a choice,
// with finish reason stop, or that of a tool call, in every one; a Responses answer the status completed; neither may hold a refusal or be blank;
// a stream needs its terminal event too. An embeddings answer needs vectors.
func Judge(f canon.Family, stream bool, body []byte) Verdict {
	r, err := finished(f, stream, body)
	switch {
	case errors.Is(err, errReported):
		return Verdict{Reason: ReasonError}
	case errors.Is(err, ErrIncomplete):
		return Verdict{Reason: ReasonIncomplete}
	case err != nil:
		return Verdict{Reason: ReasonMalformed}
	}
	v := Verdict{Usage: usageOf(r.Get("usage"))}
	if reported(r) {
		v.Reason = ReasonError
		return v
	}
	switch f {
	case canon.Responses:
		v.judgeResponse(r)
	case canon.Embeddings:
		v.judgeEmbeddings(r)
	default:
		v.judgeChoices(r)
	}
	v.Keep = v.Reason == ""
	return v
}

// finished returns the finished answer: the body itself, or what its stream comes to.
func finished(f canon.Family, stream bool, body []byte) (gjson.Result, error) {
	switch {
	case !stream:
		return parse(body)
	case f == canon.Responses:
		return lastResponse(body)
	case f == canon.Embeddings:
		return gjson.Result{}, ErrMalformed
	}
	m, err := mergeStream(body)
	if err != nil {
		return gjson.Result{}, err
	}
	return parse(m.object(f))
}

// reject records a reason. The first one stays, but for tool calls: those may be allowed, and then what else there is counts.
func (v *Verdict) reject(reason string) {
	if v.Reason == "" || v.Reason == ReasonToolCalls && reason != "" {
		v.Reason = reason
	}
}

func (v *Verdict) judgeChoices(r gjson.Result) {
	choices := r.Get("choices")
	if !choices.IsArray() {
		v.reject(ReasonMalformed)
		return
	}
	for i, c := range choices.Array() {
		message := c.Get("message")
		body := messageText(message.Get("content"))
		if t := c.Get("text"); t.Type == gjson.String {
			body = t.Str
		}
		if i == 0 {
			v.Text = body
		}
		finish := c.Get("finish_reason")
		v.reject(finishObjection(finish))
		v.judgePart(body, message.Get("refusal").String(), callsTools(message, finish.String()))
	}
	if len(choices.Array()) == 0 {
		v.reject(ReasonEmpty)
	}
}

// judgePart objects to what one choice, or the whole of a response, says.
func (v *Verdict) judgePart(text, refusal string, calls bool) {
	switch {
	case refusal != "":
		v.reject(ReasonRefusal)
	case calls:
		v.ToolCalls = true
		v.reject(ReasonToolCalls)
	case strings.TrimSpace(text) == "":
		v.reject(ReasonEmpty)
	}
}

// callsTools believes the finish reason too: an answer that ends for a call nobody can see is no good answer in words.
func callsTools(message gjson.Result, finish string) bool {
	return len(message.Get("tool_calls").Array()) > 0 || message.Get("function_call").IsObject() ||
		finish == "tool_calls" || finish == "function_call"
}

// finishObjection names what speaks against a finish reason. One that is not known is no proof of completeness.
func finishObjection(reason gjson.Result) string {
	switch reason.String() {
	case "stop", "tool_calls", "function_call":
		return ""
	case "length", "max_tokens":
		return ReasonLength
	case "content_filter":
		return ReasonContentFilter
	case "error":
		return ReasonError
	}
	return ReasonIncomplete
}

// messageText is the text of a message's content: a string, or the text parts of an array.
func messageText(content gjson.Result) string {
	if content.Type == gjson.String {
		return content.Str
	}
	var b strings.Builder
	for _, part := range content.Array() {
		if t := part.Get("text"); t.Type == gjson.String {
			b.WriteString(t.Str)
		}
	}
	return b.String()
}

func (v *Verdict) judgeResponse(r gjson.Result) {
	var said, refusal strings.Builder
	calls := false
	for _, item := range r.Get("output").Array() {
		switch item.Get("type").Str {
		case "message":
			said.WriteString(messageText(item.Get("content")))
			for _, part := range item.Get("content").Array() {
				refusal.WriteString(part.Get("refusal").String())
			}
		case "reasoning":
		default: // calls of functions and of the upstream's own tools
			calls = true
		}
	}
	v.Text = said.String()
	v.reject(statusObjection(r))
	v.judgePart(v.Text, refusal.String(), calls)
}

func statusObjection(r gjson.Result) string {
	switch r.Get("status").Str {
	case "completed":
		return ""
	case "failed":
		return ReasonError
	}
	switch r.Get("incomplete_details.reason").Str {
	case "max_output_tokens":
		return ReasonLength
	case "content_filter":
		return ReasonContentFilter
	}
	return ReasonIncomplete
}

func (v *Verdict) judgeEmbeddings(r gjson.Result) {
	data := r.Get("data")
	if !data.IsArray() {
		v.reject(ReasonMalformed)
		return
	}
	for _, d := range data.Array() {
		if e := d.Get("embedding"); e.String() == "" || e.Raw == "[]" {
			v.reject(ReasonEmpty)
		}
	}
	if len(data.Array()) == 0 {
		v.reject(ReasonEmpty)
	}
}

func usageOf(u gjson.Result) Usage {
	count := func(paths ...string) int64 {
		for _, p := range paths {
			if n := u.Get(p); n.Type == gjson.Number {
				return max(0, n.Int())
			}
		}
		return 0
	}
	return Usage{Input: count("prompt_tokens", "input_tokens"), Output: count("completion_tokens", "output_tokens")}
}
