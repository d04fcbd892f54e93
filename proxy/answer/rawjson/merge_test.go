package rawjson

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
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
		{"an empty value replaces nothing", []string{`{"a":"x"}`, `""`, `{}`, `[]`, `{"b":[]}`, `{"b":{}}`}, `{"a":"x","b":[]}`},
		{"anything replaces an empty value", []string{`""`, `[1]`}, `[1]`},
		{"text, a list of parts, text", []string{`"a"`, `[{"type":"x"}]`, `"b"`, `"c"`}, `[{"type":"text","text":"a"},{"type":"x"},{"type":"text","text":"bc"}]`},
		{"text and a list of no parts", []string{`"a"`, `[1]`}, `[1]`},
		{"parts of one kind", []string{`[{"type":"text","text":"a"}]`, `[{"type":"text","text":"b"},{"type":"text","text":"c"}]`, `[{"type":"text","text":"d"}]`},
			`[{"type":"text","text":"ab"},{"type":"text","text":"cd"}]`},
		{"parts within parts", []string{`[{"type":"thinking","thinking":[{"type":"text","text":"a"}]}]`, `[{"type":"thinking","thinking":[{"type":"text","text":"b"}]}]`},
			`[{"type":"thinking","thinking":[{"type":"text","text":"ab"}]}]`},
		{"parts with an id", []string{`[{"type":"text","text":"a","id":"1"}]`, `[{"type":"text","text":"b","id":"1"}]`}, `[{"type":"text","text":"a","id":"1"},{"type":"text","text":"b","id":"1"}]`},
		{"another id under an index", []string{`[{"index":0,"id":"a","t":"x"}]`, `[{"index":0,"id":"b","t":"y"}]`, `[{"index":0,"t":"z"}]`, `[{"index":0,"id":"a","t":"!"}]`},
			`[{"index":0,"id":"a","t":"x!"},{"index":0,"id":"b","t":"yz"}]`},
		{"another id without a name", []string{`[{"index":0,"id":"a","function":{"name":"f","arguments":"x"}}]`, `[{"index":0,"id":"b","function":{"arguments":"y"}}]`},
			`[{"index":0,"id":"b","function":{"name":"f","arguments":"xy"}}]`},
		{"text at the last level is joined", []string{nested(mostLevels, `"x"`), nested(mostLevels, `"y"`)}, nested(mostLevels, `"xy"`)},
		{"an object below the last level is replaced", []string{nested(mostLevels+1, `"x"`), nested(mostLevels+1, `"y"`)}, nested(mostLevels+1, `"y"`)},
		{"space in what is empty", []string{`[ ]`, `{"a":[ ]}`, `{"a":[1]}`, `{"b":{ }}`}, `{"a":[1],"b":{}}`},
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

// nested returns v in objects, this many levels deep.
func nested(levels int, v string) string {
	return strings.Repeat(`{"a":`, levels) + v + strings.Repeat("}", levels)
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
