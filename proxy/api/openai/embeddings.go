package openai

import (
	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/answer/rawjson"
	"reprise/proxy/api"
	"reprise/proxy/canon"
)

// Embeddings is the embeddings API. Its requests are matched exactly only; its answers have no id and are never streamed.
var Embeddings = api.Family{
	Name: "embeddings",
	Path: "/v1/embeddings",

	Operation: "embeddings", Provider: "openai",
	Requests: &canon.Rules{
		Code:         codeEmbeddings,
		Field:        "input",
		Defaults:     embeddingDefaults,
		Names:        canon.MakeNames([]string{"input"}, []string{"dimensions", "encoding_format"}),
		Conversation: embeddings{},
	},
	Answers: &answer.Form{Code: codeEmbeddings, Judge: embeddings{}},
}

// embeddings implements [canon.Conversation] and [answer.Judge].
type embeddings struct{}

func (embeddings) Read(r *canon.Reader, input canon.Value) *canon.Error {
	r.Whole(input)
	r.SetExactOnly("embeddings")
	return nil
}

// Judge rejects an answer without vectors.
func (embeddings) Judge(r gjson.Result) (v answer.Verdict) {
	data := r.Get("data")
	if !data.IsArray() {
		v.Reject(answer.ReasonMalformed)
		return v
	}
	for _, d := range rawjson.Elements(data) {
		if e := d.Get("embedding"); e.String() == "" || e.Raw == "[]" {
			v.Reject(answer.ReasonEmpty)
		}
	}
	if rawjson.Empty(data) {
		v.Reject(answer.ReasonEmpty)
	}
	return v
}
