// Package lines is what the two APIs of Ollama have in common: an answer is one object, its stream a line of JSON for each piece, and the
// line with "done":true has the figures.
package lines

import (
	"bytes"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/answer/merge"
	"reprise/proxy/answer/rawjson"
	"reprise/proxy/internal/apierror"
)

// Streams implements [answer.Streams]. Grows are the members whose pieces make the answer, beside its log probabilities; Last is what the
// last line has in place of them.
type Streams struct {
	Grows map[string]bool
	Last  func(dst []byte, k, v gjson.Result) []byte
}

var _ answer.Streams = Streams{}

// Merger returns a merger of lines.
func (s Streams) Merger() answer.Merger { return &merged{Streams: s, top: merge.NewObject()} }

// Mark marks the ids of calls: the answers have no other ids, and their times are texts.
func (Streams) Mark(m *answer.Marker, line gjson.Result) {
	line.ForEach(func(k, v gjson.Result) bool {
		MarkLinks(m, k.Str, v)
		return true
	})
}

// MarkLinks marks the ids of the calls in a message. Older versions give none.
func MarkLinks(m *answer.Marker, name string, v gjson.Result) {
	if name != "message" || !v.IsObject() {
		return
	}
	for _, call := range rawjson.Elements(v.Get("tool_calls")) {
		m.Link(call, "id")
	}
}

// Ended reports whether a stream holds its last line.
func (Streams) Ended(stream []byte) bool {
	return bytes.Contains(stream, []byte(`"done":true`)) || bytes.Contains(stream, []byte(`"done": true`))
}

// Render renders an answer as two lines: all that was said, and the end with the figures.
func (s Streams) Render(object gjson.Result) []byte {
	said, last := []byte{'{'}, []byte{'{'}
	object.ForEach(func(k, v gjson.Result) bool {
		switch {
		case k.Str == "done" || !rawjson.Given(v):
		case s.Grows[k.Str]:
			said = rawjson.AppendMember(said, 1, k.Raw, v.Raw)
			last = s.Last(last, k, v)
		case k.Str == "model" || k.Str == "created_at":
			said = rawjson.AppendMember(said, 1, k.Raw, v.Raw)
			last = rawjson.AppendMember(last, 1, k.Raw, v.Raw)
		default:
			last = rawjson.AppendMember(last, 1, k.Raw, v.Raw)
		}
		return true
	})
	said = rawjson.AppendMember(said, 1, `"done"`, "false")
	last = rawjson.AppendMember(last, 1, `"done"`, "true")
	return append(append(append(said, "}\n"...), last...), "}\n"...)
}

// merged is a stream merged into one answer.
type merged struct {
	Streams
	top *merge.Object
}

func (m *merged) Done() bool                         { return false }
func (m *merged) Varies(gjson.Result) []gjson.Result { return nil }
func (m *merged) Repeat([]gjson.Result)              {}
func (m *merged) Object() (gjson.Result, error)      { return answer.Parse(m.top.Append(nil)) }
func (m *merged) Add(r gjson.Result) (last bool, err error) {
	r.ForEach(func(k, v gjson.Result) bool {
		t := m.top.Member(k.Str, k.Raw)
		if m.Grows[k.Str] {
			t.Add(v)
		} else {
			t.Replace(v)
		}
		last = last || k.Str == "done" && v.Type == gjson.True
		return true
	})
	return last, nil
}

// Judge rejects an answer that has not ended, or not by itself, by what it says and whether it calls tools. Older versions give no reason.
func Judge(r gjson.Result, text string, calls bool) (v answer.Verdict) {
	v.Text = text
	v.Usage = answer.Usage{Input: max(0, r.Get("prompt_eval_count").Int()), Output: max(0, r.Get("eval_count").Int())}
	switch reason := r.Get("done_reason").String(); {
	case r.Get("done").Type != gjson.True:
		v.Reject(answer.ReasonIncomplete)
	case reason == "length":
		v.Reject(answer.ReasonLength)
	case reason != "stop" && reason != "":
		v.Reject(answer.ReasonIncomplete) // "load", "unload": nothing was asked
	}
	v.RejectPart(text, "", calls)
	return v
}

// ErrorBody is an error in the shape of Ollama.
func ErrorBody(e *apierror.Error) []byte {
	return []byte(`{"error":` + rawjson.Quote(e.Message) + "}")
}
