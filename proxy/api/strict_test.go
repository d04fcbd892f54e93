package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/api"
	"reprise/proxy/api/openai"
)

func chatAnswer(content string) string {
	return `{"id":"a","choices":[{"index":0,"message":{"role":"assistant","content":` + content + `},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}`
}

// strict reports whether an answer, or with stream a stream, is strict. That is the same for each API.
func strict(stream bool, body []byte) bool {
	contentType := "application/json"
	if stream {
		contentType = "text/event-stream"
	}
	_, _, ok := api.Read(openai.Chat.Answers, contentType, body, nil)
	return ok
}

// odd are answers that JSON readers read differently, with an ordinary one around them.
var odd = map[string]string{
	"content twice":               `{"choices":[{"index":0,"message":{"content":"a","content":"b"},"finish_reason":"stop"}]}`,
	"content twice, escaped":      `{"choices":[{"index":0,"message":{"content":"a","\u0063ontent":"b"},"finish_reason":"stop"}]}`,
	"choices twice":               `{"choices":[{"index":0,"message":{"content":"a"},"finish_reason":"stop"}],"choices":[]}`,
	"finish_reason twice":         `{"choices":[{"index":0,"message":{"content":"a"},"finish_reason":"stop","finish_reason":"length"}]}`,
	"usage twice":                 `{"choices":[{"index":0,"message":{"content":"a"},"finish_reason":"stop"}],"usage":{},"usage":{"prompt_tokens":9}}`,
	"error after an empty one":    `{"error":null,"choices":[{"index":0,"message":{"content":"a"},"finish_reason":"stop"}],"error":{"message":"x"}}`,
	"twice where no client reads": `{"x":{"deep":[{"a":1,"a":2}]},"choices":[{"index":0,"message":{"content":"a"},"finish_reason":"stop"}]}`,
	"another case":                `{"choices":[{"index":0,"message":{"content":"a","Content":"b"},"finish_reason":"stop"}]}`,
	"another case, alone":         `{"choices":[{"index":0,"message":{"content":"a","Tool_Calls":[{}]},"finish_reason":"stop"}]}`,
	"a long s":                    `{"choices":[{"index":0,"message":{"content":"a"},"finish_reason":"stop"}],"choiceſ":[]}`,
	"bad UTF-8":                   chatAnswer("\"a\xff\""),
	"an overlong form":            chatAnswer("\"\xc0\xaf\""),
	"half a surrogate pair":       chatAnswer(`"\ud83d"`),
	"a raw surrogate":             chatAnswer("\"\xed\xa0\xbd\""),
	"too deep":                    chatAnswer(`"a"`)[:1] + `"x":` + strings.Repeat("[", 101) + strings.Repeat("]", 101) + "," + chatAnswer(`"a"`)[1:],
	"a number out of range":       `{"x":1e999,` + chatAnswer(`"a"`)[1:],
	"something after it":          chatAnswer(`"a"`) + `{}`,
	"a byte order mark":           "\ufeff" + chatAnswer(`"a"`),
	"no object":                   `[` + chatAnswer(`"a"`) + `]`,
	"NaN":                         `{"x":NaN,` + chatAnswer(`"a"`)[1:],
}

func TestStrict(t *testing.T) {
	stream := func(data string) string {
		return "data: " + chatAnswer(`"a"`) + "\n\ndata: " + data + "\n\ndata: [DONE]\n\n"
	}
	if !strict(false, []byte(chatAnswer(`"Gr\u00fc\u00dfe 😀 \ud83d\ude00"`))) || !strict(true, []byte(": a comment\n\n"+stream(`{"choices":[]}`))) {
		t.Error("an ordinary answer is not strict")
	}
	for name, body := range odd {
		if strict(false, []byte(body)) {
			t.Errorf("%s: an object is strict: %s", name, body)
		}
		if strict(true, []byte(stream(body))) {
			t.Errorf("%s: a stream is strict: %s", name, body)
		}
	}
	if strict(true, []byte("\ufeff"+stream(`{}`))) || strict(true, []byte(": \xff\n\n"+stream(`{}`))) {
		t.Error("a stream with a byte order mark or bad UTF-8 is strict")
	}
	if strict(true, []byte(stream(`{}`)+"data: {}\n\n")) || !strict(true, []byte(stream(`{}`)+": end\n\ndata: [DONE]\n\n")) {
		t.Error("a stream that goes on after its end is strict, or one that ends twice is not")
	}
}

// TestRecordedAnswersAreStrict: the recorded answers may be kept, except the stream that cuts a character into two halves.
func TestRecordedAnswersAreStrict(t *testing.T) {
	files, _ := filepath.Glob("*/testdata/*/answers/*")
	n := 0
	for _, f := range files {
		ext := filepath.Ext(f)
		if ext != ".json" && ext != ".sse" {
			continue
		}
		body, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		n++
		if ok := strict(ext == ".sse", body); ok == (filepath.Base(f) == "folded.sse") {
			t.Errorf("%s: strict is %v", f, ok)
		}
	}
	if n < 20 {
		t.Errorf("%d recorded answers were found", n)
	}
}

// FuzzStrict: readers that disagree about other answers (the first name counts, or the last, or a name in another case) read
// a strict one alike.
func FuzzStrict(f *testing.F) {
	for _, body := range odd {
		f.Add([]byte(body))
	}
	f.Add([]byte(chatAnswer(`"\u00fc 😀"`)))
	f.Fuzz(func(t *testing.T, body []byte) {
		if !strict(false, body) {
			return
		}
		var byName any
		if err := json.Unmarshal(body, &byName); err != nil {
			t.Fatalf("encoding/json does not read %q: %v", body, err)
		}
		r, err := answer.Parse(body)
		if err != nil {
			t.Fatalf("package answer does not read %q: %v", body, err)
		}
		if got := plain(r); !reflect.DeepEqual(got, byName) {
			t.Errorf("%q is %v to gjson and %v to encoding/json", body, got, byName)
		}
		var shaped struct {
			Choices any `json:"choices"`
			Usage   any `json:"usage"`
			Error   any `json:"error"`
		}
		if err := json.Unmarshal(body, &shaped); err != nil {
			t.Fatal(err)
		}
		members, _ := byName.(map[string]any)
		if !reflect.DeepEqual([]any{shaped.Choices, shaped.Usage, shaped.Error}, []any{members["choices"], members["usage"], members["error"]}) {
			t.Errorf("%q is %v by folded names and %v by exact ones", body, shaped, members)
		}
	})
}

// plain is a value of gjson as encoding/json would have it; of a name that is there twice, the first.
func plain(r gjson.Result) any {
	switch {
	case r.IsObject():
		m := map[string]any{}
		r.ForEach(func(k, v gjson.Result) bool {
			if _, ok := m[k.String()]; !ok {
				m[k.String()] = plain(v)
			}
			return true
		})
		return m
	case r.IsArray():
		a := []any{}
		r.ForEach(func(_, v gjson.Result) bool { a = append(a, plain(v)); return true })
		return a
	}
	return r.Value()
}

// BenchmarkRead reads answers of ordinary size, as an upstream's answer is read once before it is kept.
func BenchmarkRead(b *testing.B) {
	object := []byte(chatAnswer(`"` + strings.Repeat("A sentence of the answer. ", 80) + `"`))
	event := []byte(`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}]}` + "\n\n")
	for name, body := range map[string][]byte{"object": object, "stream": bytes.Repeat(event, 300)} {
		b.Run(fmt.Sprintf("%s of %d bytes", name, len(body)), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if !strict(name == "stream", body) {
					b.Fatal("not strict")
				}
			}
		})
	}
}
