package demo

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// chat asks an engine, and returns the body of its answer.
func chat(t *testing.T, e http.Handler, body string, status int) string {
	t.Helper()
	w := httptest.NewRecorder()
	e.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(body)))
	if w.Code != status {
		t.Fatalf("%s: status %d: %s", body, w.Code, w.Body)
	}
	return w.Body.String()
}

// TestEngine compares whole and streamed answers with each other, and looks at limits, tools and errors.
func TestEngine(t *testing.T) {
	e := NewEngine([]string{"m"}, 64, Rates{Prefill: 1e6, Decode: 1e6})
	const messages = `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"What is "},{"type":"text","text":"a whale?"}]}]`
	whole := gjson.Parse(chat(t, e, messages+"}", 200))
	text := whole.Get("choices.0.message.content").String()
	if again := gjson.Get(chat(t, e, messages+"}", 200), "choices.0.message.content").String(); again != text || strings.Contains(text, "whale") {
		t.Errorf("%q, and again %q", text, again)
	}
	streamed := chat(t, e, messages+`,"stream":true,"stream_options":{"include_usage":true}}`, 200)
	if got, err := readStream(strings.NewReader(streamed)); err != nil || got.text != text {
		t.Errorf("as a stream: %v, %+v, want %q", err, got, text)
	}
	if !strings.Contains(streamed, fmt.Sprintf(`"completion_tokens":%d`, whole.Get("usage.completion_tokens").Int())) || !strings.Contains(streamed, `"choices":[],`) {
		t.Errorf("no usage in %s", streamed)
	}
	if cut := gjson.Parse(chat(t, e, messages+`,"max_tokens":2}`, 200)).Get("choices.0"); cut.Get("finish_reason").String() != "length" || cut.Get("message.content").String() != "Here is" {
		t.Errorf("two tokens: %s", cut)
	}
	order := `{"model":"m","messages":[{"role":"user","content":"Call tool order_status: where is my order 4711?"}],"tools":` + string(orderTool)
	if call := gjson.Get(chat(t, e, order+"}", 200), "choices.0.message.tool_calls.0.function.arguments").String(); call != `{"order":4711}` {
		t.Errorf("calls with %q", call)
	}
	if deltas := chat(t, e, order+`,"stream":true}`, 200); !strings.Contains(deltas, `"name":"order_status"`) || !strings.Contains(deltas, `"finish_reason":"tool_calls"`) {
		t.Errorf("the call as a stream: %s", deltas)
	}
	chat(t, e, `{"model":"m"}`, http.StatusBadRequest)
	w := httptest.NewRecorder()
	e.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/models", nil))
	if gjson.Get(w.Body.String(), "data.0.id").String() != "m" {
		t.Errorf("models: %s", w.Body)
	}
}

// TestEngineReportsCachedTokens: a conversation that goes on finds its prompt and its answer, under its own salt alone.
func TestEngineReportsCachedTokens(t *testing.T) {
	e := NewEngine(nil, 64, Rates{})
	ask := func(salt, messages string) (text string, prompt, cached int64) {
		got := gjson.Parse(chat(t, e, `{"model":"m","cache_salt":"`+salt+`","messages":[`+messages+`]}`, 200))
		return got.Get("choices.0.message.content").String(), got.Get("usage.prompt_tokens").Int(), got.Get("usage.prompt_tokens_details.cached_tokens").Int()
	}
	first := `{"role":"user","content":"` + strings.Repeat("a long question ", 20) + `"}`
	text, asked, cached := ask("a", first)
	if cached != 0 {
		t.Errorf("%d tokens of an empty cache", cached)
	}
	after := first + `,{"role":"assistant","content":` + strconv.Quote(text) + `},{"role":"user","content":"And?"}`
	if _, _, cached := ask("b", after); cached != 0 {
		t.Errorf("%d tokens of another salt", cached)
	}
	if _, prompt, cached := ask("a", after); cached < asked || cached%BlockTokens != 0 || cached >= prompt {
		t.Errorf("%d of %d tokens, of which %d were asked before", cached, prompt, asked)
	}
}

// TestPrefixes: the blocks that were used least recently go first, the deepest of a prompt before the others.
func TestPrefixes(t *testing.T) {
	p := newPrefixes(3)
	tokens := make([]string, 3*BlockTokens)
	a, b := blocksOf("a", tokens), blocksOf("b", tokens[:BlockTokens+1])
	for i, step := range []struct {
		blocks []block
		known  int
	}{{a, 0}, {a, 3}, {b, 0}, {a, 2}, {b, 0}, {a[:1], 1}} {
		if got := p.touch(step.blocks); got != step.known {
			t.Errorf("step %d: %d known, want %d", i, got, step.known)
		}
	}
}
