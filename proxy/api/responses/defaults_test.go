package responses

import (
	"testing"

	"reprise/proxy/api/apitest"
)

const plainRequest = `{"model":"m","input":"hi"}`

func TestDefaults(t *testing.T) {
	apitest.Defaults(t, Family, plainRequest)
	apitest.Stated(t, Family, "github.com/openai/openai-go/v3/responses",
		apitest.Statement{Field: "truncation", Type: "ResponseNewParams", Member: "Truncation", Words: "`disabled` (default)"},
		apitest.Statement{Field: "text.format", Type: "ResponseTextConfigParam", Member: "Format", Words: "The default format is `{ \"type\": \"text\" }` with no additional options"})
}

func TestApart(t *testing.T) {
	apitest.Apart(t, Family, plainRequest, map[string]string{
		`"store":null`:                "vLLM takes null for false",
		`"store":false`:               "absent is true",
		`"parallel_tool_calls":null`:  "vLLM takes null for false",
		`"truncation":null`:           "vLLM takes null for auto",
		`"truncation":"auto"`:         "the other",
		`"top_logprobs":null`:         "vLLM returns none for null",
		`"top_logprobs":0`:            "not documented",
		`"reasoning":{}`:              "not documented",
		`"reasoning":{"effort":null}`: "SGLang has medium for absent",
		`"tool_choice":"auto"`:        "documented for requests with tools",
		`"tools":null`:                "not documented",
		`"text":{"x":1}`:              "not documented",
		`"service_tier":"auto"`:       "Groq has on_demand",
		`"metadata":{}`:               "not documented",
		`"include":[]`:                "not documented",
		`"stop":[]`:                   "not documented",
		`"temperature":1`:             "vLLM has that of the model's generation config",
	})
	const tools = `{"model":"m","input":"hi","tools":[{"type":"function","name":"f"}]}`
	apitest.Apart(t, Family, tools, map[string]string{`"tool_choice":null`: "not documented"})
}
