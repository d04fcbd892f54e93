package messages

import (
	"testing"

	"reprise/proxy/api/apitest"
)

const plainRequest = `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"hi"}]}`

func TestDefaults(t *testing.T) { apitest.Defaults(t, Family, plainRequest) }

func TestApart(t *testing.T) {
	apitest.Apart(t, Family, plainRequest, map[string]string{
		`"thinking":{"type":"disabled"}`: "absent is the model's",
		`"thinking":null`:                "not documented",
		`"speed":"standard"`:             "not documented as the default",
		`"service_tier":"auto"`:          "not documented as the default",
		`"service_tier":null`:            "not documented",
		`"tools":[]`:                     "not documented",
		`"tool_choice":{"type":"none"}`:  "gateways find tools in messages",
		`"tool_choice":{"type":"auto"}`:  "documented for requests with tools",
		`"stop_sequences":[]`:            "not documented",
		`"metadata":{}`:                  "not documented",
		`"metadata":{"user_id":"u"}`:     "a user",
		`"system":""`:                    "not documented",
		`"system":null`:                  "not documented",
		`"temperature":1`:                "vLLM has that of the model's generation config",
		`"top_k":0`:                      "not documented",
		`"output_config":{}`:             "not documented",
	})
}
