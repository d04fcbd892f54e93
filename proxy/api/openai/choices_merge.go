package openai

import (
	"strconv"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/answer/rawjson"
)

// merged is a stream merged into one answer. It implements [answer.Merger].
type merged struct {
	choices
	top   rawjson.Object // members of the chunks except choices and usage: of each the last that is not null
	list  rawjson.List
	usage string
	repeats
}

// repeats finds what varies in the chunks that repeat the one before: its text, and the padding of its length. It is a part of an
// [answer.Merger].
type repeats struct {
	grown rawjson.Growth // of the last chunk
	place int            // of its text among those that vary
}

// Varies returns the text of a chunk that does nothing but add it, and the padding of its length.
func (r *repeats) Varies(chunk gjson.Result) (varies []gjson.Result) {
	text, ok := r.grown.Fragment()
	if !ok {
		return nil
	}
	chunk.ForEach(func(k, v gjson.Result) bool {
		switch {
		case k.Str == "choices":
			r.place = len(varies)
			varies = append(varies, text)
		case k.Str == "obfuscation" && v.Type == gjson.String:
			varies = append(varies, v)
		}
		return true
	})
	return varies
}

// Repeat adds the text of such a chunk.
func (r *repeats) Repeat(values []string) bool { return r.grown.Again(values[r.place]) }

// Done reports that [DONE] ends a stream.
func (*repeats) Done() bool { return true }

// Merger returns a merger of chunks. ErrMalformed also where a choice ends twice in different ways.
func (c choices) Merger() answer.Merger {
	return &merged{choices: c}
}

// Object returns the merged answer.
func (m *merged) Object() (gjson.Result, error) { return answer.Parse(m.object()) }

// Add adds a chunk.
func (m *merged) Add(r gjson.Result) (last bool, err error) {
	m.grown = rawjson.Growth{}
	r.ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "choices":
			err = m.addChoices(v)
		case "usage":
			if rawjson.Given(v) && v.Raw != "{}" {
				m.usage = v.Raw
			}
		case "obfuscation": // padding of a chunk's length
		default:
			m.top.Member(k.Str, k.Raw).Replace(v)
		}
		return err == nil
	})
	return false, err
}

// mostIndexes bounds the indexes of choices, of which OpenAI gives 128 at most.
const mostIndexes = 1 << 10

func (m *merged) addChoices(list gjson.Result) (err error) {
	list.ForEach(func(_, c gjson.Result) bool {
		if index := c.Get("index").Int(); !c.IsObject() || index >= mostIndexes {
			err = answer.ErrMalformed
		} else {
			err = m.addChoice(m.list.Elem(index), c)
		}
		return err == nil
	})
	return err
}

// addChoice adds a fragment of one choice: some members grow, the others describe the choice. A message, which
// belongs to a whole answer, is malformed: clients of the stream skip it, and clients of the merged answer would read it.
func (m *merged) addChoice(o *rawjson.Object, fragment gjson.Result) (err error) {
	fragment.ForEach(func(k, v gjson.Result) bool {
		if k.Str == "message" {
			if rawjson.Given(v) {
				err = answer.ErrMalformed
			}
			return err == nil
		}
		switch t := o.Member(k.Str, k.Raw); k.Str {
		case "delta", "text", "logprobs", "token_ids":
			t.Add(v, &m.grown)
		case "finish_reason":
			if v.Str == "" { // Together has an empty text for none, until the last chunk
				return true
			}
			if !t.Is("null") && !t.Is(v.Raw) {
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
func (m *merged) object() []byte {
	m.top.Member("object", `"object"`).Set(m.choices.object)
	dst := m.top.Append(make([]byte, 0, 1<<10))
	dst = append(dst[:len(dst)-1], `,"choices":[`...)
	for i, c := range m.list.Sorted() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = m.appendChoice(dst, c)
	}
	dst = append(dst, ']')
	if m.usage != "" {
		dst = append(append(dst, `,"usage":`...), m.usage...)
	}
	return append(dst, '}')
}

func (m *merged) appendChoice(dst []byte, c *rawjson.Object) []byte {
	c.Member("finish_reason", `"finish_reason"`)
	dst = append(dst, `{"index":`...)
	dst = append(dst, indexOf(c.Member("index", `"index"`))...)
	if m.deltas {
		dst = appendMessage(dst, c.Member("delta", `"delta"`))
	}
	at := len(dst)
	dst = c.Append(dst, "index", "delta")
	dst[at] = ',' // for the brace
	return dst
}

// indexOf is the index of a choice, which some engines leave out.
func indexOf(t *rawjson.Tree) string {
	if t.Is("null") {
		return "0"
	}
	return strconv.FormatInt(gjson.ParseBytes(t.Raw()).Int(), 10)
}
