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
		Items:        alone,
		Conversation: embeddings{},
	},
	Answers: &answer.Form{Code: codeEmbeddings, Judge: api.Judge("embeddings", nil)},
}

// alone are the members of requests with which each input has a vector of its own: those of OpenAI, and of Voyage, Cohere, NVIDIA and Jina. Not
// among them are Jina's late_chunking, which reads all inputs as one text, and what is not known.
var alone = canon.MakeNames(nil, []string{"model", "input", "dimensions", "encoding_format", "user", "safety_identifier", "stream", "cache",
	"input_type", "truncate", "truncation", "task", "normalized", "embedding_type", "output_dimension", "output_dtype"})

// embeddings implements [canon.Conversation] and [answer.Judge].
type embeddings struct{}

func (embeddings) Read(r *canon.Reader, input canon.Value) *canon.Error {
	r.Whole(input)
	r.SetExactOnly("embeddings")
	return nil
}
