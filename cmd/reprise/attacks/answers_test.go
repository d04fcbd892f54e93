package attacks_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// TestAmbiguousAnswersAreNotKept is line 22 of the list in SECURITY.md: answers that two JSON readers read differently reach the
// client that asked, byte for byte, and no other client.
func TestAmbiguousAnswersAreNotKept(t *testing.T) {
	t.Parallel()
	choice := func(message string) string {
		return `{"id":"a","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant",` + message +
			`},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":7}}`
	}
	chunk := func(delta string) string {
		return `data: {"id":"a","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{` + delta + `}}]}` + "\n\n"
	}
	end := `data: {"id":"a","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	bodies := []string{
		choice(`"content":"one","content":"two"`),
		choice(`"content":"one","\u0063ontent":"two"`),
		choice(`"content":"one","Content":"two"`),
		choice("\"content\":\"bad \xff UTF-8\""),
		choice(`"content":"half \ud83d a pair"`),
		strings.Replace(choice(`"content":"one"`), `"finish_reason":"stop"`, `"finish_reason":"stop","finish_reason":"length"`, 1),
		strings.Replace(choice(`"content":"one"`), `{"id"`, `{"choices":[{"index":0,"message":{"content":"two"},"finish_reason":"stop"}],"id"`, 1),
		strings.Replace(choice(`"content":"one"`), `{"id"`, `{"error":null,"error":{"message":"x"},"id"`, 1),
		strings.Replace(choice(`"content":"one"`), `{"id"`, `{"x":[[{"a":1,"a":2}]],"id"`, 1),
		chunk(`"content":"one","content":"two"`) + end,
		chunk(`"content":"one"`) + chunk("\"content\":\"\xc3\"") + end,
		chunk(`"content":"\ud83d"`) + chunk(`"content":"\ude00"`) + end,
	}
	var calls atomic.Int64
	p := start(t, upstream(t, func(w http.ResponseWriter, r *http.Request) {
		asked, _ := io.ReadAll(r.Body)
		calls.Add(1)
		for i, body := range bodies {
			if strings.Contains(string(asked), fmt.Sprintf("question number %d ", i)) {
				w.Header().Set("Content-Type", map[bool]string{true: "text/event-stream", false: "application/json"}[strings.HasPrefix(body, "data:")])
				io.WriteString(w, body)
			}
		}
	}))
	for i, body := range bodies {
		stream := strings.HasPrefix(body, "data:")
		for try := range 2 {
			question := strings.Replace(chat(fmt.Sprintf("question number %d ", i)), `{`, fmt.Sprintf(`{"stream":%v,`, stream), 1)
			r := p.Do(http.MethodPost, p.API+"/v1/chat/completions", question)
			if r.Cache() != "miss" || r.Body != body || !stream && !strings.Contains(r.Header.Get("Cache-Status"), "not-stored=malformed") {
				t.Errorf("answer %d, request %d: X-Cache %q, %s: %s", i, try, r.Cache(), r.Header.Get("Cache-Status"), r.Body)
			}
		}
	}
	if n, _ := p.Metric("reprise_entries"); n != 0 || calls.Load() != int64(2*len(bodies)) {
		t.Errorf("%v entries after %d calls, want 0 after %d", n, calls.Load(), 2*len(bodies))
	}
}
