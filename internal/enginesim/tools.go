package enginesim

import (
	"encoding/json"
	"regexp"
	"strconv"
)

// toolSpec is a function that the model may call.
type toolSpec struct {
	Name       string         `json:"name"`
	Parameters map[string]any `json:"parameters"`

	finish string
}

// callWords in the last user turn make the model call a tool that it is free to call: "call tool" once, "call tool 3 times" again after
// each result until it has three, and "call tools" two of them at once.
var callWords = regexp.MustCompile(`(?i)call tool(s?)(?: ([1-9]) times)?`)

// calls is how many tools that it is free to call the model calls at once, after how many results of the turn that asks for it.
func (j *job) calls() (after, atOnce int) {
	said := j.turns
	for len(said) > 0 && said[len(said)-1].role != "user" {
		if said[len(said)-1].role == "tool" {
			after++
		}
		said = said[:len(said)-1]
	}
	if last := j.turns[len(j.turns)-1].role; len(said) == 0 || (last != "user" && last != "tool") {
		return after, 0
	}
	found := callWords.FindStringSubmatch(said[len(said)-1].text)
	if found == nil {
		return after, 0
	}
	times, err := strconv.Atoi(found[2])
	if err != nil {
		times = 1
	}
	atOnce = 1 + len(found[1])
	if after >= times*atOnce {
		return after, 0
	}
	return after, atOnce
}

// chooseTools decides whether the model calls functions, and which. choice is "none", "auto", "required" or an object
// with the function's name, at the top or under "function".
func (j *job) chooseTools(tools []toolSpec, choice json.RawMessage) ([]toolSpec, error) {
	var word string
	var named struct {
		Name     string                `json:"name"`
		Function struct{ Name string } `json:"function"`
	}
	if len(choice) > 0 && json.Unmarshal(choice, &word) != nil && json.Unmarshal(choice, &named) != nil {
		return nil, badRequest("tool_choice", "invalid_type", "Invalid type for 'tool_choice'.")
	}
	if name := named.Name + named.Function.Name; name != "" {
		return namedTool(tools, name)
	}
	after, atOnce := j.calls()
	switch {
	case word == "required" && len(tools) == 0:
		return nil, badRequest("tool_choice", "", "'tool_choice' is only allowed when 'tools' are specified.")
	case word == "none" || len(tools) == 0:
		return nil, nil
	case word == "required", atOnce > 0:
		var called []toolSpec
		for i := range min(max(atOnce, 1), len(tools)) {
			t := tools[int((tokenOf(j.asked)+Token(after+i))%Token(len(tools)))]
			t.finish = "tool_calls"
			called = append(called, t)
		}
		return called, nil
	}
	return nil, nil
}

// settle sets the tool that the job calls, the format of its answer, if any, and its sampling parameters.
func (s *sampling) settle(j *job, tools []toolSpec, choice json.RawMessage, f *format) (err error) {
	if j.tools, err = j.chooseTools(tools, choice); err != nil {
		return err
	}
	if j.format, err = f.schema(); err != nil {
		return err
	}
	j.params = s.params() + canonical(choice) + compact(j.format)
	return nil
}

// namedTool finds the function that the request requires. The finish reason is then "stop", as with OpenAI.
func namedTool(tools []toolSpec, name string) ([]toolSpec, error) {
	for _, t := range tools {
		if t.Name == name {
			t.finish = "stop"
			return []toolSpec{t}, nil
		}
	}
	return nil, badRequest("tool_choice", "", "Tool choice '%s' not found in 'tools'.", name)
}

// withoutIDs is calls of tools as a chat template renders them: an answer does not depend on the ids that link calls and results.
func withoutIDs(calls json.RawMessage) string {
	var v any
	if json.Unmarshal(calls, &v) != nil || v == nil {
		return ""
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, call := range list {
		if call, ok := call.(map[string]any); ok {
			delete(call, "id")
			delete(call, "call_id")
		}
	}
	return compact(v)
}

// link checks that the result of each call of a tool has the id of a call before it.
func link(turns []chatMessage) error {
	known := map[string]bool{}
	for _, m := range turns {
		if m.Role == "tool" && !known[m.ToolCallID] {
			return badRequest("messages", "", "No tool call found for the result with id '%s'.", m.ToolCallID)
		}
		for _, id := range callIDs(m.ToolCalls) {
			known[id] = true
		}
	}
	return nil
}

// callIDs are the ids of the calls of a chat message, or of one item of a response.
func callIDs(calls json.RawMessage) (ids []string) {
	var list []struct{ ID string }
	var one struct {
		CallID string `json:"call_id"`
	}
	if json.Unmarshal(calls, &list) != nil && json.Unmarshal(calls, &one) == nil {
		return []string{one.CallID}
	}
	for _, call := range list {
		ids = append(ids, call.ID)
	}
	return ids
}
