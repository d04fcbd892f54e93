package completions

import (
	"flag"
	"testing"

	"reprise/proxy/answer"
	"reprise/proxy/api/apitest"
)

// usage is that of the recorded answers.
var usage = answer.Usage{Input: 11, Output: 7}

var update = flag.Bool("update", false, "rewrite the golden files")

func TestConformance(t *testing.T) {
	apitest.Run(t, Family, *update, map[string]answer.Verdict{
		"text.json": {Keep: true, Text: "Once upon", Usage: usage},
		"text.sse":  {Keep: true, Text: "Once upon", Usage: usage},
	})
}

func TestJudge(t *testing.T) {
	choice := func(s string) string { return `{"choices":[` + s + `]}` }
	for _, c := range []struct {
		name   string
		stream bool
		body   string
		want   string
	}{
		{"second choice cut", false, choice(`{"text":"a","finish_reason":"stop"},{"text":"b","finish_reason":"length"}`), answer.ReasonLength},
		{"completion", false, choice(`{"text":"a","finish_reason":"stop"}`), ""},
	} {
		apitest.Judge(t, Family, c.name, c.stream, c.body, c.want)
	}
}
