package openai

import (
	"bytes"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/answer/rawjson"
	"reprise/proxy/api"
)

// choices reads and writes the answers of the chat and the completions APIs: an answer is a list of choices; its stream is a sequence of
// chunks, each with a fragment of some choices, and ends with [DONE].
type choices struct {
	object string // the member "object" of a whole answer, quoted
	chunk  string // the member "object" of a chunk, quoted
	deltas bool   // a choice of a whole answer has a message, and a choice of a chunk a delta of it
}

var (
	_ answer.Judger  = choices{}
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

// Judge rejects an answer unless it has choices, each of which ends by itself or with a tool call, and none of which refuses or is blank.
func (choices) Judge(r gjson.Result) (v answer.Verdict) {
	list := r.Get("choices")
	if !list.IsArray() {
		v.Reject(answer.ReasonMalformed)
		return v
	}
	if api.EncryptedAnswer(list) {
		v.Reject(answer.ReasonEncrypted)
	}
	empty := true
	for i, c := range rawjson.Elements(list) {
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

// message is the message of a choice of a whole answer.
type message struct{ content, refusal, toolCalls, functionCall gjson.Result }

func messageOf(r gjson.Result) message {
	var of [4]gjson.Result
	rawjson.Members(r, of[:], "content", "refusal", "tool_calls", "function_call")
	return message{of[0], of[1], of[2], of[3]}
}

func (m *message) callsTools() bool { return !rawjson.Empty(m.toolCalls) || m.functionCall.IsObject() }

// callObjection returns the reason against the calls of a message; "" if all call functions of the client with readable arguments. An answer
// that ends for a call which it does not contain is not complete.
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

// finishObjection returns the reason against a finish reason, "" for a good one. An unknown one does not prove that the choice is complete.
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
