package canon_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"reprise/proxy/api"
	"reprise/proxy/api/apitest"
	"reprise/proxy/canon"
)

func parse(t *testing.T, f *api.Family, body string) *canon.Request {
	t.Helper()
	r, err := f.Parse([]byte(body), identity)
	if err != nil {
		t.Fatalf("Parse(%.300s): %v", body, err)
	}
	return r
}

func TestPrompt(t *testing.T) {
	for _, c := range []struct {
		name   string
		family *api.Family
		body   string
		want   string
	}{
		{"string", chat, `{"model":"m","messages":[{"role":"user","content":"a\nb"}]}`, "a\nb"},
		{"parts", chat, `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]}`, "a\nb"},
		{"two messages", chat, `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}]}`, "a\nb"},
		{"last turn only", chat, `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"x"},{"role":"user","content":"b"}]}`, "b"},
		{"beside an image", chat, `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"what?"},{"type":"image_url","image_url":{"url":"u"}}]}]}`, "what?"},
		{"completion", comp, `{"model":"m","prompt":"a"}`, "a"},
		{"completion of one", comp, `{"model":"m","prompt":["a"]}`, "a"},
		{"input", resp, `{"model":"m","input":"a"}`, "a"},
		{"items", resp, `{"model":"m","input":[{"role":"user","content":[{"type":"input_text","text":"a"}]}]}`, "a"},
		{"embeddings", embs, `{"model":"m","input":"a"}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := parse(t, c.family, c.body).Prompt; got != c.want {
				t.Errorf("prompt %q, want %q", got, c.want)
			}
		})
	}
}

// TestFreeNames has names in odd letter case where they belong to the user.
func TestFreeNames(t *testing.T) {
	parse(t, chat, `{"model":"m","messages":[{"role":"user","content":"x"}],"metadata":{"Model":"x","model":"y"},"X-Custom":1,
		"tools":[{"type":"function","function":{"name":"f","parameters":{"properties":{"Role":{},"role":{},"Größe":{}}}}}],
		"response_format":{"type":"json_schema","json_schema":{"name":"s","schema":{"properties":{"Type":{}}}}},"logit_bias":{"N":1}}`)
}

// TestRefused is the table of bad bodies and of the exact words that answer them.
func TestRefused(t *testing.T) {
	const user = `{"role":"user","content":"x"}`
	body := func(rest string) string { return `{"model":"m","messages":[` + user + `]` + rest + `}` }
	for _, c := range []struct{ name, body, code, message string }{
		{"empty", "", canon.CodeJSON, "body is empty; send a JSON object (byte 0)"},
		{"white space", " \n", canon.CodeJSON, "body is empty; send a JSON object (byte 2)"},
		{"byte order mark", "\xef\xbb\xbf{}", canon.CodeJSON, "body starts with a byte order mark; send UTF-8 without one (byte 0)"},
		{"array", "[]", canon.CodeJSON, "body must be a JSON object (byte 0)"},
		{"trailing", body("") + " x", canon.CodeJSON, "something follows the JSON object; send nothing after it (byte 57)"},
		{"cut", `{"model":`, canon.CodeJSON, "model: body ends where a value is expected (byte 9)"},
		{"duplicate", body(`,"model":"b"`), canon.CodeDuplicate, "model: duplicate name; each name may be given once (byte 56)"},
		{"duplicate escaped", body(`,"\u006dodel":"b"`), canon.CodeDuplicate, "model: duplicate name; each name may be given once (byte 56)"},
		{"duplicate in depth", body(`,"metadata":{"a":[{"b":1,"b":1}]}`), canon.CodeDuplicate, "metadata.a[0].b: duplicate name; each name may be given once (byte 80)"},
		{"case", body(`,"Messages":[]`), canon.CodeCase, `Messages: differs from the field "messages" in letter case alone; write it so (byte 56)`},
		{"long s", body(`,"meſſages":[]`), canon.CodeCase, `"meſſages": differs from the field "messages" in letter case alone; write it so (byte 56)`},
		{"kelvin sign", body(`,"toKens":1,"top_K":1`), canon.CodeCase, `"top_K": differs from the field "top_k" in letter case alone; write it so (byte 69)`},
		{"case in a message", `{"model":"m","messages":[{"role":"user","Content":"x"}]}`, canon.CodeCase, `messages[0].Content: differs from the field "content" in letter case alone; write it so (byte 40)`},
		{"case in a part", `{"model":"m","messages":[{"role":"user","content":[{"type":"text","TEXT":"x"}]}]}`, canon.CodeCase, `messages[0].content[0].TEXT: differs from the field "text" in letter case alone; write it so (byte 66)`},
		{"case in stream_options", body(`,"stream_options":{"Include_Usage":true}`), canon.CodeCase, `stream_options.Include_Usage: differs from the field "include_usage" in letter case alone; write it so (byte 74)`},
		{"case in a tool", body(`,"tools":[{"function":{"Name":"x"}}]`), canon.CodeCase, `tools[0].function.Name: differs from the field "name" in letter case alone; write it so (byte 78)`},
		{"number as name", `{1:2}`, canon.CodeJSON, `a name in double quotes is expected here (byte 1)`},
		{"no colon", `{"a" 2}`, canon.CodeJSON, `a: a colon is expected here (byte 5)`},
		{"trailing comma", `{"a":[1,]}`, canon.CodeJSON, `a[1]: a value is expected here (byte 8)`},
		{"no comma", `{"a":[1 2]}`, canon.CodeJSON, `a: a comma or ] is expected here (byte 8)`},
		{"open object", `{"a":1`, canon.CodeJSON, `body ends where a comma or } is expected (byte 6)`},
		{"comment", `{/**/}`, canon.CodeJSON, `a name in double quotes is expected here (byte 1)`},
		{"NaN", `{"a":NaN}`, canon.CodeJSON, `a: a value is expected here (byte 5)`},
		{"word", `{"a":nul}`, canon.CodeJSON, `a: a value is expected here (byte 5)`},
		{"leading zero", `{"a":01}`, canon.CodeJSON, `a: not a number of JSON, e.g. -1, 0.5 or 1e6 (byte 5)`},
		{"no fraction", `{"a":1.}`, canon.CodeJSON, `a: not a number of JSON, e.g. -1, 0.5 or 1e6 (byte 5)`},
		{"no exponent", `{"a":1e+}`, canon.CodeJSON, `a: not a number of JSON, e.g. -1, 0.5 or 1e6 (byte 5)`},
		{"too large", `{"a":-1e309}`, canon.CodeRange, `a: number out of range; at most 1.79e308 is allowed (byte 5)`},
		{"too large without exponent", `{"a":2` + strings.Repeat("0", 308) + `}`, canon.CodeRange, `a: number out of range; at most 1.79e308 is allowed (byte 5)`},
		{"endless exponent", `{"a":0e-99999999999999999999}`, canon.CodeRange, `a: number out of range; at most 1.79e308 is allowed (byte 5)`},
		{"open string", `{"a":"b`, canon.CodeJSON, `a: string is not closed (byte 5)`},
		{"line feed in a string", "{\"a\":\"b\n\"}", canon.CodeJSON, `a: control character in a string; write it as an escape (byte 7)`},
		{"unknown escape", `{"a":"\x41"}`, canon.CodeJSON, `a: unknown escape; \" \\ \/ \b \f \n \r \t and \u with four hex digits are allowed (byte 6)`},
		{"short escape", `{"a":"\u12"}`, canon.CodeJSON, `a: \u needs four hex digits (byte 6)`},
		{"cut escape", `{"a":"\`, canon.CodeJSON, `a: escape is not complete (byte 6)`},
		{"high surrogate alone", `{"a":"\ud83d"}`, canon.CodeUnicode, `a: half of a surrogate pair; write both halves or the character itself (byte 6)`},
		{"low surrogate alone", `{"a":"x\ude00"}`, canon.CodeUnicode, `a: half of a surrogate pair; write both halves or the character itself (byte 7)`},
		{"two high surrogates", `{"a":"\ud83d\ud83d"}`, canon.CodeUnicode, `a: half of a surrogate pair; write both halves or the character itself (byte 6)`},
		{"bad UTF-8", "{\"a\":\"long enough \xff\"}", canon.CodeUnicode, `a: not UTF-8; send text in UTF-8 (byte 18)`},
		{"overlong UTF-8", "{\"a\":\"\xc0\xaf\"}", canon.CodeUnicode, `a: not UTF-8; send text in UTF-8 (byte 6)`},
		{"surrogate in UTF-8", "{\"a\":\"\xed\xa0\xbd\"}", canon.CodeUnicode, `a: not UTF-8; send text in UTF-8 (byte 6)`},
		{"bad UTF-8 in a name", "{\"\xff\":1}", canon.CodeUnicode, `not UTF-8; send text in UTF-8 (byte 2)`},
		{"deep", `{"a":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`, canon.CodeDepth, "…[0][0][0][0][0][0][0][0][0][0][0][0][0]: nested too deep; at most 100 levels are allowed (byte 104)"},
		{"long names", `{"` + strings.Repeat("n", 90) + `":{"` + strings.Repeat("é", 90) + `":x}}`, canon.CodeJSON, `…"` + strings.Repeat("é", 12) + `"…: a value is expected here (byte 278)`},
		{"no model", `{"messages":[` + user + `]}`, canon.CodeMissing, "model: is missing; it must be a string (byte 0)"},
		{"model of another type", `{"model":1,"messages":[` + user + `]}`, canon.CodeType, "model: must be a string (byte 9)"},
		{"no messages", `{"model":"m"}`, canon.CodeMissing, "messages: is missing; it must be an array with at least one message (byte 0)"},
		{"empty messages", `{"model":"m","messages":[]}`, canon.CodeType, "messages: must be an array with at least one message (byte 24)"},
		{"messages of another type", `{"model":"m","messages":"x"}`, canon.CodeType, "messages: must be an array with at least one message (byte 24)"},
		{"message of another type", `{"model":"m","messages":[` + user + `,"x"]}`, canon.CodeType, "messages[1]: must be an object (byte 55)"},
		{"no role", `{"model":"m","messages":[{"content":"x"}]}`, canon.CodeMissing, `messages[0].role: is missing; it must be a string, e.g. "user" (byte 25)`},
		{"stream of another type", body(`,"stream":"true"`), canon.CodeType, "stream: must be true or false (byte 65)"},
		{"stream_options of another type", body(`,"stream_options":1`), canon.CodeType, "stream_options: must be an object (byte 73)"},
		{"include_usage of another type", body(`,"stream_options":{"include_usage":1}`), canon.CodeType, "stream_options.include_usage: must be true or false (byte 90)"},
		{"ttl of another type", body(`,"cache":{"ttl":"9"}`), canon.CodeType, "cache.ttl: must be a number of seconds, 0 or more (byte 71)"},
		{"ttl below zero", body(`,"cache":{"ttl":-1}`), canon.CodeType, "cache.ttl: must be a number of seconds, 0 or more (byte 71)"},
		{"namespace of another type", body(`,"cache":{"namespace":1}`), canon.CodeType, "cache.namespace: must be a string (byte 77)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := chat.Parse([]byte(c.body), identity)
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

func TestRefusedInput(t *testing.T) {
	for body, want := range map[string]string{
		`{"model":"m","input":1}`:               "input: must be a string or an array of items (byte 21)",
		`{"model":"m","input":["x"]}`:           "input[0]: must be an object (byte 22)",
		`{"model":"m","input":[{}]}`:            `input[0].role: is missing; it must be a string, e.g. "user" (byte 22)`,
		`{"model":"m","input":[{"type":1}]}`:    "input[0].type: must be a string (byte 30)",
		`{"model":"m","input":[{"role":true}]}`: `input[0].role: must be a string, e.g. "user" (byte 30)`,
	} {
		if _, err := resp.Parse([]byte(body), identity); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", body, err, want)
		}
	}
}

// TestParseKeepsNothing parses different bodies at once and wants each to be read as if it were alone, and no body to be
// written to.
func TestParseKeepsNothing(t *testing.T) {
	var wg sync.WaitGroup
	for seed := range uint64(8) {
		wg.Go(func() {
			rng := source(seed)
			body := render(rng, chatRequest(rng, conversation(rng, 3)))
			alone := parse(t, chat, body)
			for range 50 {
				bytes := []byte(body)
				r, err := chat.Parse(bytes, identity)
				if err != nil || apitest.Dump(r) != apitest.Dump(alone) || string(bytes) != body {
					t.Errorf("seed %d: read differently beside others: %v", seed, err)
				}
			}
		})
	}
	wg.Wait()
}
