package answer

import (
	"errors"
	"strings"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer/rawjson"
)

// Reasons of a Verdict not to keep an answer.
const (
	ReasonLength        = "length"              // cut by the token limit
	ReasonContentFilter = "content-filter"      // cut or replaced by a filter
	ReasonRefusal       = "refusal"             // the model declined
	ReasonEmpty         = "empty"               // no text and no tool call
	ReasonToolCalls     = "tool-calls"          // complete, but calls tools: kept only where that is allowed
	ReasonServerTools   = "server-tools"        // the upstream has used tools of its own, or something that it keeps
	ReasonLiveWeb       = "live-web"            // it names sources of the live web: kept only where that is allowed
	ReasonEncrypted     = "encrypted-reasoning" // it has reasoning that only the upstream can read
	ReasonIncomplete    = "incomplete"          // no terminal event, or no terminal finish reason
	ReasonError         = "error"               // an error object or event
	ReasonMalformed     = "malformed"           // not an answer of its API
	ReasonStatus        = "status"              // used by the caller, which has the HTTP status
)

// Usage is the number of tokens of an answer by the upstream's count.
type Usage struct {
	Input, Output int64
}

// Verdict is whether an answer is worth keeping. The fields after Reason are filled in for every answer that could be read
// to its end, kept or not.
type Verdict struct {
	Keep bool
	// Reason is why not. With ReasonToolCalls the tool calls are the only objection; with ReasonLiveWeb the sources, and tool calls.
	Reason    string
	Text      string // the answer's text, as a client would repeat it in its next request
	ToolCalls bool
	LiveWeb   bool // true with ReasonLiveWeb
	Usage     Usage
}

// Judge reads a whole answer, with stream as an event stream, and decides by its Form whether it is worth keeping. An
// error is not, nor a stream without its terminal event.
func Judge(f *Form, stream bool, body []byte) Verdict {
	r, err := finished(f, stream, body)
	return f.verdict(r, err, nil)
}

// verdict judges a finished answer r to a request, or an answer that could not be read because of err.
func (f *Form) verdict(r gjson.Result, err error, request []byte) Verdict {
	switch {
	case errors.Is(err, ErrReported):
		return Verdict{Reason: ReasonError}
	case errors.Is(err, errIncomplete):
		return Verdict{Reason: ReasonIncomplete}
	case err != nil:
		return Verdict{Reason: ReasonMalformed}
	}
	var of [4]gjson.Result
	rawjson.Members(r, of[:], "error", "type", "object", "usage")
	usage := usageOf(of[3])
	if isError(of[:3]) {
		return Verdict{Reason: ReasonError, Usage: usage}
	}
	v := f.Judge.Judge(r, request)
	v.Keep = v.Reason == ""
	if v.Usage == (Usage{}) {
		v.Usage = usage
	}
	return v
}

// finished returns the finished answer: the body itself, or the object that its stream merges to.
func finished(f *Form, stream bool, body []byte) (gjson.Result, error) {
	switch {
	case !stream:
		return Parse(body)
	case f.Streams == nil:
		return gjson.Result{}, ErrMalformed
	}
	return merge(f, body)
}

// ContentText is the text of a message's content: a string, or the text parts of an array.
func ContentText(content gjson.Result) string {
	if content.Type == gjson.String {
		return content.Str
	}
	var b strings.Builder
	for _, part := range rawjson.Elements(content) {
		if t := part.Get("text"); t.Type == gjson.String {
			b.WriteString(t.Str)
		}
	}
	return b.String()
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
