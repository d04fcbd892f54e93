package answer_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"reprise/proxy/answer"
	"reprise/proxy/api"
	"reprise/proxy/api/apitest"
	"reprise/proxy/api/registry"
)

func cases(t testing.TB) []apitest.Case {
	t.Helper()
	all := apitest.Cases(t, "testdata/cases")
	if len(all) < 140 {
		t.Fatalf("only %d cases", len(all))
	}
	return all
}

// TestCases: each reply is kept or not as its file says, comes back from its encoding, and has the other form that the file says.
func TestCases(t *testing.T) {
	for _, c := range cases(t) {
		t.Run(c.Name, func(t *testing.T) {
			form := registry.APIs.ByPath(c.Path).Answers
			v, z, _ := api.Read(form, c.ContentType, []byte(c.Body), []byte(c.Request))
			want, reason, _ := strings.Cut(c.Kept, ", ")
			switch {
			case want == "no" && (v.Keep || v.Reason == answer.ReasonToolCalls || v.Reason == answer.ReasonLiveWeb || reason != "" && v.Reason != reason),
				want == "yes" && !v.Keep, want != "yes" && want != "no" && v.Reason != want:
				t.Fatalf("%+v, want %s", v, c.Kept)
			case want == "no":
				return
			}
			decoded, err := registry.APIs.Decode(z.Encode(nil))
			if err != nil {
				t.Fatal(err)
			}
			for _, z := range []*answer.Frozen{z, decoded} {
				testForms(t, c, z)
			}
		})
	}
}

// testForms checks both forms of an answer that is kept.
func testForms(t *testing.T, c apitest.Case, z *answer.Frozen) {
	own := replay(t, z, answer.ReplayOptions{Stream: z.Stream, IncludeUsage: true})
	if !bytes.Equal(own, z.Body) || string(own) != c.Body && !strings.Contains(c.Body, "\r\ndata: \"choices\"") {
		t.Errorf("is replayed as\n%s\nwant\n%s", own, c.Body)
	}
	if z.Form.Streams == nil {
		return
	}
	other, _, err := z.Replay(nil, answer.ReplayOptions{Stream: !z.Stream, IncludeUsage: true})
	if (err == nil) != z.Converts() {
		t.Errorf("converts %v, and its conversion has the error %v", z.Converts(), err)
	}
	switch {
	case c.Other == "none":
		if err == nil {
			t.Errorf("becomes\n%s\nwant none", other)
		}
		return
	case err != nil:
		t.Error(err)
		return
	case c.Other != "equal" && !reflect.DeepEqual(withoutNulls(decode(t, other)), withoutNulls(decode(t, []byte(c.Other)))):
		t.Errorf("becomes\n%s\nwant\n%s", other, c.Other)
	}
	stream, object := own, other
	if !z.Stream {
		stream, object = other, own
	}
	if why := differs(z.Form, stream, object); why != "" {
		t.Errorf("%s:\n%s\n%s", why, stream, object)
	}
}

func decode(t *testing.T, document []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, document)
	}
	return v
}

// withoutNulls removes members of null, which say the same as none.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = withoutNulls(v[i])
		}
	case map[string]any:
		for name, member := range v {
			if v[name] = withoutNulls(member); member == nil {
				delete(v, name)
			}
		}
	}
	return v
}
