package openai

import (
	"reprise/proxy/answer"
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
	Answers: &answer.Form{Code: codeEmbeddings, Judge: api.Judge("embeddings", nil)},
}

// embeddings implements [canon.Conversation] and [answer.Judge].
type embeddings struct{}

func (embeddings) Read(r *canon.Reader, input canon.Value) *canon.Error {
	r.Whole(input)
	r.SetExactOnly("embeddings")
	return nil
}
