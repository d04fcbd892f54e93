package strict

import (
	"encoding/json"
	"net/http"
	"strings"
)

// openAI is OpenAI's API, and Azure's.
func openAI(r *Request) {
	const wrong = `{"error":{"message":%s,"type":"invalid_request_error","param":null,"code":null}}`
	refuse := func(message string) { r.refuse(http.StatusBadRequest, wrong, message) }
	switch {
	case r.is("responses"):
		for _, name := range r.foreign("", "") {
			r.refuse(http.StatusBadRequest, `{"error":{"message":%s,"type":"invalid_request_error","param":%s,"code":"unknown_parameter"}}`, "Unknown parameter: '"+name+"'.", name)
		}
	case r.is("messages"):
		r.refuse(http.StatusNotFound, wrong, "Invalid URL (POST "+r.Path+")")
	default:
		for _, name := range r.foreign("", "") {
			refuse("Unrecognized request argument supplied: " + name)
		}
	}
	if _, ok := r.text("prompt_cache_key", 0, 64); !ok {
		refuse("Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64.")
	}
	if r.has("stream_options") && !r.isTrue("stream") {
		refuse("The 'stream_options' parameter is only allowed when 'stream' is enabled.")
	}
	r.openAIRetention(refuse)
}

// in56 reports whether a model is of GPT-5.6 or a later family.
func in56(model string) bool {
	return strings.HasPrefix(model, "gpt-5.6") || strings.HasPrefix(model, "gpt-5.7") || strings.HasPrefix(model, "gpt-6")
}

// keptLong are the models that can be kept for 24 hours, from OpenAI's guide.
const keptLong = "gpt-5.5 gpt-5.5-pro gpt-5.4 gpt-5.2 gpt-5.1-codex-max gpt-5.1 gpt-5.1-codex gpt-5.1-codex-mini gpt-5.1-chat-latest gpt-5 gpt-5-codex gpt-4.1"

// openAIRetention checks the fields that concern how long a prefix is kept.
func (r *Request) openAIRetention(refuse func(string)) {
	if retention, ok := r.text("prompt_cache_retention", 0, 64); !ok || retention != "" && retention != "in_memory" && retention != "24h" {
		refuse("Invalid value for 'prompt_cache_retention': supported values are 'in_memory' and '24h'.")
	} else if retention != "" && (in56(r.model) || retention == "24h" && len(without(r.model, keptLong)) > 0) {
		refuse("prompt_cache_retention is not supported on this model")
	}
	if r.has("prompt_cache_retention") && r.has("prompt_cache_options") {
		refuse("prompt_cache_retention and prompt_cache_options cannot be used together")
	}
	var options struct{ Mode, TTL string }
	if r.has("prompt_cache_options") {
		decoder := json.NewDecoder(strings.NewReader(string(r.fields["prompt_cache_options"])))
		decoder.DisallowUnknownFields()
		switch err := decoder.Decode(&options); {
		case !in56(r.model):
			refuse("prompt_cache_options is not supported on this model")
		case err != nil || options.Mode != "" && options.Mode != "implicit" && options.Mode != "explicit" || options.TTL != "" && options.TTL != "30m":
			refuse("Invalid value for 'prompt_cache_options'")
		}
	}
	r.openAIBreakpoints(refuse)
}

// openAIBreakpoints checks the marks in the blocks of messages.
func (r *Request) openAIBreakpoints(refuse func(string)) {
	list, allowed := r.fields["messages"], "text image_url input_audio file refusal"
	if r.is("responses") {
		list, allowed = r.fields["input"], "input_text input_image input_file input_audio output_text refusal"
	}
	marks := 0
	for _, block := range blocks(list) {
		kind := strings.Trim(string(block["type"]), `"`)
		if kind == "" || without(kind, allowed) != "" {
			refuse("Invalid value: '" + kind + "'. Supported values are: " + allowed)
		}
		raw, has := block["prompt_cache_breakpoint"]
		if !has {
			continue
		}
		marks++
		if !in56(r.model) {
			refuse("prompt_cache_breakpoint is not supported on this model")
		}
		if string(raw) != `{"mode":"explicit"}` {
			refuse("Invalid value for 'prompt_cache_breakpoint'")
		}
	}
	if marks > 4 {
		refuse("prompt_cache_breakpoint: at most 4 are allowed")
	}
}

// blocks are the blocks of all messages whose content is a list.
func blocks(list json.RawMessage) (all []map[string]json.RawMessage) {
	var messages []struct{ Content json.RawMessage }
	if json.Unmarshal(list, &messages) != nil {
		return nil
	}
	for _, m := range messages {
		var content []map[string]json.RawMessage
		if json.Unmarshal(m.Content, &content) == nil {
			all = append(all, content...)
		}
	}
	return all
}

// xAI ignores prompt_cache_key in chats. It takes stream_options, as streams show that its users have recorded (BerriAI/litellm 17136,
// brainlid/langchain 626).
func xAI(r *Request) {
	if r.is("chat/completions") && r.has("prompt_cache_key") {
		r.result.Ignored = []string{"prompt_cache_key"}
	}
}

// fireworks refuses unknown fields.
func fireworks(r *Request) {
	const refusal = `{"error":{"object":"error","type":"invalid_request_error","code":"invalid_request_error","message":%s}}`
	dropped := "prompt_cache_retention prompt_cache_options web_search_options "
	own := "prompt_cache_isolation_key prompt_cache_max_len context_length_exceeded_behavior raw_output perf_metrics_in_response reasoning_history " + samplingFields
	if r.is("responses") {
		dropped += "prompt_cache_key"
	} else {
		own += " prompt_cache_key"
	}
	for _, name := range r.foreign(dropped, own) {
		r.refuse(http.StatusBadRequest, refusal, "Extra inputs are not permitted, field: '"+name+"'")
	}
}

// mistral refuses unknown fields with 422.
func mistral(r *Request) {
	const known = `model messages temperature top_p max_tokens stream stop random_seed metadata response_format tools tool_choice presence_penalty
		frequency_penalty n prediction parallel_tool_calls prompt_mode reasoning_effort guardrails safe_prompt prompt_cache_key`
	names := r.unknown(known)
	if !r.is("chat/completions") {
		names = r.unknown(completionFields, responseFields)
		for _, name := range []string{"prompt_cache_key", "stream_options"} {
			if r.has(name) {
				names = append(names, name)
			}
		}
	}
	for _, name := range names {
		r.refuse(http.StatusUnprocessableEntity, `{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body",%s],"msg":"Extra inputs are not permitted"}]},`+
			`"type":"invalid_request_error","param":null,"code":null}`, name)
	}
	if _, ok := r.text("prompt_cache_key", 0, 256); !ok {
		r.refuse(http.StatusUnprocessableEntity, `{"object":"error","message":{"detail":[{"type":"string_type","loc":["body","prompt_cache_key"]}]}}`)
	}
}
