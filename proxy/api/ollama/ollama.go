// Package ollama has the two APIs of Ollama itself, whose streams are lines of JSON.
package ollama

import (
	"reprise/proxy/answer"
	"reprise/proxy/api"
	"reprise/proxy/canon"
)

// The code of each API in keys and in stored answers. A code never changes.
const (
	codeChat     = 6
	codeGenerate = 7
)

// aside are members that cannot change an answer: keep_alive is how long the model stays loaded afterwards. A request that unloads it at
// once is not answered from the cache; package canon says so.
var aside = []string{"keep_alive"}

// Chat is the chat API of Ollama.
var Chat = api.Family{
	Name: "ollama-chat",
	Path: "/api/chat",

	Operation: "chat", Provider: "ollama",
	Requests: &canon.Rules{
		Code:         codeChat,
		Field:        "messages",
		Names:        canon.MakeNames([]string{"messages", "tool_calls"}, []string{"images", "shift", "think", "tool_call_id", "tool_name", "truncate"}),
		Tools:        []string{"tools"},
		Links:        []canon.Link{{In: "tool_calls", Name: "id"}, {Name: "tool_call_id"}},
		Aside:        aside,
		Streamed:     true,
		Conversation: chat{},
	},
	Answers: &answer.Form{Code: codeChat, Lines: true, Judge: api.Judge("ollama-chat", usageOf), Links: calls{},
		Streams: lines{map[string]bool{"message": true, "logprobs": true}}},
	AnyType: true,
	Errors:  lines{},
}

// chat implements [canon.Conversation] and [canon.Messages].
type chat struct{ canon.PlainMessages }

// Read reads a conversation. One without messages loads or unloads the model.
func (m chat) Read(r *canon.Reader, conversation canon.Value) *canon.Error {
	if conversation.Given() && !conversation.IsArray() {
		return r.Bad("must be an array of messages")
	}
	if conversation.Len() == 0 {
		r.SetUncacheable("empty-prompt")
	}
	return r.Messages(conversation, m)
}

// IsText reports that no part of a list is text: a content is a string.
func (chat) IsText([]byte) bool { return false }

// Generate is the API of Ollama that continues a prompt.
var Generate = api.Family{
	Name: "ollama-generate",
	Path: "/api/generate",

	Operation: "text_completion", Provider: "ollama",
	Requests: &canon.Rules{
		Code:         codeGenerate,
		Field:        "prompt",
		Names:        canon.MakeNames(nil, []string{"context", "images", "prompt", "raw", "shift", "suffix", "system", "template", "think", "truncate"}),
		System:       []string{"system"},
		Aside:        aside,
		ExactOnly:    []string{"raw", "suffix", "template", "context"},
		Streamed:     true,
		Conversation: generate{},
	},
	Answers: &answer.Form{Code: codeGenerate, Lines: true, Judge: api.Judge("ollama-generate", usageOf),
		Streams: lines{map[string]bool{"response": true, "thinking": true, "logprobs": true}}},
	AnyType: true,
	Errors:  lines{},
}

// generate implements [canon.Conversation].
type generate struct{}

// Read reads the prompt: a request without one loads or unloads the model.
func (generate) Read(r *canon.Reader, prompt canon.Value) *canon.Error {
	switch {
	case prompt.IsString():
		r.UserMessage(prompt)
	case prompt.Given():
		return r.Bad("must be a string")
	default:
		r.Whole(prompt)
		r.SetUncacheable("empty-prompt")
		r.SetExactOnly("no-prompt")
	}
	return nil
}
