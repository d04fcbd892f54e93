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

func TestEdited(t *testing.T) {
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
		{`{"a":1}`, []Edit{Change("a", "2"), Change("b", "3")}, `{"a":2}`},
	} {
		if got := Edited(gjson.Parse(c.object), c.edits...); got != c.want {
			t.Errorf("%s with %v is %s, want %s", c.object, c.edits, got, c.want)
		}
	}
}

func TestMembers(t *testing.T) {
	for object, want := range map[string][3]string{
		`{"a":1,"b":{"c":2},"a":3}`:      {"1", `{"c":2}`, ""},
		`{ "\u0063" : "x", "b" : null }`: {"", "null", `"x"`},
		`{}`:                             {}, `[1]`: {}, `"a"`: {}, ``: {},
	} {
		var got [3]gjson.Result
		Members(gjson.Parse(object), got[:], "a", "b", "c")
		for i, v := range got {
			if v.Raw != want[i] {
				t.Errorf("%s: member %d is %q, want %q", object, i, v.Raw, want[i])
			}
		}
	}
}
