package openai

import (
	"bytes"
	"strings"

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

// Mark marks ids, times and usage in a chunk. A chunk with usage and no choice is there because usage was asked for; what else it has, beside
// the members of every chunk, is there without that too: llama.cpp has it in the chunk with the finish reason then. Usage beside a choice is
// what some upstreams send in any case.
func (c choices) Mark(m *answer.Marker, chunk gjson.Result) {
	var usage [2]gjson.Result
	var others []gjson.Result
	choice := false
	chunk.ForEach(func(k, v gjson.Result) bool {
		switch {
		case k.Str == "id" && v.Type == gjson.String:
			m.Value(v, answer.SlotID)
		case k.Str == "created" && v.Type == gjson.Number:
			m.Value(v, answer.SlotCreated)
		case k.Str == "usage" && v.Type == gjson.Null:
			m.Usage(k, v, nil)
		case k.Str == "usage":
			usage = [2]gjson.Result{k, v}
		case k.Str == "choices":
			choice = !rawjson.Empty(v)
			c.MarkLinks(m, k.Str, v)
		case !everywhere(k.Str) && rawjson.Given(v):
			others = append(others, k, v)
		}
		return true
	})
	switch {
	case !choice && usage[1].IsObject():
		m.Usage(usage[0], usage[1], others)
	case choice && strings.Contains(chunk.Raw, finish) && ofLlamaCPP(chunk.Raw):
		m.Last()
	}
}

// finish is in a chunk that ends a choice. A quote inside a string would be escaped.
const finish = `finish_reason":"`

// ofLlamaCPP reports whether a chunk has the fingerprint of that server: b, the number of its build, - and a commit.
func ofLlamaCPP(chunk string) bool {
	_, build, ok := strings.Cut(chunk, `system_fingerprint":"b`)
	return ok && build != "" && '0' <= build[0] && build[0] <= '9'
}

// everywhere reports whether every chunk of a stream has the member; obfuscation is padding of a chunk's length.
func everywhere(name string) bool {
	switch name {
	case "id", "object", "created", "model", "system_fingerprint", "service_tier", "provider", "obfuscation":
		return true
	}
	return false
}

// MarkLinks marks the ids of the calls in the choices of an answer or of a chunk. Most have none: then the text is not read level by level.
func (choices) MarkLinks(m *answer.Marker, name string, v gjson.Result) {
	if name != "choices" || !strings.Contains(v.Raw, "tool_calls") && !strings.Contains(v.Raw, `\u00`) {
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

// Last reports whether the data of an event is [DONE].
func (choices) Last(data []byte) bool { return string(bytes.TrimSpace(data)) == "[DONE]" }
