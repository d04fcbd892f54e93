package canon_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/tidwall/gjson"

	"reprise/proxy/api"
	"reprise/proxy/api/apitest"
	"reprise/proxy/api/registry"
	"reprise/proxy/canon"
)

// dumpAny dumps what encoding/json read.
func dumpAny(b *bytes.Buffer, v any) {
	switch v := v.(type) {
	case nil:
		b.WriteByte('n')
	case bool:
		b.WriteByte(map[bool]byte{false: 'f', true: 't'}[v])
	case float64:
		canon.DumpFloat(b, v)
	case string:
		canon.DumpString(b, v)
	case []any:
		b.WriteByte('[')
		for _, item := range v {
			dumpAny(b, item)
		}
		b.WriteByte(']')
	case map[string]any:
		b.WriteByte('{')
		for _, name := range slices.Sorted(maps.Keys(v)) {
			canon.DumpString(b, name)
			dumpAny(b, v[name])
		}
		b.WriteByte('}')
	}
}

// anyOf is what gjson read, as encoding/json would give it; of a duplicate name the first is kept, as gjson's paths do.
func anyOf(r gjson.Result) any {
	switch {
	case r.IsObject():
		m := map[string]any{}
		r.ForEach(func(k, v gjson.Result) bool {
			if _, ok := m[k.String()]; !ok {
				m[k.String()] = anyOf(v)
			}
			return true
		})
		return m
	case r.IsArray():
		l := []any{}
		r.ForEach(func(_, v gjson.Result) bool {
			l = append(l, anyOf(v))
			return true
		})
		return l
	case r.Type == gjson.Number:
		return r.Num
	case r.Type == gjson.String:
		return r.Str
	case r.Type == gjson.Null:
		return nil
	}
	return r.Bool()
}

// typed are keyed fields as a server in Go may declare them; encoding/json folds letter case here.
type typed struct {
	Model       *string  `json:"model"`
	Stream      *bool    `json:"stream"`
	N           *float64 `json:"n"`
	Temperature *float64 `json:"temperature"`
	Messages    []struct {
		Role    *string `json:"role"`
		Content any     `json:"content"`
	} `json:"messages"`
}

// dumpTyped dumps those fields, read by name from a tree.
func dumpTyped(tree map[string]any) string {
	var b bytes.Buffer
	for _, name := range []string{"model", "stream", "n", "temperature"} {
		dumpAny(&b, tree[name])
	}
	messages, _ := tree["messages"].([]any)
	for _, m := range messages {
		fields, _ := m.(map[string]any)
		dumpAny(&b, fields["role"])
		dumpAny(&b, fields["content"])
	}
	return b.String()
}

func (v *typed) tree() map[string]any {
	tree := map[string]any{"model": deref(v.Model), "stream": deref(v.Stream), "n": deref(v.N), "temperature": deref(v.Temperature)}
	var messages []any
	for _, m := range v.Messages {
		messages = append(messages, map[string]any{"role": deref(m.Role), "content": m.Content})
	}
	tree["messages"] = messages
	return tree
}

func deref[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

// checkReaders fails when our reading of an accepted body is not everybody's.
func checkReaders(t *testing.T, body []byte) {
	ours, ok := canon.DumpBody(known, body)
	if !ok {
		return
	}
	var tree map[string]any
	if err := json.Unmarshal(body, &tree); err != nil {
		t.Fatalf("encoding/json refuses %q: %v", body, err)
	}
	var b bytes.Buffer
	if dumpAny(&b, tree); b.String() != ours {
		t.Fatalf("%q\nours          %q\nencoding/json %q", body, ours, b.String())
	}
	b.Reset()
	if dumpAny(&b, anyOf(gjson.ParseBytes(body))); !gjson.ValidBytes(body) || b.String() != ours {
		t.Fatalf("%q\nours  %q\ngjson %q", body, ours, b.String())
	}
	var v typed
	if json.Unmarshal(body, &v) != nil {
		return // some field is of another type
	}
	if got, want := dumpTyped(v.tree()), dumpTyped(tree); got != want {
		t.Fatalf("%q\nby name  %q\nby field %q", body, want, got)
	}
}

// seeds are the bodies that mutations start from.
func seeds(t testing.TB) [][]byte {
	list := [][]byte{
		[]byte(`{"model":"a","\u006dodel":"b"}`),
		[]byte(`{"Messages":[],"me\u017f\u017fages":[],"messages":[{"role":"user","Role":"x","content":"\ud83d\ude00\ud83d"}]}`),
		[]byte(`{"a":[1e308,-0,0.10E-2,1E400,12345678901234567890,5e-324,1e-400],"__proto__":{"b":null},"":true,"0":false}`),
		[]byte("{\"a\":\"\\u0000\\b\\f\\n\\r\\t\\/\\\"\\\\\x7f\xc3\xa9\xe2\x80\xa8\",\"n\":1.0,\"stream\":true,\"temperature\":2e-1} "),
	}
	for _, f := range registry.APIs.Families() {
		list = append(list, apitest.Requests(t, "../api/*/testdata/"+f.Name)...)
	}
	if len(list) < 10 {
		t.Fatalf("only %d seeds", len(list))
	}
	return list
}

// FuzzParse: whatever comes, Parse does not panic; what it accepts, all readers read alike, and it is itself again in a
// canonical writing.
func FuzzParse(f *testing.F) {
	for _, body := range seeds(f) {
		f.Add(uint8(0), body)
		f.Add(uint8(2), body)
	}
	apis := registry.APIs.Families()
	f.Fuzz(func(t *testing.T, number uint8, body []byte) {
		checkReaders(t, body)
		family := apis[int(number)%len(apis)]
		r, err := family.Parse(body, canon.Identity{})
		if err != nil {
			if e := err.(*canon.Error); e.Offset < 0 || e.Offset > len(body) || e.Message == "" || e.Code == "" {
				t.Fatalf("%q: %+v", body, e)
			}
			return
		}
		checkSegments(t, family, r)
		checkRewritten(t, family, r)
	})
}

// checkRewritten reads the request again as encoding/json writes it, numbers kept as they are.
func checkRewritten(t *testing.T, family *api.Family, r *canon.Request) {
	var tree any
	in := json.NewDecoder(bytes.NewReader(r.Body))
	in.UseNumber()
	if err := in.Decode(&tree); err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	again, err := family.Parse(body, canon.Identity{})
	if err != nil {
		t.Fatalf("%q is refused when rewritten: %v", r.Body, err)
	}
	if again.Key != r.Key || again.Scope != r.Scope || again.Prompt != r.Prompt || again.Model != r.Model || len(again.Turns) != len(r.Turns) {
		t.Fatalf("%q is read differently when rewritten", r.Body)
	}
}
