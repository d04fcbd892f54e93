// Package toy is an API of one question and one answer, which is never streamed.
package toy

import (
	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/api"
	"reprise/proxy/canon"
)

const code = 200

// Family is the toy API.
var Family = api.Family{
	Name: "toy",
	Path: "/v1/toy",
	Requests: &canon.Rules{
		Code:  code,
		Field: "question",
		Names: canon.MakeNames([]string{"question"}, []string{"politeness"}),
		Read:  read,
	},
	Answers: &answer.Form{Code: code, Judge: judge},
}

func read(r *canon.Reader, question canon.Value) *canon.Error {
	question = r.Whole(question)
	if !question.IsString() {
		return r.Bad("a string")
	}
	r.SetPrompt(question)
	return nil
}

// judge rejects an answer without a text.
func judge(r gjson.Result) (v answer.Verdict) {
	if r.Get("answer").String() == "" {
		v.Reject(answer.ReasonEmpty)
	}
	return v
}
