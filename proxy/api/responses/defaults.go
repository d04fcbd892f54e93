package responses

import "reprise/proxy/canon"

// The pages of the documentation.
const (
	reference = "https://platform.openai.com/docs/api-reference/responses/create"
	functions = "https://platform.openai.com/docs/guides/function-calling"
)

// defaults are the fields of the Responses API of which a value means the same as absence.
//
// Apart stay, beside all that is not documented: store (absent stores the answer, so that a later request can name it; vLLM takes null for
// false); parallel_tool_calls null (vLLM takes it for false); truncation
// null (vLLM takes it for auto); top_logprobs; reasoning.effort null (SGLang has medium for absent); strict of a tool (absent is not
// false); numbers of temperature, top_p and limits.
var defaults = canon.NewDefaults(append(canon.Nullable(reference,
	"context_management", "conversation", "include", "instructions", "max_output_tokens", "max_tool_calls", "metadata", "moderation", "previous_response_id", "prompt", "reasoning", "safety_identifier", "service_tier", "temperature", "top_p", "text.verbosity"),
	canon.Default{Field: "background", Values: []string{"null", "false"}, URL: reference, Says: "null is allowed; false by default"},
	canon.Default{Field: "text", Values: []string{"{}"}, URL: reference, Says: "each member has a default"},
	canon.Default{Field: "text.format", Values: []string{`{"type":"text"}`}, URL: reference, Says: "text is the default format"},
	canon.Default{Field: "tools", Values: []string{"[]"}, URL: reference, Says: "the answer to a request without tools has an empty list of them"},
	canon.Default{Field: "parallel_tool_calls", Values: []string{"true"}, URL: functions, Says: "several calls at once are the default"},
	canon.Default{Field: "tool_choice", Values: []string{`"auto"`}, With: "tools", URL: functions, Says: "auto is the default"},
	canon.Default{Field: "truncation", Values: []string{`"disabled"`}, URL: reference, Says: "disabled is the default"})...)
