package chat

import (
	"testing"

	"reprise/proxy/api/apitest"
)

const plainRequest = `{"model":"m","messages":[{"role":"user","content":"hi"}]}`

func TestDefaults(t *testing.T) {
	apitest.Defaults(t, Family, plainRequest)
	apitest.Stated(t, Family, "github.com/openai/openai-go/v3",
		apitest.Statement{Field: "tool_choice", Type: "ChatCompletionNewParams", Member: "ToolChoice", Words: "`auto` is the default if tools are present"})
	apitest.Stated(t, Family, "github.com/openai/openai-go/v3/shared",
		apitest.Statement{Field: "response_format", Type: "ResponseFormatTextParam", Words: "Default response format"})
}

func TestApart(t *testing.T) {
	const tools = `"tools":[{"type":"function","function":{"name":"f"}}]`
	apitest.Apart(t, Family, plainRequest, map[string]string{
		`"tools":null`:                  "not documented",
		`"tool_choice":"none"`:          "SGLang finds tools in messages",
		`"parallel_tool_calls":null`:    "vLLM takes null for false",
		`"top_logprobs":0`:              "llama.cpp has 20",
		`"top_logprobs":null`:           "vLLM returns none for null",
		`"reasoning_effort":null`:       "SGLang has had medium",
		`"reasoning_effort":"medium"`:   "the default is the model's",
		`"verbosity":"medium"`:          "the default is the model's",
		`"stop":[]`:                     "Ollama drops the stops of the model",
		`"modalities":["text"]`:         "the default is the model's",
		`"service_tier":"auto"`:         "Groq has on_demand",
		`"temperature":1`:               "vLLM has that of the model's generation config",
		`"top_p":1`:                     "vLLM has that of the model's generation config",
		`"frequency_penalty":0`:         "vLLM has that of the model's generation config",
		`"presence_penalty":0`:          "vLLM has that of the model's generation config",
		`"max_tokens":4096`:             "each engine has its own",
		`"seed":0`:                      "a seed",
		`"response_format":null`:        "not documented",
		`"user":null`:                   "not documented",
		`"logit_bias":{}`:               "not documented",
		`"metadata":{}`:                 "not documented",
		`"x":null`:                      "not known",
		`"response_format":{"type":""}`: "not documented",
		`"chat_template_kwargs":{}`:     "not documented",
	})
	apitest.Apart(t, Family, plainRequest[:len(plainRequest)-1]+","+tools+"}", map[string]string{
		`"tool_choice":null`:   "vLLM then returns calls of tools as text",
		`"tool_choice":"none"`: "no call",
	})
}
