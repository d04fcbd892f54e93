package answer

import (
	"errors"
	"strconv"

	"github.com/tidwall/gjson"

	"reprise/proxy/canon"
)

// errReported tells of a stream in which the upstream reports an error.
var errReported = errors.New("stream reports an error")

// merged is a chat or completions stream merged into one answer.
type merged struct {
	top     *object // members of the chunks but choices and usage: the last that says something
	choices *list
	usage   string
}

// mergeStream merges the chunks of a whole stream. ErrIncomplete without [DONE], errReported where a chunk or event is an
// error, ErrMalformed where a chunk is no JSON object or a choice ends twice in different ways.
func mergeStream(stream []byte) (*merged, error) {
	m := &merged{top: newObject(), choices: &list{at: map[int64]int{}}}
	for es := eventsOf(stream); ; {
		ev, ok := es.Next()
		switch {
		case !ok:
			return nil, ErrIncomplete
		case ev.Data == nil:
			continue
		case isDone(ev.Data):
			return m, nil
		}
		chunk, err := parseEvent(ev)
		if err == nil {
			err = m.chunk(chunk)
		}
		if err != nil {
			return nil, err
		}
	}
}

// parseEvent reads the object that an event carries; errReported where it is an error.
func parseEvent(ev Event) (gjson.Result, error) {
	if ev.Name == "error" {
		return gjson.Result{}, errReported
	}
	r, err := parse(ev.Data)
	if err == nil && reported(r) {
		err = errReported
	}
	return r, err
}

// reported reports whether an object is an error: as OpenAI says it, as a Responses stream does, as older vLLM does.
func reported(r gjson.Result) bool {
	return given(r.Get("error")) || r.Get("type").Str == "error" || r.Get("object").Str == "error"
}

func (m *merged) chunk(r gjson.Result) (err error) {
	r.ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "choices":
			err = m.addChoices(v)
		case "usage":
			if given(v) {
				m.usage = v.Raw
			}
		case "obfuscation": // padding of a chunk's length
		default:
			m.top.value(k.Str, k.Raw).replace(v)
		}
		return err == nil
	})
	return err
}

func (m *merged) addChoices(choices gjson.Result) (err error) {
	choices.ForEach(func(_, c gjson.Result) bool {
		if !c.IsObject() {
			err = ErrMalformed
		} else {
			err = addChoice(m.choices.elem(c.Get("index").Int()), c)
		}
		return err == nil
	})
	return err
}

// addChoice adds a fragment of one choice: what grows is joined, of the rest the last word counts.
func addChoice(o *object, fragment gjson.Result) (err error) {
	fragment.ForEach(func(k, v gjson.Result) bool {
		t := o.value(k.Str, k.Raw)
		switch k.Str {
		case "delta", "text", "logprobs", "token_ids":
			t.merge(v)
		case "finish_reason":
			if given(v) && !t.null() && string(t.raw) != v.Raw {
				err = ErrMalformed
			}
			t.replace(v)
		default:
			t.replace(v)
		}
		return err == nil
	})
	return err
}

// object renders the answer that a client without stream would have got.
func (m *merged) object(f canon.Family) []byte {
	kind := `"chat.completion"`
	if f == canon.Completions {
		kind = `"text_completion"`
	}
	*m.top.value("object", `"object"`) = tree{raw: []byte(kind)}
	dst := m.top.append(nil)
	dst = append(dst[:len(dst)-1], `,"choices":[`...)
	for i, c := range m.choices.sorted() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendChoice(dst, f, c)
	}
	dst = append(dst, ']')
	if m.usage != "" {
		dst = append(append(dst, `,"usage":`...), m.usage...)
	}
	return append(dst, '}')
}

func appendChoice(dst []byte, f canon.Family, c *object) []byte {
	c.value("finish_reason", `"finish_reason"`)
	dst = append(dst, `{"index":`...)
	dst = append(dst, orZero(c.value("index", `"index"`))...)
	if f == canon.Chat {
		dst = append(dst, `,"message":`...)
		dst = appendMessage(dst, c.value("delta", `"delta"`))
	}
	rest := c.append(nil, "index", "delta")
	dst = append(dst, ',')
	return append(dst, rest[1:]...)
}

// orZero is the index of a choice, which some engines leave out.
func orZero(t *tree) string {
	if t.null() {
		return "0"
	}
	return strconv.FormatInt(gjson.ParseBytes(t.raw).Int(), 10)
}

// appendMessage renders a message from what its deltas came to.
func appendMessage(dst []byte, delta *tree) []byte {
	o := delta.object
	if o == nil {
		o = newObject()
	}
	if role := o.value("role", `"role"`); role.null() {
		role.raw = []byte(`"assistant"`)
	}
	dst = o.value("role", "").append(append(dst, `{"role":`...))
	dst = o.value("content", "").append(append(dst, `,"content":`...))
	if calls := o.value("tool_calls", ""); calls.list != nil {
		dst = append(dst, `,"tool_calls":[`...)
		for i, call := range calls.list.sorted() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = call.append(dst, "index")
		}
		dst = append(dst, ']')
	} else if !calls.null() {
		dst = calls.append(append(dst, `,"tool_calls":`...))
	}
	rest := o.append(nil, "role", "content", "tool_calls")
	if len(rest) == len("{}") {
		return append(dst, '}')
	}
	dst = append(dst, ',')
	return append(dst, rest[1:]...)
}
