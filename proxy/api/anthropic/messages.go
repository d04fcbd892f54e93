// Package anthropic has Anthropic's Messages API: the system prompt is a member of its own, a content is a string or a list of blocks, calls
// of tools and thoughts are blocks too, and the result of a tool is a block of a user's message.
//
// The kinds of blocks, the members of a request and the events of a stream that are known here are those of the API's own libraries
// (@anthropic-ai/sdk 1.12). A request with any other passes by the cache, and an answer with any other is not kept: new ones come with a
// date and without a notice, and may depend on something that the server keeps.
package anthropic

import (
	"net/http"

	"reprise/proxy/answer"
	"reprise/proxy/answer/rawjson"
	"reprise/proxy/api"
	"reprise/proxy/canon"
	"reprise/proxy/internal/apierror"
)

// code is the API's number in keys and in stored answers. It never changes.
const code = 5

// Messages is the Messages API.
var Messages = api.Family{
	Name: "messages",
	Path: "/v1/messages",

	Operation: "chat", Provider: "anthropic",
	Requests: &canon.Rules{
		Code:     code,
		Field:    "messages",
		Defaults: defaults,
		Names: canon.MakeNames(
			[]string{"messages", "output_config", "source", "system"},
			[]string{
				"container", "context_management", "input", "input_schema", "is_error", "mcp_servers", "media_type", "output_format",
				"signature", "stop_sequences", "tool_use_id",
			}),
		Tools:        []string{"tools"},
		System:       []string{"system"},
		Mark:         "cache_control",
		Links:        []canon.Link{{In: "content", Name: "id"}, {In: "content", Name: "tool_use_id"}},
		Stateless:    stateless,
		Uncacheable:  keepers,
		Conversation: messages{},
	},
	Answers: &answer.Form{Code: code, Judge: api.Judge("messages", usageOf), Links: messages{}, Streams: messages{},
		Always: []string{"usage.input_tokens", "usage.output_tokens"}},
	ID:         api.ReplayID{Prefix: "msg_01", Digits: 22},
	Errors:     messages{},
	ErrorEvent: "error",
}

// stateless are the members on which, with the messages, an answer depends, and on nothing that the server keeps.
var stateless = canon.MakeNames([]string{"context_management", "inference_geo", "max_tokens", "messages", "metadata", "model", "output_config", "output_format",
	"service_tier", "speed", "stop_sequences", "stream", "system", "temperature", "thinking", "tool_choice", "tools", "top_k", "top_p"}, nil)

// keepers are members that name something which the server keeps, or ask for it, and the tools that it calls itself.
var keepers = map[string]string{"compaction": "server-state", "container": "server-state", "diagnostics": "server-state", "thread": "server-state",
	"mcp_servers": "live-tools"}

// messages reads the requests and answers of the Messages API.
type messages struct{ canon.PlainMessages }

var (
	_ canon.Conversation = messages{}
	_ canon.Messages     = messages{}
	_ answer.Linker      = messages{}
	_ answer.Streams     = messages{}
	_ api.Errors         = messages{}
)

func (m messages) Read(r *canon.Reader, conversation canon.Value) *canon.Error {
	if !conversation.IsArray() || conversation.Len() == 0 {
		return r.Bad("must be an array with at least one message")
	}
	return r.Messages(conversation, m)
}

// Role takes a message with the result of a tool as the tool's, whatever else is in it: the API gives it the role of a user.
func (messages) Role(r *canon.Reader, message canon.Value) (canon.Role, *canon.Error) {
	role, err := canon.RoleOf(message)
	if err != nil {
		return role, err
	}
	for block := range message.Member("content").Elements() {
		kind := block.Member("type")
		if reason := objection(kind); reason != "" {
			r.SetUncacheable(reason)
		}
		if !kind.Is("tool_result") {
			continue
		}
		if role == canon.RoleUser {
			role = canon.RoleTool
		}
		for part := range block.Member("content").Elements() {
			if reason := objection(part.Member("type")); reason != "" {
				r.SetUncacheable(reason)
			}
		}
	}
	return role, nil
}

// objection is why a kind of block makes a request uncacheable, "" where it does not.
func objection(kind canon.Value) string {
	if !kind.IsString() {
		return "unknown-field"
	}
	switch string(kind.Text()) {
	case "text", "image", "document", "search_result", "thinking", "tool_use", "tool_result":
		return ""
	case "redacted_thinking":
		return answer.ReasonEncrypted
	}
	return "live-tools" // calls of the server's tools, their results, and kinds that are new
}

// ErrorBody renders an error in Anthropic's shape, whose types go by the status.
func (messages) ErrorBody(e *apierror.Error) []byte {
	return []byte(`{"type":"error","error":{"type":"` + typeOf(e.Status) + `","message":` + rawjson.Quote(e.Message) + `},"request_id":null}`)
}

// typeOf returns the type of an error with a status.
func typeOf(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusPaymentRequired:
		return "billing_error"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusNotFound:
		return "not_found_error"
	case http.StatusRequestEntityTooLarge:
		return "request_too_large"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case http.StatusGatewayTimeout:
		return "timeout_error"
	case http.StatusServiceUnavailable:
		return "overloaded_error"
	}
	if status < http.StatusInternalServerError {
		return "invalid_request_error"
	}
	return "api_error"
}
