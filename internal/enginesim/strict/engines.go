package strict

import (
	"encoding/base64"
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"strings"
)

// salt checks cache_salt as vLLM does.
func (r *Request) salt(refusal string) {
	raw, has := r.fields["cache_salt"]
	if !has || string(raw) == "null" {
		return
	}
	var value string
	if json.Unmarshal(raw, &value) != nil || value == "" || len(value) > 1024 {
		r.refuse(http.StatusBadRequest, refusal, "Parameter 'cache_salt' must be a non-empty string if provided.")
	}
}

const vLLMError = `{"error":{"message":%s,"type":"BadRequestError","param":null,"code":400}}`

// vLLM ignores unknown fields and writes one warning for all of them.
func vLLM(r *Request) {
	if !r.is("messages") {
		r.result.Ignored = r.foreign(cacheFields, "cache_salt priority session_id kv_transfer_params vllm_xargs request_id "+samplingFields)
	}
	r.salt(vLLMError)
	if raw := string(r.fields["priority"]); r.has("priority") && raw != "0" {
		r.refuse(http.StatusBadRequest, vLLMError, "Got priority "+raw+" but Priority scheduling is not enabled.")
	}
	if r.has("stream_options") && !r.isTrue("stream") {
		r.refuse(http.StatusBadRequest, vLLMError, "Stream options can only be defined when `stream=True`.")
	}
	if id := r.Header.Get("X-Session-ID"); len(id) > 256 {
		r.refuse(http.StatusBadRequest, vLLMError, "X-Session-ID is too long.")
	}
}

// without is a list of names without others.
func without(list, others string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(list), func(name string) bool { return slices.Contains(strings.Fields(others), name) }), " ")
}

// sgLang ignores unknown fields.
func sgLang(r *Request) {
	for _, name := range []string{"cache_salt", "extra_key"} {
		if _, ok := r.text(name, 0, 1<<20); !ok && !isList(r.fields[name]) {
			r.refuse(http.StatusUnprocessableEntity, `{"detail":[{"type":"string_type","loc":["body",%s],"msg":"Input should be a valid string"}]}`, name)
		}
	}
}

func isList(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '[' }

// smgHeaders drops the headers that SMG neither forwards nor reads itself. It forwards all members of the body.
func smgHeaders(r *Request) {
	kept := []string{"Authorization", "X-Request-Id", "X-Correlation-Id", "Traceparent", "Tracestate", "X-Smg-Routing-Key", "Content-Type", "Content-Length",
		"X-Smg-Target-Worker", "X-Smg-Tenant-Id", "X-Smg-Priority"}
	for name := range r.Header {
		if !slices.Contains(kept, name) && !strings.HasPrefix(name, "X-Request-Id-") {
			r.result.Dropped = append(r.result.Dropped, name)
		}
	}
}

const trtError = `{"object":"error","message":%s,"type":"BadRequestError","param":null,"code":400}`

// trtLLM refuses unknown fields.
func trtLLM(r *Request) {
	if r.is("messages") {
		r.refuse(http.StatusNotFound, `{"detail":"Not Found"}`)
		return
	}
	own := "cache_salt priority conversation_params agent_hierarchy disaggregated_params lora_request " + samplingFields
	if r.is("responses") {
		own = ""
	}
	names := r.foreign(cacheFields+"safety_identifier verbosity web_search_options conversation context_management", own)
	for _, name := range names {
		r.refuse(http.StatusBadRequest, trtError, "[{'type': 'extra_forbidden', 'loc': ('body', '"+name+"'), 'msg': 'Extra inputs are not permitted'}]")
	}
	if _, ok := r.text("cache_salt", 0, 1<<20); !ok {
		r.refuse(http.StatusBadRequest, trtError, "[{'type': 'string_type', 'loc': ('body', 'cache_salt'), 'msg': 'Input should be a valid string'}]")
	}
	var level float64
	if raw, has := r.fields["priority"]; has && (json.Unmarshal(raw, &level) != nil || level < 0 || level > 1) {
		r.refuse(http.StatusBadRequest, trtError, "[{'type': 'less_than_equal', 'loc': ('body', 'priority'), 'msg': 'Input should be less than or equal to 1'}]")
	}
}

// dynamo refuses unknown fields, all in one message.
func dynamo(r *Request) {
	own := "cache_salt stop_token_ids detokenize allowed_token_ids bad_words_token_ids nvext min_tokens ignore_eos top_k min_p repetition_penalty " +
		"include_stop_str_in_output chat_template_args chat_template_kwargs"
	if r.is("responses") {
		own = "nvext"
	}
	names := r.foreign(cacheFields, own)
	if len(names) > 0 {
		r.refuse(http.StatusBadRequest, `{"message":%s,"type":"Bad Request","code":400}`, "Validation: Unsupported parameter(s): "+strings.Join(names, ", "))
	}
	r.salt(`{"message":%s,"type":"Bad Request","code":400}`)
}

// podSession reads x-session-id as the address of a pod, as AIBrix does before vLLM gets the request.
func podSession(r *Request) {
	if id := r.Header.Get("X-Session-Id"); id != "" {
		pod, err := base64.StdEncoding.DecodeString(id)
		if _, _, split := net.SplitHostPort(string(pod)); err != nil || split != nil {
			r.refuse(http.StatusBadRequest, `{"error":{"message":"x-session-id is no address of a pod","type":"invalid_request_error"}}`)
		}
	}
}
