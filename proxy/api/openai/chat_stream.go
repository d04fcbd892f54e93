package openai

import (
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer/rawjson"
)

// appendMessage renders the message that deltas have merged to.
func appendMessage(dst []byte, delta *rawjson.Tree) []byte {
	o := delta.Object()
	if o == nil {
		o = new(rawjson.Object)
	}
	role := o.Member("role", `"role"`)
	if role.Is("null") {
		role.Set(`"assistant"`)
	}
	dst = role.Append(append(dst, `,"message":{"role":`...))
	dst = o.Member("content", `"content"`).Append(append(dst, `,"content":`...))
	if calls := o.Member("tool_calls", `"tool_calls"`); calls.List() != nil {
		dst = calls.List().Append(append(dst, `,"tool_calls":`...), "index")
	} else if !calls.Is("null") {
		dst = calls.Append(append(dst, `,"tool_calls":`...))
	}
	at := len(dst)
	dst = o.Append(dst, "role", "content", "tool_calls")
	if len(dst) == at+len("{}") {
		return append(dst[:at], '}')
	}
	dst[at] = ',' // for the brace
	return dst
}

// deltas renders one choice of an answer as chunks.
type deltas struct {
	c        *chunks
	index    string
	logprobs gjson.Result // null once sent
}

// play renders a choice: its message, then the finish reason and the choice's other members.
func play(c *chunks, choice gjson.Result) {
	d := deltas{c: c, index: strconv.FormatInt(choice.Get("index").Int(), 10), logprobs: choice.Get("logprobs")}
	if message := choice.Get("message"); message.IsObject() {
		d.message(message)
	}
	d.finish(choice)
}

// message renders the role first, with all members that are null, then the reasoning, then the other members in their
// order.
func (d *deltas) message(m gjson.Result) {
	role := []byte(`{"role":"assistant"`)
	if r := m.Get("role"); rawjson.Given(r) {
		role = append([]byte(`{"role":`), r.Raw...)
	}
	m.ForEach(func(k, v gjson.Result) bool {
		if v.Type == gjson.Null {
			role = rawjson.AppendMember(role, 0, k.Raw, "null")
		} else if k.Str == "content" && v.Type == gjson.String {
			role = append(role, `,"content":""`...)
		}
		return true
	})
	d.delta(append(role, '}'), false)
	for _, first := range []bool{true, false} {
		m.ForEach(func(k, v gjson.Result) bool {
			if strings.HasPrefix(k.Str, "reasoning") == first {
				d.member(k, v)
			}
			return true
		})
	}
}

func (d *deltas) member(k, v gjson.Result) {
	switch {
	case k.Str == "role" || v.Type == gjson.Null:
	case k.Str == "tool_calls" && v.IsArray() && !rawjson.Empty(v):
		for i, call := range rawjson.Elements(v) {
			raw := appendIndexed([]byte(`{"tool_calls":[`), strconv.Itoa(i), "", call)
			d.delta(append(raw, "]}"...), false)
		}
	default:
		raw := rawjson.AppendMember([]byte{'{'}, 1, k.Raw, v.Raw)
		d.delta(append(raw, '}'), k.Str == "content" || k.Str == "refusal")
	}
}

// delta sends one delta, with the log probabilities where they belong to it.
func (d *deltas) delta(raw []byte, withLogprobs bool) {
	d.c.choice(`{"index":`, d.index, `,"delta":`, rawjson.View(raw), d.takeLogprobs(withLogprobs), `,"finish_reason":null}`)
}

// finish sends the finish reason and the other members of the choice.
func (d *deltas) finish(choice gjson.Result) {
	d.c.choice(rawjson.View(appendIndexed(nil, d.index, `,"delta":{}`+d.takeLogprobs(true), choice)))
}

// takeLogprobs is the member of one chunk: the log probabilities if they are not sent yet, or null; nothing where the
// choice has no such member.
func (d *deltas) takeLogprobs(all bool) string {
	switch {
	case !d.logprobs.Exists():
		return ""
	case !all:
		return `,"logprobs":null`
	}
	defer func() { d.logprobs = gjson.Parse("null") }()
	return `,"logprobs":` + d.logprobs.Raw
}

// appendIndexed appends element r of a list with its index and more before its other members.
func appendIndexed(dst []byte, index, more string, r gjson.Result) []byte {
	dst = append(append(append(dst, `{"index":`...), index...), more...)
	rest := rawjson.Edited(r, rawjson.Remove("index"), rawjson.Remove("message"), rawjson.Remove("delta"), rawjson.Remove("logprobs"))
	if len(rest) > len("{}") {
		dst = append(dst, ',')
	}
	return append(dst, rest[1:]...)
}
