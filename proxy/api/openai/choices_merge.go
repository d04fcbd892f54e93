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
	top   *rawjson.Object // members of the chunks except choices and usage: of each the last that is not null
	list  *rawjson.List
	usage string
	grown growth // of the last chunk
}

// growth is where the last chunk made its choice longer, if that is all it did: other members of it repeat what was known.
type growth struct {
	count  int             // choices of the chunk
	texts  int             // added to them; 2: something else was added too
	choice *rawjson.Object // of the text
	delta  bool            // it is a member of the choice's delta, not of the choice
	member string
	text   gjson.Result
	place  int           // of text among those that vary
	tree   *rawjson.Tree // of the member, until the next chunk is added
}

// Merger returns a merger of chunks. ErrMalformed also where a choice ends twice in different ways.
func (c choices) Merger() answer.Merger {
	return &merged{choices: c, top: rawjson.NewObject(), list: rawjson.NewList()}
}

// Done reports that [DONE] ends a stream.
func (m *merged) Done() bool { return true }

// Object returns the merged answer.
func (m *merged) Object() (gjson.Result, error) { return answer.Parse(m.object()) }

// Varies returns the text of a chunk that only makes its one choice longer, and the padding of its length.
func (m *merged) Varies(chunk gjson.Result) (varies []gjson.Result) {
	g := &m.grown
	if g.count != 1 || g.texts != 1 {
		return nil
	}
	of := g.choice
	if g.delta {
		of = of.Member("delta", "").Object()
	}
	g.tree = of.Member(g.member, "")
	chunk.ForEach(func(k, v gjson.Result) bool {
		switch {
		case k.Str == "choices":
			g.place = len(varies)
			varies = append(varies, g.text)
		case k.Str == "obfuscation" && v.Type == gjson.String:
			varies = append(varies, v)
		}
		return true
	})
	return varies
}

// Repeat adds the text of such a chunk.
func (m *merged) Repeat(values []gjson.Result) { m.grown.tree.Add(values[m.grown.place]) }

// Add adds a chunk.
func (m *merged) Add(r gjson.Result) (last bool, err error) {
	m.grown = growth{}
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
	return false, err
}

func (m *merged) addChoices(list gjson.Result) (err error) {
	list.ForEach(func(_, c gjson.Result) bool {
		if !c.IsObject() {
			err = answer.ErrMalformed
		} else {
			m.grown.count++
			err = m.addChoice(m.list.Elem(c.Get("index").Int()), c)
		}
		return err == nil
	})
	return err
}

// addChoice adds a fragment of one choice: some members grow, of the others the last value that is not null counts. A message, which
// belongs to a whole answer, is malformed: clients of the stream skip it, and clients of the merged answer would read it.
func (m *merged) addChoice(o *rawjson.Object, fragment gjson.Result) (err error) {
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
			m.grown.note(o, k.Str, v)
		case "finish_reason":
			if v.Str == "" { // Together has an empty text for none, until the last chunk
				return true
			}
			if !t.IsNull() && !t.Is(v.Raw) {
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

// note notes that v was added to a member of a choice.
func (g *growth) note(choice *rawjson.Object, member string, v gjson.Result) {
	delta := member == "delta" && v.IsObject()
	if delta {
		members := 0
		v.ForEach(func(k, text gjson.Result) bool {
			members++
			member, v = k.Str, text
			return members < 2
		})
		if members == 0 {
			return
		}
		if members > 1 || rawjson.Identifies(member) {
			g.texts = 2
		}
	}
	switch {
	case v.Type == gjson.Null:
	case v.Type == gjson.String && g.texts == 0:
		g.texts, g.choice, g.delta, g.member, g.text = 1, choice, delta, member, v
	default:
		g.texts = 2
	}
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
	if t.IsNull() {
		return "0"
	}
	return strconv.FormatInt(gjson.ParseBytes(t.Raw()).Int(), 10)
}
