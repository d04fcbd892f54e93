// Package chat is the chat API of Ollama, whose streams are lines of JSON.
package chat

import (
	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/answer/rawjson"
	"reprise/proxy/api"
	"reprise/proxy/api/internal/lines"
	"reprise/proxy/canon"
)

const code = 6

// Family is the chat API of Ollama.
var Family = api.Family{
	Name: "ollama-chat",
	Path: "/api/chat",

	Operation: "chat", Provider: "ollama",
	Requests: &canon.Rules{
		Code:  code,
		Field: "messages",
		Names: canon.MakeNames([]string{"messages", "tool_calls"}, []string{"images", "shift", "think", "tool_call_id", "tool_name", "truncate"}),
		Tools: []string{"tools"},
		Links: []canon.Link{{In: "tool_calls", Name: "id"}, {Name: "tool_call_id"}},
		// keep_alive is how long the model stays loaded afterwards.
		Aside:    []string{"keep_alive"},
		Streamed: true,
		Read:     read,
	},
	Answers: &answer.Form{Code: code, Lines: true, Judge: judge, Links: lines.MarkLinks, NewLink: answer.AppendLink,
		Streams: lines.Streams{Grows: map[string]bool{"message": true, "logprobs": true}, Last: last}},
	AnyType:   true,
	ErrorBody: lines.ErrorBody,
}

// read reads a conversation. One without messages loads or unloads the model.
func read(r *canon.Reader, conversation canon.Value) *canon.Error {
	if conversation.Given() && !conversation.IsArray() {
		return r.Bad("must be an array of messages")
	}
	if conversation.Len() == 0 {
		r.SetUncacheable("empty-prompt")
	}
	return r.Messages(conversation, messages{})
}

// messages implements [canon.Messages].
type messages struct{}

func (messages) Role(_ *canon.Reader, message canon.Value) (canon.Role, *canon.Error) {
	return canon.RoleOf(message)
}
func (messages) IsMessage(canon.Value) bool                   { return true }
func (messages) Ignores([]byte, canon.Value, canon.Role) bool { return false }
func (messages) IsText([]byte) bool                           { return false }

func judge(r gjson.Result) answer.Verdict {
	m := r.Get("message")
	return lines.Judge(r, m.Get("content").String(), !rawjson.Empty(m.Get("tool_calls")))
}

// last appends the message of a stream's last line.
func last(dst []byte, k, v gjson.Result) []byte {
	if k.Str != "message" {
		return dst
	}
	role := v.Get("role").Raw
	if role == "" {
		role = `"assistant"`
	}
	return rawjson.AppendMember(dst, 1, k.Raw, `{"role":`+role+`,"content":""}`)
}
