package rawjson

import (
	"encoding/json"
	"testing"

	"github.com/tidwall/gjson"
)

func TestQuote(t *testing.T) {
	for _, s := range []string{"", "resp_9-a.B", `a"b`, `a\b`, "a\nb", "é", "<&>", "\u2028", "a b", "\x7f", "\xff"} {
		want, _ := json.Marshal(s)
		if got := Quote(s); got != string(want) {
			t.Errorf("%q is quoted as %s, want %s", s, got, want)
		}
	}
}

func TestAppendEdited(t *testing.T) {
	for _, c := range []struct {
		object string
		edits  []Edit
		want   string
	}{
		{`{"a" : 1 , "b":[2]}`, nil, `{"a":1,"b":[2]}`},
		{`{"a":1,"b":2,"c":3}`, []Edit{Set("b", "{}"), Remove("c")}, `{"a":1,"b":{}}`},
		{`{"a":1}`, []Edit{Remove("a"), Remove("b"), Set("c", "null")}, `{"c":null}`},
		{`{}`, []Edit{Set("a", `"x"`), Set("b", "1")}, `{"a":"x","b":1}`},
		{`{"a":1,"a":2}`, []Edit{Set("a", "3")}, `{"a":3,"a":3}`},
	} {
		if got := AppendEdited([]byte("x"), gjson.Parse(c.object), c.edits...); string(got) != "x"+c.want {
			t.Errorf("%s with %v is %s, want x%s", c.object, c.edits, got, c.want)
		}
	}
}
