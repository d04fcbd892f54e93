package openai

import (
	"bytes"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/answer/rawjson"
)

// choices reads and writes the answers of the chat and the completions APIs: an answer is a list of choices; its stream is a sequence of
// chunks, each with a fragment of some choices, and ends with [DONE].
type choices struct {
	object string // the member "object" of a whole answer, quoted
	chunk  string // the member "object" of a chunk, quoted
	deltas bool   // a choice of a whole answer has a message, and a choice of a chunk a delta of it
}

var (
	_ answer.Linker  = choices{}
	_ answer.Streams = choices{}
)

// Mark marks ids, times and usage in a chunk. One that has usage and no choice is the one that include_usage adds.
func (c choices) Mark(m *answer.Marker, chunk gjson.Result) {
	usage, choice := false, false
	chunk.ForEach(func(k, v gjson.Result) bool {
		switch {
		case k.Str == "id" && v.Type == gjson.String:
			m.Value(v, answer.SlotID)
		case k.Str == "created" && v.Type == gjson.Number:
			m.Value(v, answer.SlotCreated)
		case k.Str == "usage" && v.Type == gjson.Null:
			m.UsageNull(k, v)
		case k.Str == "usage":
			usage = v.IsObject()
		case k.Str == "choices":
			choice = !rawjson.Empty(v)
			c.MarkLinks(m, k.Str, v)
		}
		return true
	})
	if usage && !choice {
		m.Event()
	}
}

// MarkLinks marks the ids of the calls in the choices of an answer or of a chunk.
func (choices) MarkLinks(m *answer.Marker, name string, v gjson.Result) {
	if name != "choices" {
		return
	}
	for _, choice := range rawjson.Elements(v) {
		var of [2]gjson.Result
		rawjson.Members(choice, of[:], "message", "delta")
		for _, message := range of {
			if !message.IsObject() {
				continue
			}
			for _, call := range rawjson.Elements(message.Get("tool_calls")) {
				m.Link(call, "id")
			}
		}
	}
}

// NewLink appends an id of the same shape as original.
func (choices) NewLink(dst []byte, nonce [12]byte, original string) []byte {
	return answer.AppendLink(dst, nonce, original)
}

// Ended reports whether a stream contains its [DONE].
func (choices) Ended(stream []byte) bool { return bytes.Contains(stream, []byte("data: [DONE]")) }
