package anthropic

import (
	"strconv"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/answer/rawjson"
)

// Mark marks the id in the first event, and the ids of calls.
func (p messages) Mark(m *answer.Marker, event gjson.Result) {
	event.ForEach(func(k, v gjson.Result) bool {
		switch {
		case k.Str == "message" && v.IsObject():
			m.Object(v, p)
		case k.Str == "content_block":
			markBlock(m, v)
		}
		return true
	})
}

// MarkLinks marks the ids of the calls in a message.
func (messages) MarkLinks(m *answer.Marker, name string, v gjson.Result) {
	if name != "content" {
		return
	}
	for _, block := range rawjson.Elements(v) {
		markBlock(m, block)
	}
}

// NewLink appends an id of the same shape as original.
func (messages) NewLink(dst []byte, nonce [12]byte, original string) []byte {
	return answer.AppendLink(dst, nonce, original)
}

// markBlock marks the id of a call that the client answers.
func markBlock(m *answer.Marker, block gjson.Result) {
	if block.Get("type").Str == "tool_use" {
		m.Link(block, "id")
	}
}

// Last reports whether an event stops the message, or is an error, after which nothing comes.
func (messages) Last(data []byte) bool {
	kind := gjson.GetBytes(data, "type").Str
	return kind == "message_stop" || kind == "error"
}

// Merger returns a merger of events, whose object is the message. ErrMalformed where an event comes in a place that the API does not allow,
// or is not known: what it would have changed is not known either.
func (messages) Merger() answer.Merger { return &merger{usage: new(rawjson.Object)} }

// merger implements [answer.Merger].
type merger struct {
	message *rawjson.Object // the first event's, with the members that later events have changed; nil before it
	usage   *rawjson.Object
	blocks  []*block
	open    bool           // the last block has not ended
	grown   rawjson.Growth // of the last event
}

// Done reports that [DONE] does not end a stream.
func (m *merger) Done() bool { return false }

// Varies returns the fragment of an event that has one.
func (m *merger) Varies(gjson.Result) []gjson.Result {
	return fragment(&m.grown)
}

// fragment returns the fragment that an event has added, if that is all that it did.
func fragment(g *rawjson.Growth) []gjson.Result {
	if text, ok := g.Fragment(); ok {
		return []gjson.Result{text}
	}
	return nil
}

// Repeat adds another fragment to the same member.
func (m *merger) Repeat(values []string) bool { return m.grown.Again(values[0]) }

// Add adds an event.
func (m *merger) Add(event gjson.Result) (last bool, err error) {
	m.grown = rawjson.Growth{}
	var of [4]gjson.Result
	rawjson.Members(event, of[:], "type", "index", "content_block", "delta")
	kind, index := of[0].Str, of[1]
	switch {
	case kind == "ping":
		return false, nil
	case kind == "message_start":
		return false, m.start(event.Get("message"))
	case m.message == nil:
		return false, answer.ErrMalformed
	case kind == "message_delta":
		return false, m.change(event)
	case kind == "message_stop":
		if m.open {
			err = answer.ErrMalformed
		}
		return true, err
	case kind == "content_block_start":
		return false, m.begin(index, of[2])
	case !m.open || index.Raw != strconv.Itoa(len(m.blocks)-1):
		return false, answer.ErrMalformed
	case kind == "content_block_delta":
		return false, m.blocks[len(m.blocks)-1].add(of[3], &m.grown)
	case kind == "content_block_stop":
		m.open = false
		return false, m.blocks[len(m.blocks)-1].end()
	}
	return false, answer.ErrMalformed
}

// start takes the message of the first event, whose content is empty.
func (m *merger) start(message gjson.Result) (err error) {
	if m.message != nil || !message.IsObject() {
		return answer.ErrMalformed
	}
	m.message = new(rawjson.Object)
	message.ForEach(func(k, v gjson.Result) bool {
		t := m.message.Member(k.Str, k.Raw)
		switch {
		case k.Str == "content" && !rawjson.Empty(v):
			err = answer.ErrMalformed
		case k.Str == "usage" && v.IsObject():
			t.Set("{}")
			m.count(v)
		default:
			t.Set(v.Raw)
		}
		return err == nil
	})
	return err
}

// count takes counts, which are cumulative; null is none.
func (m *merger) count(usage gjson.Result) {
	usage.ForEach(func(k, v gjson.Result) bool {
		if t := m.usage.Member(k.Str, k.Raw); v.Type != gjson.Null {
			t.Set(v.Raw)
		}
		return true
	})
}

// change takes the changes of the message: those in delta, the usage, and what else the event has. ErrMalformed where the message ends
// twice in different ways.
func (m *merger) change(event gjson.Result) (err error) {
	set := func(k, v gjson.Result) bool {
		t := m.message.Member(k.Str, k.Raw)
		switch {
		case k.Str == "content":
			err = answer.ErrMalformed
		case v.Type == gjson.Null:
		case k.Str == "stop_reason" && !t.Is("null") && !t.Is(v.Raw):
			err = answer.ErrMalformed
		default:
			t.Set(v.Raw)
		}
		return err == nil
	}
	event.ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "type":
		case "delta", "usage":
			if rawjson.Given(v) && !v.IsObject() {
				err = answer.ErrMalformed
			} else if k.Str == "delta" {
				v.ForEach(set)
			} else {
				m.count(v)
			}
		default:
			set(k, v)
		}
		return err == nil
	})
	return err
}

// begin opens a block.
func (m *merger) begin(index, content gjson.Result) error {
	if m.open || index.Raw != strconv.Itoa(len(m.blocks)) || !content.IsObject() {
		return answer.ErrMalformed
	}
	m.open = true
	m.blocks = append(m.blocks, newBlock(content))
	return nil
}

// Object returns the message.
func (m *merger) Object() (gjson.Result, error) {
	content := []byte{'['}
	for i, b := range m.blocks {
		if i > 0 {
			content = append(content, ',')
		}
		content = b.Append(content)
	}
	m.message.Member("content", `"content"`).Set(rawjson.View(append(content, ']')))
	if usage := m.usage.Append(nil); len(usage) > len("{}") {
		m.message.Member("usage", `"usage"`).Set(rawjson.View(usage))
	}
	return answer.Parse(m.message.Append(nil))
}
