package anthropic

import (
	"testing"

	"reprise/proxy/answer"
	"reprise/proxy/api/apitest"
)

// events of streams
const (
	begun   = `data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"stop_reason":null,"usage":{"input_tokens":3,"output_tokens":1}}}` + "\n\n"
	opened  = `data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}` + "\n\n"
	said    = `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}` + "\n\n"
	closed  = `data: {"type":"content_block_stop","index":0}` + "\n\n"
	ended   = `data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":7}}` + "\n\n"
	stopped = `data: {"type":"message_stop"}` + "\n\n"
	calling = `data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"f","input":{}}}` + "\n\n"
)

func event(data string) string { return "data: " + data + "\n\n" }

func arguments(json string) string {
	return event(`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"` + json + `"}}`)
}

func TestJudge(t *testing.T) {
	message := func(content, stop string) string {
		return `{"type":"message","content":[` + content + `],"stop_reason":"` + stop + `"}`
	}
	const text = `{"type":"text","text":"a"}`
	apitest.Judge(t, Messages, cases{
		{"end_turn", false, message(text, "end_turn"), ""},
		{"stop_sequence", false, message(text, "stop_sequence"), ""},
		{"max_tokens", false, message(text, "max_tokens"), answer.ReasonLength},
		{"context window", false, message(text, "model_context_window_exceeded"), answer.ReasonLength},
		{"refusal", false, message(text, "refusal"), answer.ReasonRefusal},
		{"pause_turn", false, message(text, "pause_turn"), answer.ReasonIncomplete},
		{"compaction", false, message(text, "compaction"), answer.ReasonIncomplete},
		{"unknown reason", false, message(text, "other"), answer.ReasonIncomplete},
		{"no reason", false, `{"type":"message","content":[` + text + `],"stop_reason":null}`, answer.ReasonIncomplete},
		{"a call", false, message(`{"type":"tool_use","id":"toolu_1","name":"f","input":{}}`, "tool_use"), answer.ReasonToolCalls},
		{"a call without a name", false, message(`{"type":"tool_use","id":"toolu_1","name":"","input":{}}`, "tool_use"), answer.ReasonMalformed},
		{"a call whose name is missing", false, message(`{"type":"tool_use","id":"toolu_1","input":{}}`, "tool_use"), answer.ReasonMalformed},
		{"an error block", false, message(text+`,{"type":"error","error":{"type":"overloaded_error"}}`, "end_turn"), answer.ReasonError},
		{"an error block that says nothing more", false, message(text+`,{"type":"error","message":"x"}`, "end_turn"), answer.ReasonError},
		{"an error in a block", false, message(`{"type":"text","text":"a","error":{"message":"x"}}`, "end_turn"), answer.ReasonError},
		{"a page of a search", false, message(`{"type":"text","text":"a","citations":[{"type":"web_search_result_location","url":"https://a.example"}]}`, "end_turn"), answer.ReasonLiveWeb},
		{"places in documents", false, message(`{"type":"text","text":"a","citations":[{"type":"char_location"},{"type":"search_result_location","source":"https://a.example"}]}`, "end_turn"), ""},
		{"no citations", false, message(`{"type":"text","text":"a","citations":null}`, "end_turn"), ""},
		{"a call that is not there", false, message(text, "tool_use"), answer.ReasonIncomplete},
		{"a call without input", false, message(`{"type":"tool_use","id":"toolu_1","name":"f"}`, "tool_use"), answer.ReasonMalformed},
		{"a call of the model's", false, message(`{"type":"tool_use","id":"toolu_1","name":"f","input":{},"caller":{"type":"direct"}}`, "tool_use"), answer.ReasonToolCalls},
		{"a call of the server's", false, message(`{"type":"tool_use","id":"toolu_1","name":"f","input":{},"caller":{"type":"code_execution_20260120","tool_id":"x"}}`, "tool_use"), answer.ReasonServerTools},
		{"a call, cut", false, message(`{"type":"tool_use","id":"toolu_1","name":"f","input":{}}`, "max_tokens"), answer.ReasonLength},
		{"a call and a search", false, message(`{"type":"tool_use","id":"toolu_1","name":"f","input":{}},{"type":"server_tool_use"}`, "tool_use"), answer.ReasonServerTools},
		{"an unknown block", false, message(text+`,{"type":"new"}`, "end_turn"), answer.ReasonServerTools},
		{"a container", false, `{"type":"message","content":[` + text + `],"container":{"id":"c"},"stop_reason":"end_turn"}`, answer.ReasonServerTools},
		{"redacted thoughts", false, message(`{"type":"redacted_thinking","data":"x"},`+text, "end_turn"), answer.ReasonEncrypted},
		{"thoughts alone", false, message(`{"type":"thinking","thinking":"x","signature":"y"}`, "end_turn"), answer.ReasonEmpty},
		{"blank", false, message(`{"type":"text","text":" \n"}`, "end_turn"), answer.ReasonEmpty},
		{"no content", false, `{"type":"message","stop_reason":"end_turn"}`, answer.ReasonMalformed},
		{"an error", false, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, answer.ReasonError},

		{"a stream", true, begun + opened + said + closed + ended + stopped, ""},
		{"with pings", true, begun + event(`{"type":"ping"}`) + opened + event(`{"type":"ping"}`) + said + closed + ended + stopped, ""},
		{"with [DONE]", true, begun + opened + said + closed + ended + stopped + event("[DONE]"), ""},
		{"[DONE] without message_stop", true, begun + opened + said + closed + ended + event("[DONE]"), answer.ReasonIncomplete},
		{"an error in it", true, begun + opened + said + event(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), answer.ReasonError},
		{"no message_delta", true, begun + opened + said + closed + stopped, answer.ReasonIncomplete},
		{"two message_deltas", true, begun + opened + said + closed + ended + ended + stopped, ""},
		{"two stop reasons", true, begun + opened + said + closed + ended + event(`{"type":"message_delta","delta":{"stop_reason":"max_tokens"}}`) + stopped, answer.ReasonMalformed},
		{"no message_start", true, opened + said + closed + ended + stopped, answer.ReasonMalformed},
		{"two message_starts", true, begun + begun + opened + said + closed + ended + stopped, answer.ReasonMalformed},
		{"a start with content", true, event(`{"type":"message_start","message":{"content":[`+text+`]}}`) + ended + stopped, answer.ReasonMalformed},
		{"a block that stays open", true, begun + opened + said + ended + stopped, answer.ReasonMalformed},
		{"a block in a block", true, begun + opened + opened + said + closed + ended + stopped, answer.ReasonMalformed},
		{"a delta of another block", true, begun + opened + event(`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"a"}}`) + closed + ended + stopped, answer.ReasonMalformed},
		{"a delta behind its block", true, begun + opened + said + closed + said + ended + stopped, answer.ReasonMalformed},
		{"a delta of another kind", true, begun + opened + event(`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"a"}}`) + closed + ended + stopped, answer.ReasonMalformed},
		{"an unknown delta", true, begun + opened + said + event(`{"type":"content_block_delta","index":0,"delta":{"type":"new_delta","text":"a"}}`) + closed + ended + stopped, answer.ReasonMalformed},
		{"an unknown event", true, begun + opened + said + closed + event(`{"type":"content_changed"}`) + ended + stopped, answer.ReasonMalformed},
		{"a call in fragments", true, begun + calling + arguments(`{\"a\":`) + arguments(`1}`) + closed + ended + stopped, answer.ReasonToolCalls},
		{"a call without arguments", true, begun + calling + closed + ended + stopped, answer.ReasonToolCalls},
		{"a call cut in its arguments", true, begun + calling + arguments(`{\"a\":`) + closed + ended + stopped, answer.ReasonMalformed},
	})
}
