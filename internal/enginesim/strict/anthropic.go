package strict

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

const anthropicFields = `model messages max_tokens system tools tool_choice temperature top_p top_k stop_sequences stream metadata thinking
	service_tier container context_management mcp_servers cache_control output_config inference_geo speed diagnostics`

// anthropic is Anthropic's API. Its endpoint for OpenAI's clients ignores what it does not have.
func anthropic(r *Request) {
	if !r.is("messages") {
		return
	}
	refuse := func(message string) {
		r.refuse(http.StatusBadRequest, `{"type":"error","error":{"type":"invalid_request_error","message":%s}}`, message)
	}
	if r.Header.Get("Anthropic-Version") == "" {
		refuse("anthropic-version: header is required")
	}
	for _, name := range r.unknown(anthropicFields) {
		refuse(name + ": Extra inputs are not permitted")
	}
	if !r.has("max_tokens") {
		refuse("max_tokens: Field required")
	}
	marks, last := 0, ""
	for i, block := range anthropicBlocks(r.fields) {
		raw, has := block["cache_control"]
		if !has || string(raw) == "null" {
			continue
		}
		marks++
		ttl, ok := lifetime(raw)
		switch {
		case !ok:
			refuse(fmt.Sprintf("blocks.%d.cache_control: Input should be a valid dictionary", i))
		case string(block["text"]) == `""`:
			refuse("cache_control cannot be set for empty text blocks")
		case string(block["defer_loading"]) == "true":
			refuse("Tools with defer_loading cannot use prompt caching")
		case ttl == "1h" && last == "5m":
			refuse("a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block")
		}
		last = ttl
	}
	if r.has("cache_control") {
		marks++
	}
	if marks > 4 {
		refuse(fmt.Sprintf("A maximum of 4 blocks with cache_control may be provided. Found %d.", marks))
	}
}

// lifetime is the ttl of a mark.
func lifetime(raw json.RawMessage) (ttl string, ok bool) {
	mark := struct{ Type, TTL string }{TTL: "5m"}
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.DisallowUnknownFields()
	err := d.Decode(&mark)
	return mark.TTL, err == nil && mark.Type == "ephemeral" && (mark.TTL == "5m" || mark.TTL == "1h")
}

// anthropicBlocks are the tools and the blocks of the system prompt and of the messages, in the order of the prompt.
func anthropicBlocks(fields map[string]json.RawMessage) (all []map[string]json.RawMessage) {
	for _, name := range []string{"tools", "system"} {
		var list []map[string]json.RawMessage
		if json.Unmarshal(fields[name], &list) == nil {
			all = append(all, list...)
		}
	}
	return append(all, blocks(fields["messages"])...)
}

// Minimum is how many tokens the shortest prefix has that Anthropic keeps for a model. A shorter one is not kept, and nothing reports it.
func Minimum(model string) int {
	for _, m := range []struct {
		model  string
		tokens int
	}{{"claude-opus-4-5", 4096}, {"claude-opus-4-6", 4096}, {"claude-haiku-4-5", 4096}, {"claude-opus-4-7", 2048}, {"claude-3-haiku", 2048},
		{"claude-3-5-haiku", 2048}, {"claude-opus-5", 512}, {"claude-fable-5", 512}, {"claude-mythos-5", 512}} {
		if strings.HasPrefix(model, m.model) {
			return m.tokens
		}
	}
	return 1024
}
