package dialect

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

func none(Field) bool { return false }
func all(Field) bool  { return true }

// TestConformance holds every dialect to the contract of the interface.
func TestConformance(t *testing.T) {
	bodies := []string{`{"model":"m","stream":true,"vendor":{"n":1.0}}`, `{"stream":true,"stream_options":{"x":1}}`}
	for _, d := range dialects {
		t.Run(d.Name(), func(t *testing.T) {
			if got, err := New(d.Name()); err != nil || got != d {
				t.Errorf("New: %v, %v", got, err)
			}
			for _, text := range bodies {
				checkEdits(t, d, text)
			}
		})
	}
}

func checkEdits(t *testing.T, d Dialect, text string) {
	body, want := []byte(text), Intent{StreamUsage: true}
	r := Request{Path: "/v1/chat/completions", Body: body}
	for name, edit := range map[string]func() Edits{
		"without an intent":      func() Edits { return d.Edit(r, Intent{}, none) },
		"with all in quarantine": func() Edits { return d.Edit(r, want, all) },
	} {
		if e := edit(); !bytes.Equal(e.Body, body) || len(e.Added) > 0 {
			t.Errorf("%s: %s, added %v", name, e.Body, e.Added)
		}
	}
	edits := d.Edit(r, want, none)
	edited, added := edits.Body, edits.Added
	if string(body) != text {
		t.Errorf("the caller's body became %s", body)
	}
	for _, field := range added {
		if !gjson.GetBytes(edited, string(field)).Exists() {
			t.Errorf("%s is missing in %s", field, edited)
		}
		rest := d.Edit(r, want, func(f Field) bool { return f == field })
		if gjson.GetBytes(rest.Body, string(field)).Exists() {
			t.Errorf("%s was added in spite of its quarantine: %s", field, rest.Body)
		}
	}
	gjson.Parse(text).ForEach(func(name, value gjson.Result) bool {
		if value.Type != gjson.JSON && gjson.GetBytes(edited, name.String()).Raw != value.Raw {
			t.Errorf("%s changed in %s", name, edited)
		}
		return true
	})
	if got := Named([]byte(`{"error":"out of memory"}`), added); len(got) > 0 {
		t.Errorf("an error about something else is read as a refusal of %v", got)
	}
}

func TestNamed(t *testing.T) {
	for _, tc := range []struct {
		field Field
		head  string
		named bool
	}{
		{StreamUsage, `{"error":{"message":"Unknown parameter: stream_options"}}`, true},
		{StreamUsage, `{"error":{"message":"include_usage: extra fields not permitted"}}`, true},
		{StreamUsage, `{"error":{"message":"unknown model"}}`, false},
		{StreamUsage, `{"error":{"message":"Unknown parameter: my_stream_options"}}`, false},
		{StreamUsage, `{"error":{"message":"Unknown parameter: stream_options2"}}`, false},
		{"cache_salt", "cache_salt", true},
		{"header:X-Session-Id", "the header x-session-id is too long", true},
		{"header:X-Session-Id", "the header x-session-id2 is too long", false},
	} {
		if got := Named([]byte(tc.head), []Field{tc.field}); len(got) == 1 != tc.named {
			t.Errorf("%s: %v", tc.head, got)
		}
	}
}

func TestUnknownDialect(t *testing.T) {
	if d, err := New(""); err != nil || d.Name() != Default {
		t.Errorf("the default is %v, %v", d, err)
	}
	if _, err := New("klingon"); err == nil || !strings.Contains(err.Error(), strings.Join(Names(), ", ")) {
		t.Errorf("error %v does not list the dialects", err)
	}
}

// TestStreamUsage: the field is added to a body as another library adds it.
func TestStreamUsage(t *testing.T) {
	for _, body := range []string{`{"stream":true}`, "{\"stream\":true,\"messages\":[{\"content\":\"}\"}]\n}\n ", ` { "stream" : true } `, `{"stream":true,"a":"\u00e9"}`,
		`{"stream":true,"stream_options":{"x":1}}`, `{"stream":true,"stream\u005foptions":{"x":1}}`, `{"stream":true,"stream_options":null}`, `{}`,
		`{"stream_options":{"include_usage":false,"x":1}}`, `{"stream_options":{ "include\u005fusage" : false }}`} {
		edits := generic.Edit(Request{Path: "/v1/chat/completions", Body: []byte(body)}, Intent{StreamUsage: true}, none)
		got, ok := edits.Body, len(edits.Added) == 1
		want, err := sjson.SetRawBytes([]byte(body), string(StreamUsage), []byte("true"))
		if ok != (err == nil) || !reflect.DeepEqual(gjson.ParseBytes(got).Value(), gjson.ParseBytes(want).Value()) || !gjson.ValidBytes(got) {
			t.Errorf("%s became %s, want %s, %v", body, got, want, err)
		}
	}
}
