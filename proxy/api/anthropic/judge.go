package anthropic

import (
	"strings"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/answer/rawjson"
)

// Judge rejects a message that is cut, refuses or is blank, and one with a block that is neither text, nor a thought, nor a call of a tool
// of the client.
func (messages) Judge(r gjson.Result) (v answer.Verdict) {
	var of [4]gjson.Result
	rawjson.Members(r, of[:], "content", "stop_reason", "container", "usage")
	content, stop, container := of[0], of[1], of[2]
	v.Usage = usageOf(of[3])
	if !content.IsArray() {
		v.Reject(answer.ReasonMalformed)
		return v
	}
	var said strings.Builder
	calls := false
	for _, block := range rawjson.Elements(content) {
		switch block.Get("type").Str {
		case "text":
			said.WriteString(block.Get("text").Str)
		case "thinking":
		case "tool_use":
			calls = true
			v.Reject(callObjection(block))
		case "redacted_thinking":
			v.Reject(answer.ReasonEncrypted)
		default:
			v.Reject(answer.ReasonServerTools)
		}
	}
	if rawjson.Given(container) {
		v.Reject(answer.ReasonServerTools)
	}
	if stop.Str == "tool_use" && !calls {
		v.Reject(answer.ReasonIncomplete) // it ends for a call that is not there
	}
	v.Text = said.String()
	v.Reject(stopObjection(stop.Str))
	v.RejectPart(v.Text, "", calls)
	return v
}

// callObjection is the reason against a call, "" for one that the model itself has made, of a tool of the client.
func callObjection(call gjson.Result) string {
	var of [2]gjson.Result
	rawjson.Members(call, of[:], "input", "caller")
	switch input, caller := of[0], of[1]; {
	case !input.IsObject():
		return answer.ReasonMalformed
	case rawjson.Given(caller) && caller.Get("type").Str != "direct":
		return answer.ReasonServerTools
	}
	return ""
}

// stopObjection is the reason against a stop reason, "" for a good one. An unknown one proves no completeness.
func stopObjection(reason string) string {
	switch reason {
	case "end_turn", "stop_sequence", "tool_use":
		return ""
	case "max_tokens", "model_context_window_exceeded":
		return answer.ReasonLength
	case "refusal":
		return answer.ReasonRefusal
	}
	return answer.ReasonIncomplete // pause_turn and compaction too: the turn goes on with another request
}

// usageOf counts tokens. input_tokens leaves out the tokens that were read from the prompt cache or written to it.
func usageOf(u gjson.Result) answer.Usage {
	sum := func(names ...string) (n int64) {
		for _, name := range names {
			if v := u.Get(name); v.Type == gjson.Number {
				n += max(0, v.Int())
			}
		}
		return n
	}
	return answer.Usage{Input: sum("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"), Output: sum("output_tokens")}
}
