package api

import (
	"bytes"
	"unicode/utf8"

	"reprise/proxy/answer"
	"reprise/proxy/canon"
)

// answerNames are the members by which clients understand an answer, of every API.
var answerNames = canon.MakeNames(
	[]string{
		"choices", "content", "data", "delta", "error", "function", "function_call", "incomplete_details", "item", "message",
		"output", "part", "response", "tool_calls", "usage",
	},
	[]string{
		"arguments", "created", "embedding", "finish_reason", "id", "index", "name", "object", "reasoning", "reasoning_content",
		"refusal", "role", "status", "summary", "text", "type",
	},
)

// Strict reports whether all clients read an answer in the same way, whatever JSON reader they have: it, or with stream each
// event of it, is as strict as a request must be ([canon.Strict]). Readers disagree about any other, and a cache that reads it
// in one way would serve it to clients that read it in another.
func Strict(stream bool, body []byte) bool {
	if !stream {
		return canon.Strict(body, answerNames) == nil
	}
	if !utf8.Valid(body) || markedField(body) {
		return false
	}
	done := false
	for events := answer.EventsOf(body); ; {
		ev, ok := events.Next()
		switch {
		case !ok:
			return true
		case ev.Data == nil:
		case ev.IsDone():
			done = true
		case done || canon.Strict(ev.Data, answerNames) != nil: // after [DONE] some clients read on
			return false
		}
	}
}

// markedField reports whether a byte order mark stands before the name of a stream's first field: some clients skip the mark,
// for others the name is another one.
func markedField(stream []byte) bool {
	rest, marked := bytes.CutPrefix(stream, []byte("\ufeff"))
	return marked && len(rest) > 0 && !bytes.ContainsRune([]byte(":\r\n"), rune(rest[0]))
}
