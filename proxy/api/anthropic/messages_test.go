package anthropic

import (
	"flag"
	"testing"

	"reprise/proxy/answer"
	"reprise/proxy/api/apitest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// cases are answers and the reasons not to keep them; see [apitest.Judge].
type cases = []struct {
	Name         string
	Stream       bool
	Body, Reason string
}

// usage is that of the recorded answers: 4 fresh tokens, 2 that were written to the prompt cache, and 5 that were read from it.
var usage = answer.Usage{Input: 11, Output: 7}

func TestMessagesConformance(t *testing.T) {
	apitest.Run(t, Messages, *update, map[string]answer.Verdict{
		"blocks.json":   {Keep: true, Text: "One. Two.", Usage: usage},
		"plain.sse":     {Keep: true, Text: "no padding", Usage: usage},
		"redacted.json": {Reason: answer.ReasonEncrypted, Text: "Yes.", Usage: usage},
		"refusal.json":  {Reason: answer.ReasonRefusal, Usage: usage},
		"search.json":   {Reason: answer.ReasonServerTools, Text: "Sunny.", Usage: usage},
		"split.sse":     {Reason: answer.ReasonLength, Text: "ab", Usage: usage},
		"text.json":     {Keep: true, Text: "Grüße, \"world\"\n", Usage: usage},
		"text.sse":      {Keep: true, Text: `Grüße, "world" \n 😀`, Usage: usage},
		"thinking.json": {Keep: true, Text: "Yes.", Usage: usage},
		"thinking.sse":  {Keep: true, Text: "Yes.", Usage: usage},
		"tools.json":    {Reason: answer.ReasonToolCalls, ToolCalls: true, Text: "I look.", Usage: usage},
		"tools.sse":     {Reason: answer.ReasonToolCalls, ToolCalls: true, Text: "I look.", Usage: usage},
	})
}

const messagesRequest = `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"hi"}]}`

func TestMessagesDefaults(t *testing.T) { apitest.Defaults(t, Messages, messagesRequest) }

func TestMessagesApart(t *testing.T) {
	apitest.Apart(t, Messages, messagesRequest, map[string]string{
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
