package generate

import (
	"flag"
	"testing"

	"reprise/proxy/answer"
	"reprise/proxy/api/apitest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestConformance(t *testing.T) {
	usage := answer.Usage{Input: 26, Output: 4}
	apitest.Run(t, Family, *update, map[string]answer.Verdict{
		"text.json":       {Keep: true, Text: "Light is scattered.", Usage: usage},
		"text.ndjson":     {Keep: true, Text: "Light is scattered.", Usage: usage},
		"thinking.ndjson": {Keep: true, Text: "Scattering.", Usage: answer.Usage{Output: 9}},
	})
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name   string
		stream bool
		body   string
		want   string
	}{
		{"unloaded", false, `{"response":"","done":true,"done_reason":"unload"}`, answer.ReasonIncomplete},
		{"cut", true, `{"response":"a","done":true,"done_reason":"length"}` + "\n", answer.ReasonLength},
		{"more behind the end", true, `{"response":"a","done":true}` + "\n" + `{"response":"b","done":true}` + "\n", ""},
	} {
		apitest.Judge(t, Family, c.name, c.stream, c.body, c.want)
	}
}
