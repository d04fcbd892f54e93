package completions

import (
	"testing"

	"reprise/proxy/api/apitest"
)

const plainRequest = `{"model":"m","prompt":"hi"}`

func TestDefaults(t *testing.T) {
	apitest.Defaults(t, Family, plainRequest)
}

func TestApart(t *testing.T) {
	apitest.Apart(t, Family, plainRequest, map[string]string{
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
