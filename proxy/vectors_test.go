package proxy

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// TestSplitJoin: the parts of an answer, joined, are that answer, member by member; each part is an answer of its own; and what is not understood is
// not split.
func TestSplitJoin(t *testing.T) {
	u, rng := &embedder{}, rand.New(rand.NewPCG(1, 2))
	unknown := 0
	for range 3000 {
		var in []string
		for i := range 2 + rng.IntN(5) {
			in = append(in, fmt.Sprintf(`"%s%d"`, strings.Repeat("x", rng.IntN(30)), i))
		}
		input := "[" + strings.Join(in, ",") + "]"
		answer := u.answer(`{"model":"m","input":`+input+`}`, "")
		understood := true
		for range rng.IntN(4) {
			m := mutations[rng.IntN(len(mutations))]
			if changed := strings.Replace(answer, m.old, m.with, 1); changed != answer && gjson.Valid(changed) {
				if answer, understood = changed, m.understood; !understood {
					break // another one might make it good again
				}
			}
		}
		parts := split([]byte(answer), gjson.Parse(input))
		if (parts != nil) != understood {
			t.Fatalf("split: %v, want %v: %s", parts != nil, understood, answer)
		}
		if !understood {
			unknown++
			continue
		}
		order := rng.Perm(len(parts))
		shuffled := make([]*vectors, len(parts))
		for i, p := range parts {
			if !equalJSON(gjson.Get(p.json, "data.0.embedding").Raw, gjson.Get(answer, fmt.Sprintf("data.%d.embedding", i)).Raw) || len(p.data) != 1 || p.data[0].Get("index").Raw != "0" {
				t.Fatalf("part %d of %s is %s", i, answer, p.json)
			}
			shuffled[order[i]] = p
		}
		if joined := join(parts[0], parts); !equalJSON(string(joined), answer) {
			t.Fatalf("joined %s, want %s", joined, answer)
		}
		if joined := gjson.ParseBytes(join(shuffled[0], shuffled)); joined.Get("usage").Raw != "" && !equalJSON(joined.Get("usage").Raw, gjson.Get(answer, "usage").Raw) {
			t.Fatalf("in another order: %s, want %s", joined.Get("usage"), answer)
		}
	}
	if unknown < 300 || unknown > 2700 {
		t.Errorf("%d of 3000 are not understood", unknown)
	}
}

// mutations are changes of an answer, and whether it can still be split.
var mutations = []struct {
	old, with  string
	understood bool
}{
	{`{"object": "list"`, `{"id":"embd-1","created":7,"object": "list"`, true},
	{`"prompt_tokens"`, `"completion_tokens":0,"prompt_tokens_details":null,"prompt_tokens"`, true},
	{`"total_tokens": `, `"total_tokens":1`, true},
	{`"object": "embedding"`, `"note":[1,{"a":"index"}],"object": "embedding"`, true},
	{`"model"`, `"m\u006fdel2":null,"model"`, false},
	{`"usage": {`, `"usage": {"images":1,`, false},
	{`"total_tokens": `, `"total_tokens": -`, false},
	{`"total_tokens": `, `"total_tokens": 0.`, false},
	{`"index": 1`, `"index": 0`, false},
	{`"index": 0`, `"index": 1`, false},
	{`"index": 1`, `"index": 1.0`, false},
	{`"index": 1,`, ``, false},
	{`"data": [`, `"data": [{"index":0,"embedding":[1,2]},`, false},
	{`"embedding": [`, `"embedding": [1,`, false},
	{`"usage": {`, `"usage": null,"x": {`, false},
}
