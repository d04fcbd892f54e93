package embeddings

import (
	"flag"
	"testing"

	"reprise/proxy/answer"
	"reprise/proxy/api/apitest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestConformance(t *testing.T) {
	apitest.Run(t, Family, *update, map[string]answer.Verdict{
		"float.json": {Keep: true, Usage: answer.Usage{Input: 2}},
	})
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name   string
		stream bool
		body   string
		want   string
	}{
		{"base64", false, `{"data":[{"embedding":"AAAA"}]}`, ""},
		{"no data", false, `{"data":[]}`, answer.ReasonEmpty},
		{"no vector", false, `{"data":[{"embedding":[1]},{"embedding":[]}]}`, answer.ReasonEmpty},
		{"data missing", false, `{}`, answer.ReasonMalformed},
		{"streamed embeddings", true, "data: [DONE]\n\n", answer.ReasonMalformed},
	} {
		apitest.Judge(t, Family, c.name, c.stream, c.body, c.want)
	}
}
