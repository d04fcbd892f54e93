package openai

import (
	"strings"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/answer/rawjson"
	"reprise/proxy/api"
)

// Judge rejects a response that is not completed, refuses or is blank.
func (responses) Judge(r gjson.Result) (v answer.Verdict) {
	var said, refusal strings.Builder
	calls, broken := false, false
	for _, item := range rawjson.Elements(r.Get("output")) {
		switch item.Get("type").Str {
		case "message":
			said.WriteString(answer.ContentText(item.Get("content")))
			for _, part := range rawjson.Elements(item.Get("content")) {
				refusal.WriteString(part.Get("refusal").String())
			}
		case "reasoning":
		case "function_call":
			calls, broken = true, broken || !answer.Arguments(item.Get("arguments"))
		case "custom_tool_call", "local_shell_call", "apply_patch_call":
			calls = true
		default: // of the upstream's own tools
			v.Reject(answer.ReasonServerTools)
		}
	}
	v.Text = said.String()
	v.Reject(statusObjection(r))
	switch {
	case api.EncryptedAnswer(r):
		v.Reject(answer.ReasonEncrypted)
	case broken:
		v.Reject(answer.ReasonMalformed)
	}
	v.RejectPart(v.Text, refusal.String(), calls)
	return v
}

// statusObjection returns the reason against the status of a response, "" where it is completed.
func statusObjection(r gjson.Result) string {
	switch r.Get("status").Str {
	case "completed":
		return ""
	case "failed":
		return answer.ReasonError
	}
	switch r.Get("incomplete_details.reason").Str {
	case "max_output_tokens":
		return answer.ReasonLength
	case "content_filter":
		return answer.ReasonContentFilter
	}
	return answer.ReasonIncomplete
}
