package merge

import (
	"testing"

	"github.com/tidwall/gjson"
)

func TestAdd(t *testing.T) {
	for _, c := range []struct {
		name      string
		fragments []string
		want      string
	}{
		{"strings", []string{`"a\n"`, `"\ud83d"`, `"\ude00"`}, `"a\n\ud83d\ude00"`},
		{"null adds nothing", []string{`"a"`, `null`, `"b"`}, `"ab"`},
		{"numbers are replaced", []string{`1`, `2`}, `2`},
		{"arrays", []string{`[ ]`, `[1]`, `[]`, `[2,3]`}, `[1,2,3]`},
		{"objects", []string{`{"a":"x"}`, `{"b":1,"a":"y"}`}, `{"a":"xy","b":1}`},
		{"what identifies is not joined", []string{`{"id":"i","type":"t","name":"n"}`, `{"id":"i","type":"","name":"n"}`}, `{"id":"i","type":"t","name":"n"}`},
		{"lists by index", []string{`[{"index":1,"a":"x"}]`, `[{"index":0,"a":"y"},{"index":1,"a":"z"}]`}, `[{"index":0,"a":"y"},{"index":1,"a":"xz"}]`},
		{"a new kind replaces", []string{`"a"`, `{"b":1}`}, `{"b":1}`},
	} {
		tree := NewObject().Member("m", `"m"`)
		for _, f := range c.fragments {
			tree.Add(gjson.Parse(f))
		}
		if got := string(tree.Append(nil)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestListAppendsWithout(t *testing.T) {
	tree := NewObject().Member("m", `"m"`)
	tree.Add(gjson.Parse(`[{"index":2,"a":1},{"index":1}]`))
	if got := string(tree.List().Append(nil, "index")); got != `[{},{"a":1}]` {
		t.Error(got)
	}
}
