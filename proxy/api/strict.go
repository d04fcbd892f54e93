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
		"arguments", "call_id", "created", "embedding", "finish_reason", "id", "index", "item_id", "name", "object", "reasoning", "reasoning_content",
		"refusal", "role", "status", "summary", "text", "type",
	},
)

// Read reads an answer of form to a request, nil where that is not known, once, for its verdict and its stored form; see [answer.Read]. strict reports whether all clients read it
// in the same way, whatever JSON reader they have: it, or each event of a stream, is as strict as a request must be ([canon.Strict]).
// Readers disagree about any other, and a cache that reads it in one way would serve it to clients that read it in another.
func Read(form *answer.Form, contentType string, body, request []byte) (v answer.Verdict, z *answer.Frozen, strict bool) {
	if answer.IsStream(contentType) && (!utf8.Valid(body) || !form.Lines && markedField(body)) {
		return answer.Verdict{Reason: answer.ReasonMalformed}, nil, false
	}
	return answer.Read(form, contentType, body, request, strictObject)
}

func strictObject(document []byte) bool { return canon.Strict(document, answerNames) == nil }

// markedField reports whether a byte order mark stands before the name of a stream's first field: some clients skip the mark,
// for others the name is another one.
func markedField(stream []byte) bool {
	rest, marked := bytes.CutPrefix(stream, []byte("\ufeff"))
	return marked && len(rest) > 0 && !bytes.ContainsRune([]byte(":\r\n"), rune(rest[0]))
}
