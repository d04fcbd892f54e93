// Package strict is how kinds of upstreams receive fields: which ones each of them accepts, refuses, warns of or passes over, of what
// type and length, for which models, and which headers. It is written from the upstreams' documentation and sources, and not from the
// dialects of the proxy, which it is there to test.
package strict

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Request is a request as an upstream gets it.
type Request struct {
	Path   string
	Header http.Header
	Body   []byte

	fields map[string]json.RawMessage
	model  string
	result *Result
}

// Result is what an upstream makes of the fields of a request.
type Result struct {
	Status  int      // of a refusal; 0: the request is accepted
	Body    string   // of a refusal, in the upstream's words
	Ignored []string // members of the body that have no effect
	Dropped []string // headers that do not reach the engine
}

// Upstream is one kind of upstream.
type Upstream struct{ name string }

// checks are what a kind of upstream looks at. Fields are looked at in requests for an answer of a model alone.
type checks struct{ headers, fields func(*Request) }

// upstreams are the kinds, by their name as a dialect.
var upstreams = map[string]checks{
	"generic": {}, "plain": {}, "llamacpp": {}, "sglang": {fields: sgLang}, "vllm": {fields: vLLM}, "smg": {smgHeaders, sgLang}, "trtllm": {fields: trtLLM},
	"dynamo": {fields: dynamo}, "llm-d": {fields: vLLM}, "aibrix": {podSession, vLLM}, "production-stack": {fields: vLLM}, "openai": {fields: openAI},
	"azure-openai": {fields: openAI}, "anthropic": {fields: anthropic}, "xai": {fields: xAI}, "fireworks": {fields: fireworks},
	"mistral": {fields: mistral},
}

// New returns the kind called name.
func New(name string) (Upstream, error) {
	if _, ok := upstreams[name]; !ok {
		return Upstream{}, fmt.Errorf("upstream %q is not one of %s", name, strings.Join(slices.Sorted(maps.Keys(upstreams)), ", "))
	}
	return Upstream{name}, nil
}

// Check returns what the upstream makes of r. A body that is no object is not looked at.
func (u Upstream) Check(r Request) Result {
	r.result = new(Result)
	if json.Unmarshal(r.Body, &r.fields) == nil {
		_ = json.Unmarshal(r.fields["model"], &r.model)
	}
	of := upstreams[u.name]
	if of.headers != nil {
		of.headers(&r)
	}
	if of.fields != nil && r.generates() {
		of.fields(&r)
	}
	return *r.result
}

// is reports whether the path is that of an endpoint such as "chat/completions".
func (r *Request) is(endpoint string) bool {
	if endpoint == "completions" && strings.HasSuffix(r.Path, "/chat/completions") {
		return false
	}
	return strings.HasSuffix(r.Path, "/"+endpoint)
}

// generates reports whether the request is for an endpoint whose fields are checked.
func (r *Request) generates() bool {
	return r.fields != nil && (r.is("chat/completions") || r.is("completions") || r.is("responses") || r.is("messages"))
}

// refuse refuses the request, unless it is refused already. The body is a template for JSON strings.
func (r *Request) refuse(status int, template string, texts ...string) {
	if r.result.Status > 0 {
		return
	}
	quoted := make([]any, len(texts))
	for i, text := range texts {
		b, _ := json.Marshal(text) // a string cannot fail
		quoted[i] = string(b)
	}
	r.result.Status, r.result.Body = status, fmt.Sprintf(template, quoted...)
}

// unknown are the members of the body that are not in the lists, sorted.
func (r *Request) unknown(lists ...string) (names []string) {
	known := map[string]bool{}
	for _, list := range lists {
		for name := range strings.FieldsSeq(list) {
			known[name] = true
		}
	}
	for name := range r.fields {
		if !known[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// text returns a member that must be a string of least to most characters, where it is there and not null.
func (r *Request) text(name string, least, most int) (value string, ok bool) {
	raw, has := r.fields[name]
	if !has || string(raw) == "null" {
		return "", true
	}
	if json.Unmarshal(raw, &value) != nil || len([]rune(value)) < least || len([]rune(value)) > most {
		return "", false
	}
	return value, true
}

// has reports whether a member is there and not null.
func (r *Request) has(name string) bool {
	raw, has := r.fields[name]
	return has && string(raw) != "null"
}

// isTrue reports whether a member is true.
func (r *Request) isTrue(name string) bool { return string(r.fields[name]) == "true" }

// foreign are the members that the request's endpoint does not have: neither in OpenAI's specification, less those in dropped, nor among own.
func (r *Request) foreign(dropped, own string) []string {
	fields := chatFields
	switch {
	case r.is("responses"):
		fields = responseFields
	case r.is("completions"):
		fields = completionFields
	}
	return r.unknown(without(fields, dropped), own)
}

// cacheFields are the members that say how a prefix is cached, of OpenAI.
const cacheFields = "prompt_cache_key prompt_cache_retention prompt_cache_options "

// The members that requests of OpenAI's endpoints have, from its specification of 2026.
const (
	chatFields = `messages model audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens metadata
		modalities n parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_retention prompt_cache_options reasoning_effort
		response_format safety_identifier seed service_tier stop store stream stream_options temperature tool_choice tools top_logprobs top_p user
		verbosity web_search_options`
	completionFields = `model prompt best_of echo frequency_penalty logit_bias logprobs max_tokens n presence_penalty seed stop stream
		stream_options suffix temperature top_p user`
	responseFields = `background context_management conversation include input instructions max_output_tokens max_tool_calls metadata model
		parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_retention prompt_cache_options reasoning safety_identifier
		service_tier store stream stream_options temperature text tool_choice tools top_logprobs top_p truncation user`
	samplingFields = `top_k min_p repetition_penalty length_penalty min_tokens ignore_eos include_stop_str_in_output skip_special_tokens
		spaces_between_special_tokens stop_token_ids echo best_of use_beam_search chat_template chat_template_kwargs add_generation_prompt
		continue_final_message add_special_tokens`
)
