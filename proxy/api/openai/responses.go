package openai

import (
	"bytes"

	"reprise/proxy/answer"
	"reprise/proxy/api"
	"reprise/proxy/canon"
)

// Responses is the Responses API: a conversation is a string or a list of items, messages among them, and a later request may name an
// earlier answer by its id.
var Responses = api.Family{
	Name: "responses",
	Path: "/v1/responses",

	Operation: "chat", Provider: "openai",
	Requests: &canon.Rules{
		Code:     codeResponses,
		Field:    "input",
		Defaults: responseDefaults,
		Names: canon.MakeNames(
			[]string{"input", "output", "prompt", "reasoning", "text"},
			[]string{
				"allowed_tools", "background", "call_id", "context_management", "conversation", "include", "instructions",
				"max_output_tokens", "max_tool_calls", "phase", "previous_response_id", "summary", "truncation", "variables",
				"version",
			}),
		Tools:        []string{"tools"},
		System:       []string{"instructions"},
		Links:        []canon.Link{{Name: "call_id", Types: linking}, {Name: "id", Types: linking}},
		Reference:    referring,
		Originals:    responses{},
		Uncacheable:  map[string]string{"prompt": "server-state"}, // the server keeps prompts in versions, which change
		Conversation: responses{},
	},
	Answers: &answer.Form{Code: codeResponses, Judge: api.Judge("responses", nil), Links: responses{}, Streams: responses{}, Always: []string{"usage"}},
	Handles: &api.Handles{Field: "previous_response_id", IDs: responseIDs{}, Mark: linkMark},
}

// linking are the types of items whose ids mean nothing to the server: those of the conversation, and the calls that the client answers.
// It looks up thoughts, which it does not send in full, and what its own tools have made.
var linking = []string{"", "message", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output",
	"local_shell_call", "local_shell_call_output", "apply_patch_call", "apply_patch_call_output"}

// referring is the type of an item that names one at the server, such as a call whose result follows.
const referring = "item_reference"

// responses reads the requests and answers of the Responses API.
type responses struct{}

var (
	_ canon.Conversation = responses{}
	_ canon.Originals    = responses{}
	_ answer.Linker      = responses{}
	_ answer.Streams     = responses{}
)

func (responses) Read(r *canon.Reader, input canon.Value) *canon.Error {
	switch {
	case input.IsString():
		r.UserMessage(input)
		return nil
	case input.Given() && !input.IsArray():
		return r.Bad("must be a string or an array of items")
	}
	return r.Messages(input, items{})
}

// items implements [canon.Messages]: items are messages, calls of tools and their outputs, and thoughts.
type items struct{}

// Role takes an item that is not a message, nor an output, as a part of the reply.
func (m items) Role(r *canon.Reader, item canon.Value) (canon.Role, *canon.Error) {
	if m.IsMessage(item) {
		return canon.RoleOf(item)
	}
	t := item.Member("type")
	if isBareReference(item) {
		return canon.RoleOther, nil
	}
	if !t.IsString() {
		return canon.RoleOther, item.BadMember("type", "must be a string")
	}
	if api.EncryptedRequest(item) {
		r.SetUncacheable(answer.ReasonEncrypted)
	}
	switch s := t.Text(); {
	case string(s) == referring: // by its original id, as an item never changes
		return canon.RoleOther, nil
	case bytes.HasSuffix(s, []byte("_output")), bytes.HasSuffix(s, []byte("_response")):
		return canon.RoleTool, nil
	}
	return canon.RoleAssistant, nil
}

func (items) IsMessage(item canon.Value) bool {
	t := item.Member("type")
	return t.Is("message") || !t.Given() && !isBareReference(item)
}

// isBareReference reports whether an item is a reference whose type is left out, as the API allows.
func isBareReference(item canon.Value) bool {
	return !item.Member("type").Given() && !item.Member("role").Given() && !item.Member("content").Given() && item.Member("id").IsString()
}

// Ignores leaves out a type, which only repeats that the item is a message, and the id of a reply, which differs in every
// answer and has no meaning once the reply is sent back in full.
func (items) Ignores(name []byte, v canon.Value, role canon.Role) bool {
	return string(name) == "type" || string(name) == "id" && role == canon.RoleAssistant && v.IsString()
}

func (items) IsText(partType []byte) bool {
	return string(partType) == "input_text" || string(partType) == "output_text"
}
