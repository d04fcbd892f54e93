package canon_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"reprise/proxy/api"
	"reprise/proxy/canon"
)

// listed is head, n units with commas between, and tail.
func listed(head, unit string, n int, tail string) string {
	return head + strings.Repeat(unit+",", n-1) + unit + tail
}

// TestLimits: what is too large is refused with the place, the size and what is allowed.
func TestLimits(t *testing.T) {
	const user = `{"role":"user","content":"x"}`
	for _, c := range []struct {
		name   string
		family *api.Family
		body   string
		want   string // part of the message
	}{
		{"values", embs, listed(`{"model":"m","input":[`, "1", canon.MaxValues, "]}"), "input[1999995]: body has more than 2000000 values; send fewer"},
		{"values in depth", chat, `{"model":"m","messages":[` + user + `],"metadata":{"a":` + listed("[", "{}", canon.MaxValues, "]") + `}}`, "metadata.a["},
		{"messages", chat, listed(`{"model":"m","messages":[`, user, canon.MaxMessages+1, "]}"), "messages: has 100001 messages; at most 100000 are allowed (byte 24)"},
		{"items", resp, listed(`{"model":"m","input":[`, user, canon.MaxMessages+1, "]}"), "input: has 100001 messages; at most 100000 are allowed (byte 21)"},
		{"model", chat, `{"model":"` + strings.Repeat("m", 513) + `","messages":[` + user + `]}`, "model: has 513 bytes; at most 512 are allowed (byte 9)"},
		{"namespace", chat, `{"model":"m","messages":[` + user + `],"cache":{"namespace":"` + strings.Repeat("é", 129) + `"}}`, "cache.namespace: has 129 characters; at most 128 are allowed"},
		{"namespace of two", chat, `{"model":"m","messages":[` + user + `],"cache":{"namespace":"a\u001fb"}}`, "cache.namespace: must have no control characters"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := c.family.Parse([]byte(c.body), identity)
			var e *canon.Error
			if !errors.As(err, &e) || e.Status != 400 || !strings.Contains(e.Message, c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// TestLargestRequests pass: they are larger than those of which users report.
func TestLargestRequests(t *testing.T) {
	var talk strings.Builder
	talk.WriteString(`{"model":"m","messages":[`)
	for i := range 10_000 {
		fmt.Fprintf(&talk, `{"role":"user","content":[{"type":"text","text":"%d"}]},{"role":"assistant","content":"x","tool_calls":[]},`, i)
	}
	talk.WriteString(`{"role":"user","content":"the end"}]}`)
	tokens := listed("[", "12345", 8192, "]")
	schema := listed(`{"type":"object","properties":{"a":{"anyOf":[`, `{"type":"string","enum":["a","b"]}`, 50_000, "]}}}")
	for _, c := range []struct {
		name   string
		family *api.Family
		body   string
	}{
		{"embeddings of 300,000 tokens", embs, listed(`{"model":"m","input":[`, tokens, 37, "]}")},
		{"a prompt of a million tokens", comp, listed(`{"model":"m","prompt":[`, "54321", 1_000_000, "]}")},
		{"20,000 messages", chat, talk.String()},
		{"a large schema", chat, `{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"f","parameters":` + schema + `}}]}`},
		{"a picture of 8 MiB", chat, string(imageBody(8 << 20))},
		{"a fine-tuned model", chat, `{"model":"ft:gpt-4o-mini-2024-07-18:` + strings.Repeat("organization-", 9) + `:suffix:AbCd1234","messages":[{"role":"user","content":"x"}]}`},
		{"a model's path", chat, `{"model":"/models/` + strings.Repeat("directory/", 40) + `model-Q4_K_M.gguf","messages":[{"role":"user","content":"x"}]}`},
	} {
		t.Run(c.name, func(t *testing.T) { parse(t, c.family, c.body) })
	}
}

// TestLongPrompt: a prompt too long for any embedder is matched exactly, and takes no memory beside the body.
func TestLongPrompt(t *testing.T) {
	half := strings.Repeat("word ", canon.MaxPrompt/10+1)
	for _, c := range []struct {
		name, content, exactOnly, uncacheable string
		size                                  int
	}{
		{"the longest", `"` + strings.Repeat("x", canon.MaxPrompt) + `"`, "", "", canon.MaxPrompt},
		{"one more", `"` + strings.Repeat("x", canon.MaxPrompt+1) + `"`, "long-prompt", "", 0},
		{"in parts", `[{"type":"text","text":"` + half + `"},{"type":"text","text":"` + half + `xx"}]`, "long-prompt", "", 0},
		{"blank", `"` + strings.Repeat(" ", canon.MaxPrompt+1) + `"`, "no-prompt", "empty-prompt", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := parse(t, chat, `{"model":"m","messages":[{"role":"user","content":`+c.content+`}]}`)
			if r.ExactOnly != c.exactOnly || r.Uncacheable != c.uncacheable || len(r.Prompt) != c.size {
				t.Errorf("exact only %q, uncacheable %q, a prompt of %d bytes", r.ExactOnly, r.Uncacheable, len(r.Prompt))
			}
		})
	}
}

// TestLargeBodiesHaveTheirOwnKeys: canonical bytes that are too many to be held are hashed in pieces, and each still counts.
func TestLargeBodiesHaveTheirOwnKeys(t *testing.T) {
	body := func(number, blank, tail string) string {
		return `{"model":"m","messages":[{"role":"user","content":[` + strings.Repeat(`{"type":"image_url","image_url":{"url":"u"}},`, 3000) +
			`{"type":"text","text":"` + tail + `"}]}],"metadata":` + blank + listed("[", number, 40_000, "]") + `}`
	}
	r := parse(t, chat, body("1", "", "a"))
	for name, c := range map[string]struct {
		body              string
		sameKey, sameRest bool
	}{
		"other spelling": {body("1.0", " \n", "a"), true, true},
		"other number":   {body("2", "", "a"), false, false},
		"other text":     {body("1", "", "b"), false, true},
		"another part":   {strings.Replace(body("1", "", "a"), `"u"`, `"v"`, 1), false, false},
		"the last part":  {strings.Replace(body("1", "", "a"), `"u"}},{"type":"text"`, `"v"}},{"type":"text"`, 1), false, false},
	} {
		got := parse(t, chat, c.body)
		if (got.Key == r.Key) != c.sameKey || (got.Scope == r.Scope) != c.sameRest {
			t.Errorf("%s: equal key %v, equal scope %v", name, got.Key == r.Key, got.Scope == r.Scope)
		}
	}
	// A refused body leaves nothing behind in the pooled reader.
	for range 10 {
		if _, err := chat.Parse([]byte(strings.Replace(body("1", "", "a"), `"messages"`, `"model2":0,"stream":7,"messages"`, 1)), identity); err == nil {
			t.Fatal("not refused")
		}
		if got := parse(t, chat, body("1", "", "a")); got.Key != r.Key {
			t.Fatal("another key after a refused body")
		}
	}
}
