// Package generate is the API of Ollama that goes on from a prompt, whose streams are lines of JSON.
package generate

import (
	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/answer/rawjson"
	"reprise/proxy/api"
	"reprise/proxy/api/internal/lines"
	"reprise/proxy/canon"
)

const code = 7

// Family is the API of Ollama that goes on from a prompt.
var Family = api.Family{
	Name: "ollama-generate",
	Path: "/api/generate",

	Operation: "text_completion", Provider: "ollama",
	Requests: &canon.Rules{
		Code:   code,
		Field:  "prompt",
		Names:  canon.MakeNames(nil, []string{"context", "images", "prompt", "raw", "shift", "suffix", "system", "template", "think", "truncate"}),
		System: []string{"system"},
		// keep_alive is how long the model stays loaded afterwards.
		Aside:     []string{"keep_alive"},
		ExactOnly: []string{"raw", "suffix", "template", "context"},
		Streamed:  true,
		Read:      read,
	},
	Answers: &answer.Form{Code: code, Lines: true, Judge: judge,
		Streams: lines.Streams{Grows: map[string]bool{"response": true, "thinking": true, "logprobs": true}, Last: last}},
	AnyType:   true,
	ErrorBody: lines.ErrorBody,
}

// read reads the prompt: a request without one loads or unloads the model.
func read(r *canon.Reader, prompt canon.Value) *canon.Error {
	switch {
	case prompt.IsString():
		r.UserMessage(prompt)
	case prompt.Given():
		return r.Bad("must be a string")
	default:
		r.Whole(prompt)
		r.SetUncacheable("empty-prompt")
		r.SetExactOnly("no-prompt")
	}
	return nil
}

func judge(r gjson.Result) answer.Verdict { return lines.Judge(r, r.Get("response").String(), false) }

// last appends the text of a stream's last line, which is empty.
func last(dst []byte, k, _ gjson.Result) []byte {
	if k.Str != "response" {
		return dst
	}
	return rawjson.AppendMember(dst, 1, k.Raw, `""`)
}
