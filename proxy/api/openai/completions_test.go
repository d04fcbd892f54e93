package openai

import (
	"testing"

	"reprise/proxy/answer"
	"reprise/proxy/api/apitest"
)

func TestCompletionsConformance(t *testing.T) {
	apitest.Run(t, Completions, *update, map[string]answer.Verdict{
		"text.json": {Keep: true, Text: "Once upon", Usage: usage},
		"text.sse":  {Keep: true, Text: "Once upon", Usage: usage},
	})
}

func TestCompletionsJudge(t *testing.T) {
	choice := func(s string) string { return `{"choices":[` + s + `]}` }
	apitest.Judge(t, Completions, cases{
		{"second choice cut", false, choice(`{"text":"a","finish_reason":"stop"},{"text":"b","finish_reason":"length"}`), answer.ReasonLength},
		{"completion", false, choice(`{"text":"a","finish_reason":"stop"}`), ""},
	})
}

const completionsRequest = `{"model":"m","prompt":"hi"}`

func TestCompletionsDefaults(t *testing.T) {
	apitest.Defaults(t, Completions, completionsRequest)
}

func TestCompletionsApart(t *testing.T) {
	apitest.Apart(t, Completions, completionsRequest, map[string]string{
		`"max_tokens":null`:    "vLLM then has no limit, and 16 for absent",
		`"max_tokens":16`:      "llama.cpp has no limit for absent",
		`"stop":[]`:            "Ollama drops the stops of the model",
		`"logprobs":0`:         "the log probability of each token",
		`"suffix":""`:          "not documented",
		`"temperature":1`:      "vLLM has that of the model's generation config",
		`"presence_penalty":0`: "vLLM has that of the model's generation config",
		`"user":null`:          "not documented",
	})
}
