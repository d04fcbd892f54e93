package api

import (
	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/answer/rawjson"
)

// The APIs of the rules, by the names of their families, and what is long in their paths.
const (
	chats  = "chat completions"
	items  = "responses"
	blocks = "messages"
	lines  = "ollama-chat ollama-generate"

	choice  = "choices[]"
	message = "choices[].message"
	finish  = "choices[].finish_reason"
	native  = " choices[].native_finish_reason" // of OpenRouter: the reason of the provider behind it
)

// Sources of more than one rule.
const (
	openaiChat    = "platform.openai.com/docs/api-reference/chat/object"
	openaiItems   = "platform.openai.com/docs/api-reference/responses/object"
	anthropic     = "docs.anthropic.com/en/api/messages"
	ollamaChat    = "github.com/ollama/ollama: docs/api.md"
	vectorReports = "platform.openai.com/docs/api-reference/embeddings; huggingface/text-embeddings-inference 51, 557; langgenius/dify 11827, 41988"
	openrouter    = "openrouter.ai/docs/api-reference/errors, which has the other APIs too"
	perplexity    = "docs.perplexity.ai/api-reference/chat-completions-post"
)

// callEnds rejects the finish reasons of a choice that calls tools: of OpenAI, Anthropic and Cohere.
var callEnds = one("tool_calls", "function_call", "tool_use", "TOOL_CALL")

// judgeRules is all that an answer must be to be kept. An error at the top of an answer or of an event of its stream is found before, in
// package answer. Of several rules that reject an answer, the first one gives the reason.
//
// The finish reasons of vendors are those of which the documentation says that the model ended by itself. Any other proves nothing, and the
// answer counts as incomplete.
var judgeRules = []rule{
	// Errors.
	{apis: chats, paths: choice + ".error " + message + ".error", rejects: filled, reason: answer.ReasonError, source: openrouter},
	{apis: items, paths: "output[].error", rejects: filled, reason: answer.ReasonError, source: openrouter},
	{apis: blocks, paths: "content[].error", rejects: filled, reason: answer.ReasonError, source: openrouter},
	{apis: chats, paths: finish + native, rejects: one("error", "ERROR", "failed", "network_error", "MALFORMED_FUNCTION_CALL",
		"insufficient_system_resource"), reason: answer.ReasonError, source: "openrouter.ai/docs; docs.bigmodel.cn; api-docs.deepseek.com; ai.google.dev"},
	{apis: chats, paths: "base_resp.status_code", rejects: func(v gjson.Result) bool { return v.Num != 0 }, reason: answer.ReasonError,
		source: "platform.minimax.io/docs/api-reference: 0 is success"},
	{apis: items, paths: "status output[].status", rejects: one("failed"), reason: answer.ReasonError, source: openaiItems},
	{apis: blocks, paths: "content[].type", rejects: one("error"), reason: answer.ReasonError, source: anthropic + ": the type of errors"},

	// What is no answer of its API.
	{apis: chats, paths: "choices", rejects: notList, reason: answer.ReasonMalformed, source: openaiChat},
	{apis: blocks, paths: "content", rejects: notList, reason: answer.ReasonMalformed, source: anthropic},

	// Thoughts that only the upstream can read.
	{apis: chats, paths: "choices", rejects: encryptedAnswer, reason: answer.ReasonEncrypted, source: "openrouter.ai/docs: reasoning_details; ai.google.dev"},
	{apis: items, paths: ".", rejects: encryptedAnswer, reason: answer.ReasonEncrypted, source: openaiItems},
	{apis: blocks, paths: "content[].type", rejects: one("redacted_thinking"), reason: answer.ReasonEncrypted, source: anthropic},

	// Cut, filtered, refused.
	{apis: chats, paths: finish + native, rejects: one("length", "max_tokens", "MAX_TOKENS", "model_length", "model_context_window_exceeded"),
		reason: answer.ReasonLength, source: openaiChat + "; docs.mistral.ai; docs.cohere.com"},
	{apis: chats, paths: finish + native, rejects: one("content_filter", "SAFETY", "sensitive"), reason: answer.ReasonContentFilter,
		source: openaiChat + "; ai.google.dev; docs.bigmodel.cn"},
	{apis: items, paths: "incomplete_details.reason", rejects: one("max_output_tokens"), reason: answer.ReasonLength, source: openaiItems},
	{apis: items, paths: "incomplete_details.reason", rejects: one("content_filter"), reason: answer.ReasonContentFilter, source: openaiItems},
	{apis: blocks, paths: "stop_reason", rejects: one("max_tokens", "model_context_window_exceeded"), reason: answer.ReasonLength, source: anthropic},
	{apis: blocks, paths: "stop_reason", rejects: one("refusal"), reason: answer.ReasonRefusal, source: anthropic},
	{apis: lines, paths: "done_reason", rejects: one("length"), reason: answer.ReasonLength, source: ollamaChat},

	// Not ended by the model. pause_turn and compaction of Anthropic go on with another request; load and unload of Ollama answer nothing.
	{apis: chats, paths: finish, rejects: notOne("stop", "tool_calls", "function_call", // OpenAI
		"eos",                        // Together: docs.together.ai/reference/chat-completions
		"eos_token", "stop_sequence", // TGI, watsonx: huggingface.github.io/text-generation-inference
		"end_turn", "tool_use", // Anthropic's, by gateways that leave them as they are
		"COMPLETE", "STOP_SEQUENCE", "TOOL_CALL", // Cohere: docs.cohere.com/reference/chat
		"STOP", // Gemini: ai.google.dev/api/generate-content
	), reason: answer.ReasonIncomplete, source: openaiChat},
	{apis: chats, paths: choice, rejects: callMissing, reason: answer.ReasonIncomplete, source: openaiChat},
	{apis: items, paths: "status", rejects: notOne("completed"), reason: answer.ReasonIncomplete, source: openaiItems},
	{apis: items, paths: "output[].status", rejects: one("incomplete", "in_progress"), reason: answer.ReasonIncomplete, source: openaiItems},
	{apis: blocks, paths: "stop_reason", rejects: notOne("end_turn", "stop_sequence", "tool_use"), reason: answer.ReasonIncomplete, source: anthropic},
	{apis: blocks, paths: ".", rejects: func(v gjson.Result) bool {
		return v.Get("stop_reason").Str == "tool_use" && !v.Get(`content.#(type=="tool_use")`).Exists()
	}, reason: answer.ReasonIncomplete, source: anthropic},
	{apis: lines, paths: "done", rejects: func(v gjson.Result) bool { return v.Type != gjson.True }, reason: answer.ReasonIncomplete, source: ollamaChat},
	{apis: lines, paths: "done_reason", rejects: other("stop", ""), reason: answer.ReasonIncomplete, source: ollamaChat + "; older versions give none"},

	// Tools of the upstream, and what it keeps.
	{apis: chats, paths: message + ".tool_calls[].type", rejects: other("function", "custom"), reason: answer.ReasonServerTools,
		source: "platform.moonshot.ai: builtin_function"},
	{apis: items, paths: "output[].type", rejects: notOne("message", "reasoning", "function_call", "custom_tool_call", "local_shell_call",
		"apply_patch_call"), reason: answer.ReasonServerTools, source: openaiItems},
	{apis: blocks, paths: "content[].type", rejects: notOne("text", "thinking", "tool_use"), reason: answer.ReasonServerTools, source: anthropic},
	{apis: blocks, paths: "container", rejects: rawjson.Given, reason: answer.ReasonServerTools, source: anthropic},
	{apis: blocks, paths: "content[].caller", rejects: func(v gjson.Result) bool { return rawjson.Given(v) && v.Get("type").Str != "direct" },
		reason: answer.ReasonServerTools, source: anthropic},

	// Calls that no client can run.
	{apis: chats, paths: message + ".tool_calls[]", rejects: broken, reason: answer.ReasonMalformed, source: "reports of empty names: xLLM-AI/xllm 722"},
	{apis: chats, paths: message + ".function_call", rejects: func(v gjson.Result) bool { return isCall(v) && broken(v) }, reason: answer.ReasonMalformed,
		source: openaiChat},
	{apis: items, paths: "output[function_call] output[custom_tool_call]", rejects: broken, reason: answer.ReasonMalformed, source: openaiItems},
	{apis: blocks, paths: "content[tool_use]", rejects: broken, reason: answer.ReasonMalformed, source: anthropic},
	{apis: blocks, paths: "content[tool_use].input", rejects: func(v gjson.Result) bool { return !v.IsObject() }, reason: answer.ReasonMalformed, source: anthropic},
	{apis: lines, paths: "message.tool_calls[]", rejects: broken, reason: answer.ReasonMalformed, source: ollamaChat},

	// Refusals.
	{apis: chats, paths: message + ".refusal", rejects: filled, reason: answer.ReasonRefusal, source: openaiChat},
	{apis: items, paths: "output[].content[].refusal", rejects: filled, reason: answer.ReasonRefusal, source: openaiItems},

	// Embeddings.
	{apis: "embeddings", paths: "data", rejects: notList, reason: answer.ReasonMalformed, source: vectorReports},
	{apis: "embeddings", paths: "data", rejects: rawjson.Empty, reason: answer.ReasonEmpty, source: vectorReports},
	{apis: "embeddings", paths: "data", against: strangeVectors, reason: answer.ReasonMalformed, source: vectorReports},

	// What is said. An answer that says and calls nothing is empty.
	{apis: chats, paths: message + ".content " + choice + ".text", says: answer.ContentText},
	{apis: items, paths: "output[message].content", says: answer.ContentText},
	{apis: blocks, paths: "content[text].text", says: answer.ContentText},
	{apis: lines, paths: "message.content response", says: answer.ContentText},

	// Sources of the live web: an operator may keep such answers. Citations of documents and files, which the client has sent, are none.
	{apis: chats + " " + items, paths: "citations[]", rejects: webSource, reason: answer.ReasonLiveWeb, source: perplexity + "; docs.x.ai/docs: live search"},
	{apis: chats, paths: "search_results search_info web_search vertex_ai_grounding_metadata venice_parameters.web_search_citations", rejects: filled,
		reason: answer.ReasonLiveWeb, source: perplexity + "; DashScope: enable_search; docs.bigmodel.cn: web_search; docs.litellm.ai: grounding; docs.venice.ai"},
	{apis: chats, paths: message + ".annotations[].type", rejects: one("url_citation"), reason: answer.ReasonLiveWeb, source: openaiChat},
	{apis: chats, paths: message + ".executed_tools", rejects: filled, reason: answer.ReasonLiveWeb, source: "console.groq.com/docs/compound"},
	{apis: items, paths: "output[].content[].annotations[].type", rejects: one("url_citation"), reason: answer.ReasonLiveWeb, source: openaiItems},
	{apis: blocks, paths: "content[].citations[].type", rejects: one("web_search_result_location"), reason: answer.ReasonLiveWeb, source: anthropic},

	// Calls of tools: an operator may keep no such answers.
	{apis: chats, paths: message + ".tool_calls[]", rejects: rawjson.Given, reason: answer.ReasonToolCalls, source: openaiChat},
	{apis: chats, paths: message + ".function_call", rejects: isCall, reason: answer.ReasonToolCalls, source: openaiChat},
	{apis: items, paths: "output[].type", rejects: one("function_call", "custom_tool_call", "local_shell_call", "apply_patch_call"),
		reason: answer.ReasonToolCalls, source: openaiItems},
	{apis: blocks, paths: "content[].type", rejects: one("tool_use"), reason: answer.ReasonToolCalls, source: anthropic},
	{apis: lines, paths: "message.tool_calls[]", rejects: rawjson.Given, reason: answer.ReasonToolCalls, source: ollamaChat},
}
