// Package embeddings is the embeddings API. Its requests are matched exactly only.
package embeddings

import (
	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/answer/rawjson"
	"reprise/proxy/api"
	"reprise/proxy/canon"
)

const code = 4

// Family is the embeddings API. Its answers have no id and are never streamed.
var Family = api.Family{
	Name: "embeddings",
	Path: "/v1/embeddings",

	Operation: "embeddings", Provider: "openai",
	Requests: &canon.Rules{
		Code:     code,
		Field:    "input",
		Defaults: defaults,
		Names:    canon.MakeNames([]string{"input"}, []string{"dimensions", "encoding_format"}),
		Read: func(r *canon.Reader, input canon.Value) *canon.Error {
			r.Whole(input)
			r.SetExactOnly("embeddings")
			return nil
		},
	},
	Answers: &answer.Form{Code: code, Judge: judge},
}

// judge rejects an answer without vectors.
func judge(r gjson.Result) (v answer.Verdict) {
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
