package canon_test

import (
	"errors"
	"strings"
	"testing"

	"reprise/proxy/canon"
)

func parse(t *testing.T, f canon.Family, body string) *canon.Request {
	t.Helper()
	r, err := canon.Parse(f, []byte(body), identity)
	if err != nil {
		t.Fatalf("Parse(%s): %v", body, err)
	}
	return r
}

func TestPrompt(t *testing.T) {
	for _, c := range []struct {
		name   string
		family canon.Family
		body   string
		want   string
	}{
		{"string", canon.Chat, `{"model":"m","messages":[{"role":"user","content":"a\nb"}]}`, "a\nb"},
		{"parts", canon.Chat, `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]}`, "a\nb"},
		{"two messages", canon.Chat, `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}]}`, "a\nb"},
		{"last turn only", canon.Chat, `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"x"},{"role":"user","content":"b"}]}`, "b"},
		{"beside an image", canon.Chat, `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"what?"},{"type":"image_url","image_url":{"url":"u"}}]}]}`, "what?"},
		{"completion", canon.Completions, `{"model":"m","prompt":"a"}`, "a"},
		{"completion of one", canon.Completions, `{"model":"m","prompt":["a"]}`, "a"},
		{"input", canon.Responses, `{"model":"m","input":"a"}`, "a"},
		{"items", canon.Responses, `{"model":"m","input":[{"role":"user","content":[{"type":"input_text","text":"a"}]}]}`, "a"},
		{"embeddings", canon.Embeddings, `{"model":"m","input":"a"}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := parse(t, c.family, c.body).Prompt; got != c.want {
				t.Errorf("prompt %q, want %q", got, c.want)
			}
		})
	}
}

// TestRefused is the table of bad bodies and of the exact words that answer them.
func TestRefused(t *testing.T) {
	const user = `{"role":"user","content":"x"}`
	chat := func(rest string) string { return `{"model":"m","messages":[` + user + `]` + rest + `}` }
	for _, c := range []struct{ name, body, code, message string }{
		{"empty", "", canon.CodeJSON, "body is empty; send a JSON object (byte 0)"},
		{"white space", " \n", canon.CodeJSON, "body is empty; send a JSON object (byte 2)"},
		{"byte order mark", "\xef\xbb\xbf{}", canon.CodeJSON, "body starts with a byte order mark; send UTF-8 without one (byte 0)"},
		{"array", "[]", canon.CodeJSON, "body must be a JSON object (byte 0)"},
		{"trailing", chat("") + " x", canon.CodeJSON, "something follows the JSON object; send nothing after it (byte 57)"},
		{"cut", `{"model":`, canon.CodeJSON, "model: body ends where a value is expected (byte 9)"},
		{"duplicate", chat(`,"model":"b"`), canon.CodeDuplicate, "model: duplicate name; each name may be given once (byte 56)"},
		{"duplicate escaped", chat(`,"\u006dodel":"b"`), canon.CodeDuplicate, "model: duplicate name; each name may be given once (byte 56)"},
		{"duplicate in depth", chat(`,"metadata":{"a":[{"b":1,"b":1}]}`), canon.CodeDuplicate, "metadata.a[0].b: duplicate name; each name may be given once (byte 80)"},
		{"case", chat(`,"Messages":[]`), canon.CodeCase, `Messages: differs from the field "messages" in letter case alone; write it so (byte 56)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := canon.Parse(canon.Chat, []byte(c.body), identity)
			var e *canon.Error
			if !errors.As(err, &e) {
				t.Fatalf("error %v, want an *Error", err)
			}
			if e.Status != 400 || e.Code != c.code || e.Message != c.message || !strings.HasPrefix(e.Message, e.Param) {
				t.Errorf("got  %d %s %q\nwant %s %q", e.Status, e.Code, e.Message, c.code, c.message)
			}
		})
	}
}
