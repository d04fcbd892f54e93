package openai

import "reprise/proxy/canon"

// The pages of the documentation.
const (
	chatReference       = "https://platform.openai.com/docs/api-reference/chat/create"
	completionReference = "https://platform.openai.com/docs/api-reference/completions/create"
	responseReference   = "https://platform.openai.com/docs/api-reference/responses/create"
	embeddingReference  = "https://platform.openai.com/docs/api-reference/embeddings/create"
	functionGuide       = "https://platform.openai.com/docs/guides/function-calling"
)

// user is the row of the field that says which end user asks. An answer of the Responses API repeats it, and safety_identifier, so they count
// there: nobody gets the identifier of another one.
func user(url string) canon.Default {
	return canon.Default{Field: "user", Attributes: true, URL: url, Says: "names an end user, to find abuse; in chats replaced by safety_identifier and prompt_cache_key"}
}

// chatDefaults are the fields of the chat completions API of which a value means the same as absence, for OpenAI and for the engines and
// providers behind the same API.
//
// Apart stay, beside all that is not documented: tool_choice null (vLLM then returns calls of tools as text) and none without tools (SGLang
// finds tools in messages); top_logprobs (llama.cpp has 20, vLLM returns none for null); reasoning_effort null (SGLang has had medium for
// absent); stop as an empty list (Ollama then drops the stops of its model); modalities (vLLM-Omni has all of the model); service_tier auto
// (Groq has on_demand); numbers of temperature, top_p, penalties and limits.
//
// Two rows are of the documentation although some engine differs, because an answer to the one serves the other: an empty list of tools,
// which vLLM refuses and once gave to its templates, and calls in parallel, of which llama.cpp makes one unless asked for several.
var chatDefaults = canon.NewDefaults(append(canon.Nullable(chatReference,
	"stop", "seed", "temperature", "top_p", "frequency_penalty", "presence_penalty", "logit_bias", "max_tokens", "max_completion_tokens", "verbosity", "service_tier", "modalities", "audio", "prediction", "moderation", "metadata", "safety_identifier"),
	user(chatReference),
	canon.Default{Field: "safety_identifier", Attributes: true, URL: chatReference, Says: "names a user, to find who breaks the policies of use"},
	canon.Default{Field: "n", Values: []string{"null", "1"}, URL: chatReference, Says: "null is allowed; one choice by default"},
	canon.Default{Field: "logprobs", Values: []string{"null", "false"}, URL: chatReference, Says: "null is allowed; false by default"},
	canon.Default{Field: "store", Values: []string{"null", "false"}, URL: chatReference, Says: "null is allowed; false by default"},
	canon.Default{Field: "response_format", Values: []string{`{"type":"text"}`}, URL: chatReference, Says: "text is the default format"},
	canon.Default{Field: "response_format.json_schema.strict", Values: []string{"null", "false"}, URL: chatReference, Says: "null is allowed; false by default"},
	canon.Default{Field: "tools", Values: []string{"[]"}, URL: chatReference, Says: "a list of tools that may be called: an empty one has none"},
	canon.Default{Field: "parallel_tool_calls", Values: []string{"true"}, URL: functionGuide, Says: "several calls at once are the default"},
	canon.Default{Field: "tool_choice", Values: []string{`"auto"`}, With: "tools", URL: chatReference, Says: "auto is the default if there are tools"},
	canon.Default{Field: "tools[].function.strict", Values: []string{"null", "false"}, URL: functionGuide, Says: "null is allowed; false by default"})...)

// completionDefaults are the fields of the completions API of which a value means the same as absence. max_tokens has no row: vLLM has 16 for absent,
// and all that fits for null. Nor has stop as an empty list: Ollama then drops the stops of its model.
var completionDefaults = canon.NewDefaults(append(canon.Nullable(completionReference,
	"logprobs", "suffix", "stop", "seed", "temperature", "top_p", "frequency_penalty", "presence_penalty", "logit_bias"),
	user(completionReference),
	canon.Default{Field: "n", Values: []string{"null", "1"}, URL: completionReference, Says: "null is allowed; one completion by default"},
	canon.Default{Field: "best_of", Values: []string{"null", "1"}, URL: completionReference, Says: "null is allowed; one candidate by default"},
	canon.Default{Field: "echo", Values: []string{"null", "false"}, URL: completionReference, Says: "null is allowed; false by default"})...)

// responseDefaults are the fields of the Responses API of which a value means the same as absence.
//
// Apart stay, beside all that is not documented: store (absent stores the answer, so that a later request can name it; vLLM takes null for
// false); parallel_tool_calls null (vLLM takes it for false); truncation
// null (vLLM takes it for auto); top_logprobs; reasoning.effort null (SGLang has medium for absent); strict of a tool (absent is not
// false); numbers of temperature, top_p and limits.
var responseDefaults = canon.NewDefaults(append(canon.Nullable(responseReference,
	"context_management", "conversation", "include", "instructions", "max_output_tokens", "max_tool_calls", "metadata", "moderation", "previous_response_id", "prompt", "reasoning", "safety_identifier", "service_tier", "temperature", "top_p", "text.verbosity"),
	canon.Default{Field: "background", Values: []string{"null", "false"}, URL: responseReference, Says: "null is allowed; false by default"},
	canon.Default{Field: "text", Values: []string{"{}"}, URL: responseReference, Says: "each member has a default"},
	canon.Default{Field: "text.format", Values: []string{`{"type":"text"}`}, URL: responseReference, Says: "text is the default format"},
	canon.Default{Field: "tools", Values: []string{"[]"}, URL: responseReference, Says: "the answer to a request without tools has an empty list of them"},
	canon.Default{Field: "parallel_tool_calls", Values: []string{"true"}, URL: functionGuide, Says: "several calls at once are the default"},
	canon.Default{Field: "tool_choice", Values: []string{`"auto"`}, With: "tools", URL: functionGuide, Says: "auto is the default"},
	canon.Default{Field: "truncation", Values: []string{`"disabled"`}, URL: responseReference, Says: "disabled is the default"})...)

// embeddingDefaults are the fields of the embeddings API of which a value means the same as absence.
var embeddingDefaults = canon.NewDefaults(
	user(embeddingReference),
	canon.Default{Field: "encoding_format", Values: []string{`"float"`}, URL: embeddingReference, Says: "float is the default"})
