package ollama

import (
	"bytes"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/answer/rawjson"
	"reprise/proxy/internal/apierror"
)

// lines implements [answer.Streams] for both APIs: a stream is a line of JSON for each piece of the answer, and the line with "done":true has
// the figures.
type lines struct {
	grows map[string]bool // the members whose pieces make the answer
}

var _ answer.Streams = lines{}

// Merger returns a merger of lines.
func (s lines) Merger() answer.Merger { return &merged{lines: s, top: rawjson.NewObject()} }

// Mark marks the ids of calls: the answers have no other ids, and their times are texts.
func (lines) Mark(m *answer.Marker, line gjson.Result) {
	line.ForEach(func(k, v gjson.Result) bool {
		calls{}.MarkLinks(m, k.Str, v)
		return true
	})
}

// calls implements [answer.Linker].
type calls struct{}

// MarkLinks marks the ids of the calls in a message. Older versions give none.
func (calls) MarkLinks(m *answer.Marker, name string, v gjson.Result) {
	if name != "message" || !v.IsObject() {
		return
	}
	for _, call := range rawjson.Elements(v.Get("tool_calls")) {
		m.Link(call, "id")
	}
}

// NewLink appends an id of the same shape as original.
func (calls) NewLink(dst []byte, nonce [12]byte, original string) []byte {
	return answer.AppendLink(dst, nonce, original)
}

// Ended reports whether a stream contains its last line.
func (lines) Ended(stream []byte) bool {
	return bytes.Contains(stream, []byte(`"done":true`)) || bytes.Contains(stream, []byte(`"done": true`))
}

// Render renders an answer as two lines: all that was said, and the end with the figures.
func (s lines) Render(object gjson.Result) []byte {
	said, last := []byte{'{'}, []byte{'{'}
	object.ForEach(func(k, v gjson.Result) bool {
		switch {
		case k.Str == "done" || !rawjson.Given(v):
		case s.grows[k.Str]:
			said = rawjson.AppendMember(said, 1, k.Raw, v.Raw)
			last = appendLast(last, k, v)
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
	lines
	top *rawjson.Object
}

func (m *merged) Done() bool                         { return false }
func (m *merged) Varies(gjson.Result) []gjson.Result { return nil }
func (m *merged) Repeat([]gjson.Result)              {}
func (m *merged) Object() (gjson.Result, error)      { return answer.Parse(m.top.Append(nil)) }
func (m *merged) Add(r gjson.Result) (last bool, err error) {
	r.ForEach(func(k, v gjson.Result) bool {
		t := m.top.Member(k.Str, k.Raw)
		if m.grows[k.Str] {
			t.Add(v)
		} else {
			t.Replace(v)
		}
		last = last || k.Str == "done" && v.Type == gjson.True
		return true
	})
	return last, nil
}

// appendLast appends what the last line has in place of a member that grows: an empty text.
func appendLast(dst []byte, k, v gjson.Result) []byte {
	switch k.Str {
	case "response":
		return rawjson.AppendMember(dst, 1, k.Raw, `""`)
	case "message":
		role := v.Get("role").Raw
		if role == "" {
			role = `"assistant"`
		}
		return rawjson.AppendMember(dst, 1, k.Raw, `{"role":`+role+`,"content":""}`)
	}
	return dst
}

// usageOf counts tokens.
func usageOf(r gjson.Result) answer.Usage {
	return answer.Usage{Input: max(0, r.Get("prompt_eval_count").Int()), Output: max(0, r.Get("eval_count").Int())}
}

// ErrorBody renders an error in the shape of Ollama.
func (lines) ErrorBody(e *apierror.Error) []byte {
	return []byte(`{"error":` + rawjson.Quote(e.Message) + "}")
}
