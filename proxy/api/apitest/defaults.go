package apitest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"reprise/proxy/api"
	"reprise/proxy/canon"
)

// values are tried for every field of a table of defaults. Those that are in no row of the field must count.
var values = []string{`null`, `true`, `false`, `0`, `1`, `2`, `0.5`, `""`, `"auto"`, `"none"`, `"text"`, `"float"`, `"disabled"`, `[]`, `["text"]`, `[1]`, `{}`,
	`{"type":"text"}`, `{"type":"text","x":1}`, `{"type":"auto"}`, `{"type":"json_object"}`}

// Defaults checks the table of defaults of f with a request of nothing but its model and its conversation: absence and each value of a row
// share key and scope, every other value has a key of its own, and every row has its source.
func Defaults(t *testing.T, f api.Family, request string) {
	if len(f.Requests.Defaults.Rows()) == 0 {
		t.Fatal("the API has no table of defaults")
	}
	for _, row := range f.Requests.Defaults.Rows() {
		t.Run(row.Field, func(t *testing.T) {
			if !strings.HasPrefix(row.URL, "https://") || row.Says == "" || len(row.Values) == 0 && !row.Attributes {
				t.Errorf("the row has no source: %+v", row)
			}
			d := defaultsTest{t, f, request, row}
			if row.Attributes {
				d.testAttributes()
				return
			}
			d.test()
			d.testCounts()
		})
	}
}

type defaultsTest struct {
	*testing.T
	family  api.Family
	request string
	row     canon.Default
}

// test compares every value with absence, in a request in which the row holds, and the values that count with each other.
func (t *defaultsTest) test() {
	absent := t.parse(t.body("", t.row.With))
	seen := map[canon.Hash]string{absent.Key: "absence"}
	for _, v := range values {
		r := t.parse(t.body(v, t.row.With))
		if t.isDefault(v) {
			if r.Key != absent.Key || r.Scope != absent.Scope {
				t.Errorf("%s does not share key and scope with absence", v)
			}
			if r.Uncacheable != absent.Uncacheable {
				t.Errorf("%s: %s", v, r.Uncacheable)
			}
			continue
		}
		if other, ok := seen[r.Key]; ok {
			t.Errorf("%s has the key of %s", v, other)
		}
		seen[r.Key] = v
	}
	for _, v := range t.row.Values {
		if !slices.Contains(values, v) {
			t.Errorf("%s is not tried", v)
		}
	}
}

// testAttributes: strings of a row that only attributes a request, and its values, share key and scope with absence where the upstream says so,
// and count elsewhere, as does everything else.
func (t *defaultsTest) testAttributes() {
	who := identity
	who.Attributed = true
	of := func(value string, id canon.Identity) [2]canon.Hash {
		r, err := t.family.Parse([]byte(t.body(value, "")), id)
		if err != nil {
			t.Fatal(err)
		}
		return [2]canon.Hash{r.Key, r.Scope}
	}
	for _, v := range append(values, `"ann"`) {
		left := slices.Contains(t.row.Values, v) || len(t.row.Values) == 0 && v[0] == '"'
		if same := of(v, who) == of("", who); same != (left || t.isDefault(v)) {
			t.Errorf("%s where the upstream only attributes: it shares the key of absence: %v", v, same)
		}
		if same := of(v, identity) == of("", identity); same != t.isDefault(v) {
			t.Errorf("%s where it may mean more: it shares the key of absence: %v", v, same)
		}
	}
}

// testCounts: where the row does not hold, its values count.
func (t *defaultsTest) testCounts() {
	if t.row.With == "" {
		return
	}
	absent := t.parse(t.body("", ""))
	for _, v := range t.row.Values {
		if t.parse(t.body(v, "")).Key == absent.Key {
			t.Errorf("%s without %s shares the key of absence", v, t.row.With)
		}
	}
}

// isDefault reports whether any row of the field has v.
func (t *defaultsTest) isDefault(v string) bool {
	return slices.ContainsFunc(t.family.Requests.Defaults.Rows(), func(row canon.Default) bool {
		return row.Field == t.row.Field && !row.Attributes && row.With == t.row.With && slices.Contains(row.Values, v)
	})
}

// body is the request with a value at the row's field, "" for none, and a list of one element in the member with. The objects on the way to
// the field have another member.
func (t *defaultsTest) body(value, with string) string {
	var body map[string]any
	if err := json.Unmarshal([]byte(t.request), &body); err != nil {
		t.Fatal(err)
	}
	if with != "" {
		body[with] = []any{map[string]any{"type": "function"}}
	}
	at, names := body, strings.Split(t.row.Field, ".")
	for _, name := range names[:len(names)-1] {
		inner := map[string]any{"name": "f"}
		if name, list := strings.CutSuffix(name, "[]"); list {
			at[name] = []any{map[string]any{"type": "function"}, inner}
		} else {
			at[name] = inner
		}
		at = inner
	}
	if value != "" {
		at[names[len(names)-1]] = json.RawMessage(value)
	}
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (t *defaultsTest) parse(body string) *canon.Request {
	t.Helper()
	r, err := t.family.Parse([]byte(body), identity)
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return r
}

// Apart checks fields of which a value is not the same as absence, though it looks so; each has the reason.
func Apart(t *testing.T, f api.Family, request string, fields map[string]string) {
	for _, member := range slices.Sorted(maps.Keys(fields)) {
		d := defaultsTest{T: t, family: f}
		if d.parse(request).Key == d.parse(strings.TrimSuffix(request, "}")+","+member+"}").Key {
			t.Errorf("%s shares the key of absence: %s", member, fields[member])
		}
	}
}
