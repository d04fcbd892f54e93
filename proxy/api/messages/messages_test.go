package messages

import (
	"flag"
	"testing"

	"reprise/proxy/answer"
	"reprise/proxy/api/apitest"
)

// usage is that of the recorded answers: 4 fresh tokens, 2 that were written to the prompt cache, and 5 that were read from it.
var usage = answer.Usage{Input: 11, Output: 7}

var update = flag.Bool("update", false, "rewrite the golden files")

func TestConformance(t *testing.T) {
	apitest.Run(t, Family, *update, map[string]answer.Verdict{
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
