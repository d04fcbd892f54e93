package openai

import (
	"reprise/proxy/answer"
	"reprise/proxy/api"
	"reprise/proxy/canon"
)

// Chat is the chat completions API.
var Chat = api.Family{
	Name: "chat",
	Path: "/v1/chat/completions",

	Operation: "chat", Provider: "openai",
	Requests: &canon.Rules{
		Code:     codeChat,
		Field:    "messages",
		Defaults: chatDefaults,
		Names: canon.MakeNames(
			[]string{
				"audio", "function_call", "functions", "image_url", "input_audio", "json_schema", "messages", "modalities",
				"prediction", "response_format", "tool_calls",
			},
			[]string{
				"add_generation_prompt", "chat_template", "chat_template_kwargs", "compound_custom", "continue_final_message", "data_sources", "enable_search",
				"enable_thinking", "max_completion_tokens", "search_parameters", "tool_call_id", "web_search", "web_search_options",
			}),
		Tools:        []string{"tools", "functions"},
		Links:        []canon.Link{{In: "tool_calls", Name: "id"}, {Name: "tool_call_id"}},
		Conversation: chat{},
	},
	Answers: &answer.Form{Code: codeChat, Judge: api.Judge("chat", nil), Links: chatAnswers, Streams: chatAnswers,
		Always: []string{"usage", "object", "choices.0.index"}},
	UsageOption: true,
	ID:          api.ReplayID{Prefix: "chatcmpl-"},
}

var chatAnswers = choices{object: `"chat.completion"`, chunk: `"chat.completion.chunk"`, deltas: true}

// chat implements [canon.Conversation] and [canon.Messages].
type chat struct{ canon.PlainMessages }

func (m chat) Read(r *canon.Reader, conversation canon.Value) *canon.Error {
	if !conversation.IsArray() || conversation.Len() == 0 {
		return r.Bad("must be an array with at least one message")
	}
	return r.Messages(conversation, m)
}

// Role also makes a request uncacheable whose replies contain reasoning that only the upstream can read.
func (chat) Role(r *canon.Reader, message canon.Value) (canon.Role, *canon.Error) {
	role, err := canon.RoleOf(message)
	if role == canon.RoleAssistant && api.EncryptedRequest(message) {
		r.SetUncacheable(answer.ReasonEncrypted)
	}
	return role, err
}
