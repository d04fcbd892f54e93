// Package choices is what the chat and the completions APIs have in common: an answer is a list of choices, its stream a
// sequence of chunks, each with a fragment of some choices, and [DONE] ends it.
package choices

import (
	"bytes"
	"encoding/hex"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/answer/merge"
	"reprise/proxy/answer/rawjson"
	"reprise/proxy/api"
)

// NewID returns an id of a prefix and a random number.
func NewID(prefix string, nonce [12]byte) string {
	var few [48]byte
	return string(hex.AppendEncode(append(few[:0], prefix...), nonce[:]))
}

// Streams implements [answer.Streams] for one of the two APIs.
type Streams struct {
	Object string // the member "object" of a whole answer, quoted
	Chunk  string // that of a chunk
	// Choice appends what a choice's delta has merged to, with a comma before it; nil: choices have no deltas.
	Choice func(dst []byte, delta *merge.Tree) []byte
	// Play renders one choice of a whole answer as chunks.
	Play func(c *Chunks, choice gjson.Result)
}

var _ answer.Streams = Streams{}

// Mark marks ids, times and usage in a chunk. One that has usage and no choice is the one that include_usage adds.
func (Streams) Mark(m *answer.Marker, chunk gjson.Result) {
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
			MarkLinks(m, k.Str, v)
		}
		return true
	})
	if usage && !choice {
		m.Event()
	}
}

// MarkLinks marks the ids of the calls in the choices of an answer or of a chunk.
func MarkLinks(m *answer.Marker, name string, v gjson.Result) {
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

// Ended reports whether a stream holds its [DONE].
func (Streams) Ended(stream []byte) bool { return bytes.Contains(stream, []byte("data: [DONE]")) }

// Judge rejects an answer unless it has choices, each with finish reason stop or that of a tool call, and none of them
// refuses or is blank.
func Judge(r gjson.Result) (v answer.Verdict) {
	choices := r.Get("choices")
	if !choices.IsArray() {
		v.Reject(answer.ReasonMalformed)
		return v
	}
	if api.EncryptedAnswer(choices) {
		v.Reject(answer.ReasonEncrypted)
	}
	empty := true
	for i, c := range rawjson.Elements(choices) {
		var of [3]gjson.Result
		rawjson.Members(c, of[:], "message", "text", "finish_reason")
		message, text, finish := messageOf(of[0]), of[1], of[2]
		body := answer.ContentText(message.content)
		if text.Type == gjson.String {
			body = text.Str
		}
		if empty = false; i == 0 {
			v.Text = body
		}
		v.Reject(finishObjection(finish))
		v.Reject(message.callObjection(finish.String()))
		v.RejectPart(body, message.refusal.String(), message.callsTools())
	}
	if empty {
		v.Reject(answer.ReasonEmpty)
	}
	return v
}

// message is the message of a choice.
type message struct{ content, refusal, toolCalls, functionCall gjson.Result }

func messageOf(r gjson.Result) message {
	var of [4]gjson.Result
	rawjson.Members(r, of[:], "content", "refusal", "tool_calls", "function_call")
	return message{of[0], of[1], of[2], of[3]}
}

func (m *message) callsTools() bool { return !rawjson.Empty(m.toolCalls) || m.functionCall.IsObject() }

// callObjection is the reason against the calls of a message, "" where all are of functions of the client, with arguments that can be
// read. An answer that ends for a call which is not in it is not complete.
func (m *message) callObjection(finish string) string {
	if !m.callsTools() {
		if finish == "tool_calls" || finish == "function_call" {
			return answer.ReasonIncomplete
		}
		return ""
	}
	if !answer.Arguments(m.functionCall.Get("arguments")) {
		return answer.ReasonMalformed
	}
	for _, call := range rawjson.Elements(m.toolCalls) {
		switch kind := call.Get("type"); {
		case rawjson.Given(kind) && kind.Str != "function" && kind.Str != "custom":
			return answer.ReasonServerTools
		case !answer.Arguments(call.Get("function.arguments")):
			return answer.ReasonMalformed
		}
	}
	return ""
}

// finishObjection is the reason against a finish reason, "" for a good one. An unknown one proves no completeness.
func finishObjection(reason gjson.Result) string {
	switch reason.String() {
	case "stop", "tool_calls", "function_call":
		return ""
	case "length", "max_tokens":
		return answer.ReasonLength
	case "content_filter":
		return answer.ReasonContentFilter
	case "error":
		return answer.ReasonError
	}
	return answer.ReasonIncomplete
}
