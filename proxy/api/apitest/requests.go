package apitest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"reprise/proxy/api"
	"reprise/proxy/canon"
)

// identity is that of the golden requests.
var identity = canon.Identity{Tenant: "t-1", Path: "/v1/chat/completions", Headers: []string{"openai-organization: o"}}

// testRequests notices a change of keys: stored answers would be lost by it.
func testRequests(t *testing.T, f *api.Family, update bool) {
	paths := files(t, "testdata/"+f.Name+"/requests/*.json")
	if len(paths) == 0 {
		t.Fatal("no requests in testdata")
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			r, err := f.Parse(read(t, path), identity)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, strings.TrimSuffix(path, ".json")+".golden", Dump(r), update)
			checkSegments(t, r)
		})
	}
}

// Dump shows all of a request but its bytes and its segments.
func Dump(r *canon.Request) string {
	var b strings.Builder
	fmt.Fprintf(&b, "model %q stream %v usage %v\n", r.Model, r.Stream, r.IncludeUsage)
	fmt.Fprintf(&b, "key %x\nscope %x\n", r.Key, r.Scope)
	fmt.Fprintf(&b, "prompt %q\nuncacheable %q exact only %q\n", r.Prompt, r.Uncacheable, r.ExactOnly)
	fmt.Fprintf(&b, "directive %+v\n", r.Directive)
	for _, t := range r.Turns {
		fmt.Fprintf(&b, "turn key %x\n     ask %x\n     answer %x\n     text %x\n", t.Key, t.Ask, t.Answer, t.AnswerText)
	}
	return b.String()
}
