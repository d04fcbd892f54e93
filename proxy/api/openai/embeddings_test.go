package openai

import (
	"testing"

	"reprise/proxy/answer"
	"reprise/proxy/api/apitest"
)

func TestEmbeddingsConformance(t *testing.T) {
	apitest.Run(t, Embeddings, *update, map[string]answer.Verdict{
		"float.json": {Keep: true, Usage: answer.Usage{Input: 2}},
	})
}

func TestEmbeddingsJudge(t *testing.T) {
	apitest.Judge(t, Embeddings, cases{
		{"base64", false, `{"data":[{"embedding":"AAAA"}]}`, ""},
		{"no data", false, `{"data":[]}`, answer.ReasonEmpty},
		{"no vector", false, `{"data":[{"embedding":[1]},{"embedding":[]}]}`, answer.ReasonEmpty},
		{"data missing", false, `{}`, answer.ReasonMalformed},
		{"streamed embeddings", true, "data: [DONE]\n\n", answer.ReasonMalformed},
	})
}

const embeddingsRequest = `{"model":"m","input":"hi"}`

func TestEmbeddingsDefaults(t *testing.T) {
	apitest.Defaults(t, Embeddings, embeddingsRequest)
}

func TestEmbeddingsApart(t *testing.T) {
	apitest.Apart(t, Embeddings, embeddingsRequest, map[string]string{
		`"encoding_format":null`: "not documented", `"encoding_format":"base64"`: "another form", `"dimensions":null`: "not documented", `"user":null`: "not documented",
	})
}
