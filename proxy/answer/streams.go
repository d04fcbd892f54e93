package answer

import (
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// chunks renders an answer as the chunks of a stream.
type chunks struct {
	dst   []byte
	base  []byte // members that every chunk begins with
	extra []byte // members that only the first has
	usage string
}

// newChunks takes the members of answer r. What is not known to be in every chunk goes into the first.
func newChunks(r gjson.Result, kind string) *chunks {
	c := &chunks{}
	r.ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "choices":
		case "usage":
			if given(v) {
				c.usage = v.Raw
			}
		case "object":
			c.base = appendMember(c.base, 0, k.Raw, kind)
		case "id", "created", "model", "system_fingerprint", "service_tier":
			c.base = appendMember(c.base, 0, k.Raw, v.Raw)
		default:
			c.extra = appendMember(c.extra, 0, k.Raw, v.Raw)
		}
		return true
	})
	if !r.Get("object").Exists() {
		c.base = appendMember(c.base, 0, `"object"`, kind)
	}
	c.base = append(c.base, ',')
	if len(c.extra) > 0 {
		c.extra = append(c.extra, ',')
	}
	return c
}

// open begins a chunk up to its choices.
func (c *chunks) open() {
	c.dst = append(c.dst, "data: {"...)
	c.dst = append(c.dst, c.base...)
	c.dst = append(c.dst, c.extra...)
	c.extra = nil
	c.dst = append(c.dst, `"choices":[`...)
}

// close ends a chunk. Where there is usage to come, every chunk before says that it is null, as with include_usage.
func (c *chunks) close(usage string) {
	c.dst = append(c.dst, ']')
	if c.usage != "" {
		c.dst = append(append(c.dst, `,"usage":`...), usage...)
	}
	c.dst = append(c.dst, "}\n\n"...)
}

func (c *chunks) choice(raw []byte) {
	c.open()
	c.dst = append(c.dst, raw...)
	c.close("null")
}

func (c *chunks) done() []byte {
	if c.usage != "" {
		c.open()
		c.close(c.usage)
	}
	return append(c.dst, "data: [DONE]\n\n"...)
}

// completionStream renders a completions answer: one chunk for each choice.
func completionStream(r gjson.Result) []byte {
	c := newChunks(r, `"text_completion"`)
	for _, choice := range r.Get("choices").Array() {
		c.choice([]byte(choice.Raw))
	}
	return c.done()
}

// chatStream renders a chat answer.
func chatStream(r gjson.Result) []byte {
	c := newChunks(r, `"chat.completion.chunk"`)
	for _, choice := range r.Get("choices").Array() {
		d := deltas{c: c, index: strconv.FormatInt(choice.Get("index").Int(), 10), logprobs: choice.Get("logprobs")}
		d.message(choice.Get("message"))
		d.finish(choice)
	}
	return c.done()
}

// deltas renders one choice of a chat answer.
type deltas struct {
	c        *chunks
	index    string
	logprobs gjson.Result // null once sent
}

// message renders the role first, with all that is null, then how the model reasoned, then the other members in their
// order.
func (d *deltas) message(m gjson.Result) {
	role := []byte(`{"role":"assistant"`)
	if r := m.Get("role"); given(r) {
		role = append([]byte(`{"role":`), r.Raw...)
	}
	m.ForEach(func(k, v gjson.Result) bool {
		if v.Type == gjson.Null {
			role = appendMember(role, 0, k.Raw, "null")
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
	case k.Str == "tool_calls" && v.IsArray():
		for i, call := range v.Array() {
			raw := appendIndexed([]byte(`{"tool_calls":[`), strconv.Itoa(i), "", call)
			d.delta(append(raw, "]}"...), false)
		}
	default:
		raw := appendMember([]byte{'{'}, 1, k.Raw, v.Raw)
		d.delta(append(raw, '}'), k.Str == "content" || k.Str == "refusal")
	}
}

// delta sends one delta, with the log probabilities where they belong to it.
func (d *deltas) delta(raw []byte, withLogprobs bool) {
	d.c.open()
	d.c.dst = append(append(d.c.dst, `{"index":`...), d.index...)
	d.c.dst = append(append(d.c.dst, `,"delta":`...), raw...)
	d.c.dst = append(d.c.dst, d.takeLogprobs(withLogprobs)...)
	d.c.dst = append(d.c.dst, `,"finish_reason":null}`...)
	d.c.close("null")
}

// finish sends the finish reason and what else the choice says.
func (d *deltas) finish(choice gjson.Result) {
	d.c.choice(appendIndexed(nil, d.index, `,"delta":{}`+d.takeLogprobs(true), choice))
}

// takeLogprobs is the member of one chunk: what is still to be sent, or null; nothing where the choice has no such member.
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
	rest := appendEdited(nil, r, edit{"index", ""}, edit{"message", ""}, edit{"delta", ""}, edit{"logprobs", ""})
	if len(rest) > len("{}") {
		dst = append(dst, ',')
	}
	return append(dst, rest[1:]...)
}
