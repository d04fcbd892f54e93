package openai

import (
	"reprise/proxy/answer"
	"reprise/proxy/api"
	"reprise/proxy/canon"
)

// Completions is the completions API: a prompt and its continuation, without messages.
var Completions = api.Family{
	Name: "completions",
	Path: "/v1/completions",

	Operation: "text_completion", Provider: "openai",
	Requests: &canon.Rules{
		Code:         codeCompletions,
		Field:        "prompt",
		Defaults:     completionDefaults,
		Names:        canon.MakeNames(nil, []string{"best_of", "echo", "prompt", "suffix"}),
		Conversation: prompt{},
	},
	Answers: &answer.Form{Code: codeCompletions, Judge: api.Judge("completions", nil), Streams: completionAnswers,
		Always: []string{"usage", "object", "choices.0.index"}},
	UsageOption: true,
	ID:          api.ReplayID{Prefix: "cmpl-"},
}

var completionAnswers = choices{object: `"text_completion"`, chunk: `"text_completion"`}

// prompt implements [canon.Conversation].
type prompt struct{}

func (prompt) Read(r *canon.Reader, prompt canon.Value) *canon.Error {
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
