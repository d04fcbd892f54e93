package choices

import (
	"strconv"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/answer/merge"
	"reprise/proxy/answer/rawjson"
)

// merged is a stream merged into one answer.
type merged struct {
	top     *merge.Object // members of the chunks except choices and usage: of each the last that is not null
	choices *merge.List
	usage   string
}

// Merge merges the chunks of a whole stream. ErrMalformed also where a choice ends twice in different ways.
func (s Streams) Merge(stream []byte) (gjson.Result, error) {
	m := &merged{top: merge.NewObject(), choices: merge.NewList()}
	for es := answer.EventsOf(stream); ; {
		ev, ok := es.Next()
		switch {
		case !ok:
			return gjson.Result{}, answer.ErrIncomplete
		case ev.Data == nil:
			continue
		case ev.IsDone():
			return answer.Parse(s.object(m))
		}
		chunk, err := answer.ParseEvent(ev)
		if err == nil {
			err = m.chunk(chunk)
		}
		if err != nil {
			return gjson.Result{}, err
		}
	}
}

func (m *merged) chunk(r gjson.Result) (err error) {
	r.ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "choices":
			err = m.addChoices(v)
		case "usage":
			if rawjson.Given(v) {
				m.usage = v.Raw
			}
		case "obfuscation": // padding of a chunk's length
		default:
			m.top.Member(k.Str, k.Raw).Replace(v)
		}
		return err == nil
	})
	return err
}

func (m *merged) addChoices(choices gjson.Result) (err error) {
	choices.ForEach(func(_, c gjson.Result) bool {
		if !c.IsObject() {
			err = answer.ErrMalformed
		} else {
			err = addChoice(m.choices.Elem(c.Get("index").Int()), c)
		}
		return err == nil
	})
	return err
}

// addChoice adds a fragment of one choice: some members grow, of the others the last value that is not null counts. A message, which
// belongs to a whole answer, is malformed: clients of the stream skip it, and those of the merged answer would read it.
func addChoice(o *merge.Object, fragment gjson.Result) (err error) {
	fragment.ForEach(func(k, v gjson.Result) bool {
		if k.Str == "message" {
			if rawjson.Given(v) {
				err = answer.ErrMalformed
			}
			return err == nil
		}
		t := o.Member(k.Str, k.Raw)
		switch k.Str {
		case "delta", "text", "logprobs", "token_ids":
			t.Add(v)
		case "finish_reason":
			if rawjson.Given(v) && !t.IsNull() && !t.Is(v.Raw) {
				err = answer.ErrMalformed
			}
			t.Replace(v)
		default:
			t.Replace(v)
		}
		return err == nil
	})
	return err
}

// object renders the answer that a client without stream would have got.
func (s Streams) object(m *merged) []byte {
	m.top.Member("object", `"object"`).Set(s.Object)
	dst := m.top.Append(nil)
	dst = append(dst[:len(dst)-1], `,"choices":[`...)
	for i, c := range m.choices.Sorted() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = s.appendChoice(dst, c)
	}
	dst = append(dst, ']')
	if m.usage != "" {
		dst = append(append(dst, `,"usage":`...), m.usage...)
	}
	return append(dst, '}')
}

func (s Streams) appendChoice(dst []byte, c *merge.Object) []byte {
	c.Member("finish_reason", `"finish_reason"`)
	dst = append(dst, `{"index":`...)
	dst = append(dst, indexOf(c.Member("index", `"index"`))...)
	if s.Choice != nil {
		dst = s.Choice(dst, c.Member("delta", `"delta"`))
	}
	rest := c.Append(nil, "index", "delta")
	dst = append(dst, ',')
	return append(dst, rest[1:]...)
}

// indexOf is the index of a choice, which some engines leave out.
func indexOf(t *merge.Tree) string {
	if t.IsNull() {
		return "0"
	}
	return strconv.FormatInt(gjson.ParseBytes(t.Raw()).Int(), 10)
}
