package openai

import (
	"strings"
	"testing"

	"reprise/proxy/answer"
	"reprise/proxy/api"
	"reprise/proxy/api/apitest"
)

func TestEmbeddingsConformance(t *testing.T) {
	apitest.Run(t, Embeddings, *update, map[string]answer.Verdict{
		"float.json": {Keep: true, Usage: answer.Usage{Input: 2}},
	})
}

func TestEmbeddingsJudge(t *testing.T) {
	apitest.Judge(t, Embeddings, cases{
		{"base64", false, `{"data":[{"embedding":"AACAPwAAAEA="}]}`, ""},
		{"base64 of three bytes", false, `{"data":[{"embedding":"AQEB"}]}`, answer.ReasonMalformed},
		{"no base64", false, `{"data":[{"embedding":"AACAP!"}]}`, answer.ReasonMalformed},
		{"base64 of zeros", false, `{"data":[{"embedding":"AAAAAA=="}]}`, answer.ReasonMalformed},
		{"base64 of NaN", false, `{"data":[{"embedding":"AACAPwAAwH8="}]}`, answer.ReasonMalformed},
		{"base64 of another length", false, `{"data":[{"embedding":"AACAPwAAAEA="},{"embedding":"AACAPw=="}]}`, answer.ReasonMalformed},
		{"numbers", false, `{"data":[{"index":1,"embedding":[0, -0.5e-2,1]},{"index":0,"embedding":[1,2E1 ,3]}]}`, ""},
		{"null in a vector", false, `{"data":[{"embedding":[0.1,null]}]}`, answer.ReasonMalformed},
		{"a text in a vector", false, `{"data":[{"embedding":[0.1,"0.2"]}]}`, answer.ReasonMalformed},
		{"a list in a vector", false, `{"data":[{"embedding":[[0.1,0.2]]}]}`, answer.ReasonMalformed},
		{"a number out of range", false, `{"data":[{"embedding":[0.1,1e40]}]}`, answer.ReasonMalformed},
		{"a number of many digits out of range", false, `{"data":[{"embedding":[0.1,1` + strings.Repeat("0", 40) + `]}]}`, answer.ReasonMalformed},
		{"zeros", false, `{"data":[{"embedding":[0,0.0,-0e9]}]}`, answer.ReasonMalformed},
		{"zeros beside a vector", false, `{"data":[{"embedding":[1,2]},{"embedding":[0,0]}]}`, answer.ReasonMalformed},
		{"two lengths", false, `{"data":[{"embedding":[1,2]},{"embedding":[1]}]}`, answer.ReasonMalformed},
		{"one index twice", false, `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[2]}]}`, answer.ReasonMalformed},
		{"an index left out", false, `{"data":[{"index":0,"embedding":[1]},{"index":2,"embedding":[2]}]}`, answer.ReasonMalformed},
		{"an index missing", false, `{"data":[{"index":0,"embedding":[1]},{"embedding":[2]}]}`, answer.ReasonMalformed},
		{"an object for a vector", false, `{"data":[{"embedding":{"values":[1]}}]}`, answer.ReasonMalformed},
		{"null for a vector", false, `{"data":[{"embedding":null}]}`, answer.ReasonMalformed},
		{"no data", false, `{"data":[]}`, answer.ReasonEmpty},
		{"no vector", false, `{"data":[{"embedding":[1]},{"embedding":[]}]}`, answer.ReasonMalformed},
		{"data missing", false, `{}`, answer.ReasonMalformed},
		{"streamed embeddings", true, "data: [DONE]\n\n", answer.ReasonMalformed},
	})
}

// TestEmbeddingsAreThoseAskedFor: as many vectors as inputs, and of the length that the request names.
func TestEmbeddingsAreThoseAskedFor(t *testing.T) {
	vectors := func(n int) string {
		return `{"data":[` + strings.TrimSuffix(strings.Repeat(`{"embedding":[1,2]},`, n), ",") + `]}`
	}
	for _, c := range []struct {
		members string
		vectors int
		keep    bool
	}{
		{`"input":"a"`, 1, true},
		{`"input":"a"`, 2, false},
		{`"input":["a","b"]`, 2, true},
		{`"input":["a","b"]`, 1, false},
		{`"input":["a","b"]`, 3, false},
		{`"input":[1,2,3]`, 1, true},
		{`"input":[1,2,3]`, 3, false},
		{`"input":[[1,2],[3]]`, 2, true},
		{`"input":[[1,2],[3]]`, 1, false},
		{`"messages":[]`, 1, true},
		{`"input":"a","dimensions":2`, 1, true},
		{`"input":"a","dimensions":3`, 1, false},
		{`"input":"a","dimensions":null`, 1, true},
		{`"input":"a","dimensions":64,"encoding_format":"ubinary"`, 1, true},
	} {
		v, _, _ := api.Read(Embeddings.Answers, "application/json", []byte(vectors(c.vectors)), []byte(`{"model":"m",`+c.members+`}`))
		if v.Keep != c.keep {
			t.Errorf("%d vectors for %s: keep %v, %q", c.vectors, c.members, v.Keep, v.Reason)
		}
	}
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
