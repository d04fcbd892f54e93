// Package messages is Anthropic's Messages API: the system prompt is a member of its own, a content is a string or a list of blocks, calls
// of tools and thoughts are blocks too, and the result of a tool is a block of a user's message.
//
// The kinds of blocks, the members of a request and the events of a stream that are known here are those of the API's own libraries
// (@anthropic-ai/sdk 1.12). A request with any other passes by the cache, and an answer with any other is not kept: new ones come with a
// date and without a notice, and may depend on something that the server keeps.
package messages

import (
	"reprise/proxy/answer"
	"reprise/proxy/api"
	"reprise/proxy/canon"
)

const code = 5

// Family is the Messages API.
var Family = api.Family{
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
		Tools:       []string{"tools"},
		System:      []string{"system"},
		Mark:        "cache_control",
		Links:       []canon.Link{{In: "content", Name: "id"}, {In: "content", Name: "tool_use_id"}},
		Uncacheable: uncacheable,
		Read:        read,
	},
	Answers:    &answer.Form{Code: code, Judge: judge, Streams: streams{}, Links: markLinks, NewLink: answer.AppendLink},
	NewID:      newID,
	ErrorBody:  errorBody,
	ErrorEvent: "error",
}

// stateless are the members on which, with the messages, an answer depends, and on nothing that the server keeps.
var stateless = setOf("context_management", "inference_geo", "max_tokens", "messages", "metadata", "model", "output_config", "output_format",
	"service_tier", "speed", "stop_sequences", "stream", "system", "temperature", "thinking", "tool_choice", "tools", "top_k", "top_p")

// keepers are members that name something which the server keeps, or ask for it.
var keepers = setOf("compaction", "container", "diagnostics", "thread")

func setOf(names ...string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// uncacheable allows no member but those that are known to be stateless.
func uncacheable(name []byte, v canon.Value) string {
	switch {
	case stateless[string(name)] || !v.Given():
		return ""
	case string(name) == "mcp_servers":
		return "live-tools"
	case keepers[string(name)]:
		return "server-state"
	}
	return "unknown-field"
}

func read(r *canon.Reader, conversation canon.Value) *canon.Error {
	if !conversation.IsArray() || conversation.Len() == 0 {
		return r.Bad("must be an array with at least one message")
	}
	return r.Messages(conversation, messages{})
}

// messages implements [canon.Messages].
type messages struct{}

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

func (messages) IsMessage(canon.Value) bool                   { return true }
func (messages) Ignores([]byte, canon.Value, canon.Role) bool { return false }
func (messages) IsText(partType []byte) bool                  { return string(partType) == "text" }
