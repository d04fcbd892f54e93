// Package chat is the chat completions API.
package chat

import (
	"reprise/proxy/answer"
	"reprise/proxy/api"
	"reprise/proxy/api/internal/choices"
	"reprise/proxy/canon"
)

const code = 1

// Family is the chat completions API.
var Family = api.Family{
	Name: "chat",
	Path: "/v1/chat/completions",

	Operation: "chat", Provider: "openai",
	Requests: &canon.Rules{
		Code:     code,
		Field:    "messages",
		Defaults: defaults,
		Names: canon.MakeNames(
			[]string{
				"audio", "function_call", "functions", "image_url", "input_audio", "json_schema", "messages", "modalities",
				"prediction", "response_format", "tool_calls",
			},
			[]string{
				"add_generation_prompt", "chat_template", "chat_template_kwargs", "continue_final_message", "enable_search",
				"enable_thinking", "max_completion_tokens", "search_parameters", "tool_call_id", "web_search_options",
			}),
		Tools: []string{"tools", "functions"},
		Links: []canon.Link{{In: "tool_calls", Name: "id"}, {Name: "tool_call_id"}},
		Read:  read,
	},
	Answers: &answer.Form{
		Code:  code,
		Judge: choices.Judge,
		Streams: choices.Streams{Object: `"chat.completion"`, Chunk: `"chat.completion.chunk"`,
			Choice: appendMessage, Play: play},
		Links:   choices.MarkLinks,
		NewLink: answer.AppendLink,
	},
	UsageOption: true,
	NewID:       func(nonce [12]byte, _ string) string { return choices.NewID("chatcmpl-", nonce) },
}

func read(r *canon.Reader, conversation canon.Value) *canon.Error {
	if !conversation.IsArray() || conversation.Len() == 0 {
		return r.Bad("must be an array with at least one message")
	}
	return r.Messages(conversation, messages{})
}

// messages implements [canon.Messages].
type messages struct{}

func (messages) Role(r *canon.Reader, message canon.Value) (canon.Role, *canon.Error) {
	role, err := canon.RoleOf(message)
	if role == canon.RoleAssistant && api.EncryptedRequest(message) {
		r.SetUncacheable(answer.ReasonEncrypted)
	}
	return role, err
}
func (messages) IsMessage(canon.Value) bool                   { return true }
func (messages) Ignores([]byte, canon.Value, canon.Role) bool { return false }
func (messages) IsText(partType []byte) bool                  { return string(partType) == "text" }
