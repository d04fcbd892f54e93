package canon

import "unicode/utf8"

// known are the names that the APIs or this proxy read, in places of a fixed shape. The value tells whether what the name
// holds has a fixed shape too; where it is false, names belong to the user (JSON schemas, arguments, metadata).
var known = knownNames(
	[]string{
		"audio", "cache", "content", "file", "format", "function", "function_call", "functions", "image_url", "input",
		"input_audio", "json_schema", "messages", "modalities", "output", "prediction", "prompt", "reasoning",
		"response_format", "stream_options", "text", "tool_calls", "tool_choice", "tools",
	},
	[]string{
		"access_programs", "add_generation_prompt", "allowed_tools", "annotations", "arguments", "background", "best_of",
		"cache_control", "cache_salt", "call_id", "chat_template", "chat_template_kwargs", "context_management",
		"continue_final_message", "conversation", "custom", "data", "description", "detail", "dimensions", "echo",
		"effort", "enable_search", "enable_thinking", "encoding_format", "extra_body", "file_data", "file_id", "filename",
		"frequency_penalty", "guided_choice", "guided_grammar", "guided_json", "guided_regex", "id", "ignore_eos",
		"include", "include_obfuscation", "include_usage", "instructions", "keep_alive", "kv_transfer_params",
		"logit_bias", "logprobs", "max_completion_tokens", "max_output_tokens", "max_tokens", "max_tool_calls", "metadata",
		"min_p", "min_tokens", "model", "moderation", "n", "name", "namespace", "no-cache", "no-store", "options",
		"parallel_tool_calls", "parameters", "phase", "plugins", "presence_penalty", "previous_response_id", "priority",
		"prompt_cache_breakpoint", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention",
		"reasoning_content", "reasoning_effort", "refusal", "repetition_penalty", "role", "s-maxage", "safety_identifier",
		"schema", "search_parameters", "seed", "service_tier", "skip_special_tokens", "status", "stop", "stop_token_ids",
		"store", "stream", "strict", "structured_outputs", "suffix", "summary", "temperature", "thinking", "tool_call_id",
		"top_k", "top_logprobs", "top_p", "truncation", "ttl", "type", "url", "use-cache", "user", "variables",
		"verbosity", "version", "web_search_options",
	},
)

func knownNames(shaped, plain []string) map[string]bool {
	names := make(map[string]bool, len(shaped)+len(plain))
	for _, s := range shaped {
		names[s] = true
	}
	for _, s := range plain {
		names[s] = false
	}
	return names
}

// checkNames refuses names below i that a reader which folds letter case would take for a known one.
func (d *doc) checkNames(i uint32) *Error {
	if !d.odd {
		return nil // every name is in lower case: it equals what it folds to
	}
	switch d.nodes[i].kind {
	case array:
		index := 0
		for j := i + 1; j < d.nodes[i].next; j = d.nodes[j].next {
			if err := d.checkNames(j); err != nil {
				return err.at(index)
			}
			index++
		}
	case object:
		for _, name := range d.members(i) {
			if err := d.checkName(name); err != nil {
				return err.under(d.text(name))
			}
		}
	}
	return nil
}

func (d *doc) checkName(name uint32) *Error {
	s := d.text(name)
	if isOdd(s) {
		var buf [64]byte
		folded := fold(buf[:0], s)
		if _, ok := known[string(folded)]; ok {
			return refuse(CodeCase, d.offset(name), "differs from the field %q in letter case alone; write it so", string(folded))
		}
	}
	if known[string(s)] {
		return d.checkNames(name + 1)
	}
	return nil
}

// isOdd tells whether a name may fold to another one: known names have lower-case letters of ASCII only.
func isOdd(name []byte) bool {
	for _, c := range name {
		if 'A' <= c && c <= 'Z' || c >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

// fold appends name with all that folds to a lower-case letter of ASCII made one. Beyond A to Z, Unicode's simple folding
// (the one of strings.EqualFold, and so of encoding/json) has two such characters: ſ (long s) and K (kelvin sign).
func fold(dst, name []byte) []byte {
	for _, r := range string(name) {
		switch {
		case 'A' <= r && r <= 'Z':
			r += 'a' - 'A'
		case r == 'ſ':
			r = 's'
		case r == '\u212a':
			r = 'k'
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}
