// Package completions is the completions API: a prompt and its continuation, without messages.
package completions

import (
	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/api"
	"reprise/proxy/api/internal/choices"
	"reprise/proxy/canon"
)

const code = 2

// Family is the completions API.
var Family = api.Family{
	Name: "completions",
	Path: "/v1/completions",

	Operation: "text_completion", Provider: "openai",
	Requests: &canon.Rules{
		Code:     code,
		Field:    "prompt",
		Defaults: defaults,
		Names:    canon.MakeNames(nil, []string{"best_of", "echo", "prompt", "suffix"}),
		Read:     read,
	},
	Answers: &answer.Form{
		Code:  code,
		Judge: choices.Judge,
		Streams: choices.Streams{Object: `"text_completion"`, Chunk: `"text_completion"`,
			Play: func(c *choices.Chunks, choice gjson.Result) { c.Choice(choice.Raw) }},
	},
	UsageOption: true,
	NewID:       func(nonce [12]byte, _ string) string { return choices.NewID("cmpl-", nonce) },
}

func read(r *canon.Reader, prompt canon.Value) *canon.Error {
	prompt = r.Whole(prompt)
	switch {
	case prompt.IsString():
		r.SetPrompt(prompt)
	case prompt.Len() == 0 || !prompt.IsArray():
		r.SetExactOnly("no-prompt")
	case prompt.First().IsString():
		r.SetExactOnly("batch")
	default:
		r.SetExactOnly("tokens")
	}
	return nil
}
