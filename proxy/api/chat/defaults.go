package chat

import "reprise/proxy/canon"

// The pages of the documentation.
const (
	reference = "https://platform.openai.com/docs/api-reference/chat/create"
	functions = "https://platform.openai.com/docs/guides/function-calling"
)

// defaults are the fields of the chat completions API of which a value means the same as absence, for OpenAI and for the engines and
// providers behind the same API.
//
// Apart stay, beside all that is not documented: tool_choice null (vLLM then returns calls of tools as text) and none without tools (SGLang
// finds tools in messages); top_logprobs (llama.cpp has 20, vLLM returns none for null); reasoning_effort null (SGLang has had medium for
// absent); stop as an empty list (Ollama then drops the stops of its model); modalities (vLLM-Omni has all of the model); service_tier auto
// (Groq has on_demand); numbers of temperature, top_p, penalties and limits.
//
// Two rows are of the documentation although some engine differs, because an answer to the one serves the other: an empty list of tools,
// which vLLM refuses and once gave to its templates, and calls in parallel, of which llama.cpp makes one unless asked for several.
var defaults = canon.NewDefaults(append(canon.Nullable(reference,
	"stop", "seed", "temperature", "top_p", "frequency_penalty", "presence_penalty", "logit_bias", "max_tokens", "max_completion_tokens", "verbosity", "service_tier", "modalities", "audio", "prediction", "moderation", "metadata", "safety_identifier"),
	canon.Default{Field: "n", Values: []string{"null", "1"}, URL: reference, Says: "null is allowed; one choice by default"},
	canon.Default{Field: "logprobs", Values: []string{"null", "false"}, URL: reference, Says: "null is allowed; false by default"},
	canon.Default{Field: "store", Values: []string{"null", "false"}, URL: reference, Says: "null is allowed; false by default"},
	canon.Default{Field: "response_format", Values: []string{`{"type":"text"}`}, URL: reference, Says: "text is the default format"},
	canon.Default{Field: "response_format.json_schema.strict", Values: []string{"null", "false"}, URL: reference, Says: "null is allowed; false by default"},
	canon.Default{Field: "tools", Values: []string{"[]"}, URL: reference, Says: "a list of tools that may be called: an empty one has none"},
	canon.Default{Field: "parallel_tool_calls", Values: []string{"true"}, URL: functions, Says: "several calls at once are the default"},
	canon.Default{Field: "tool_choice", Values: []string{`"auto"`}, With: "tools", URL: reference, Says: "auto is the default if there are tools"},
	canon.Default{Field: "tools[].function.strict", Values: []string{"null", "false"}, URL: functions, Says: "null is allowed; false by default"})...)
