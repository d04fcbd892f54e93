package rawjson

import (
	"fmt"
	"math/rand/v2"
	"slices"
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
		tree := new(Object).Member("m", `"m"`)
		var came [][]byte
		for _, f := range c.fragments {
			b := []byte(f + "after")
			came = append(came, b)
			tree.Add(gjson.Parse(View(b[:len(f)])), nil)
		}
		if got := string(tree.Append(nil)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		for i, f := range c.fragments {
			if string(came[i]) != f+"after" {
				t.Errorf("%s: fragment %s became %s", c.name, f, came[i])
			}
		}
	}
}

func TestListAppendsWithout(t *testing.T) {
	tree := new(Object).Member("m", `"m"`)
	tree.Add(gjson.Parse(`[{"index":2,"a":1},{"index":1}]`), nil)
	if got := string(tree.List().Append(nil, "index")); got != `[{},{"a":1}]` {
		t.Error(got)
	}
}

// TestListOfAnyOrder: the elements of a list are found and sorted by their index, with and without the map of a long one.
func TestListOfAnyOrder(t *testing.T) {
	for n := range 3 * few {
		l, want, order := new(List), "[", rand.New(rand.NewPCG(uint64(n), 1)).Perm(n)
		for _, i := range append(slices.Clone(order), order...) {
			l.Elem(int64(i)).Member("a", "").Add(gjson.Parse(fmt.Sprintf(`"%d."`, i)), nil)
		}
		for i := range n {
			if i > 0 {
				want += ","
			}
			want += fmt.Sprintf(`{"a":"%d.%d."}`, i, i)
		}
		if got := string(l.Append(nil)); got != want+"]" {
			t.Errorf("%d elements: %s", n, got)
		}
	}
}
