package replicas_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// engine is an upstream that records its calls. Each answer has the number of its call, so that a client can see whose answer it got.
type engine struct {
	*httptest.Server
	filler string // makes answers longer

	mu    sync.Mutex // guards what follows
	calls []*call
	gates map[string]chan struct{} // by prompt: calls wait for it
}

// call is one call of the upstream.
type call struct {
	n               int
	process, tenant string
	prompt          string
	start           time.Time
}

// cutShort is in prompts whose answers end in the middle.
const cutShort = "cut short"

func newEngine(t testing.TB) *engine {
	u := &engine{gates: map[string]chan struct{}{}}
	u.Server = httptest.NewServer(http.HandlerFunc(u.serve))
	t.Cleanup(u.CloseClientConnections)
	t.Cleanup(u.Close)
	return u
}

// setting makes a process a client of the engine; its name is in the path.
func (u *engine) setting(process string) string {
	return "REPRISE_UPSTREAM=" + u.URL + "/" + process + "/v1"
}

func (u *engine) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	process, _, _ := strings.Cut(r.URL.Path[1:], "/")
	c := &call{process: process, tenant: r.Header.Get("Authorization"), prompt: gjson.GetBytes(body, "messages.@reverse.0.content").String(), start: time.Now()}
	u.mu.Lock()
	c.n = len(u.calls)
	u.calls = append(u.calls, c)
	gate := u.gates[c.prompt]
	u.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-r.Context().Done():
		}
	}
	if inputs := gjson.GetBytes(body, "input"); inputs.IsArray() {
		c.embed(w, inputs.Array())
		return
	}
	text := c.text(u.filler)
	if gjson.GetBytes(body, "stream").Bool() {
		c.stream(w, text, gjson.GetBytes(body, "stream_options.include_usage").Bool())
		return
	}
	whole := fmt.Appendf(nil, `{"id":"chatcmpl-%d","object":"chat.completion","created":1700000000,"model":"m","choices":[{"index":0,"message":`+
		`{"role":"assistant","content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12}}`, c.n, quoted(text))
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", fmt.Sprint(len(whole)))
	if strings.Contains(c.prompt, cutShort) {
		w.Write(whole[:len(whole)/2])
		panic(http.ErrAbortHandler)
	}
	w.Write(whole)
}

// text is the answer: its number, and an end that shows that none of it is missing.
func (c *call) text(filler string) string { return fmt.Sprintf("Call %d: %s The end.", c.n, filler) }

func (c *call) stream(w http.ResponseWriter, text string, usage bool) {
	w.Header().Set("Content-Type", "text/event-stream")
	event := func(delta, finish string) {
		fmt.Fprintf(w, `data: {"id":"chatcmpl-%d","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`+"\n\n", c.n, delta, finish)
		http.NewResponseController(w).Flush()
	}
	event(`{"role":"assistant","content":""}`, "null")
	for i, part := range []string{text[:len(text)/2], text[len(text)/2:]} {
		if i == 1 && strings.Contains(c.prompt, cutShort) {
			panic(http.ErrAbortHandler)
		}
		event(`{"content":`+quoted(part)+`}`, "null")
	}
	event(`{}`, `"stop"`)
	if usage {
		fmt.Fprintf(w, `data: {"id":"chatcmpl-%d","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12}}`+"\n\n", c.n)
	}
	io.WriteString(w, "data: [DONE]\n\n")
}

// embed answers with vectors that have the number of the call and the length of the input.
func (c *call) embed(w http.ResponseWriter, inputs []gjson.Result) {
	var data []string
	for i, in := range inputs {
		data = append(data, fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":[%d,%d]}`, i, c.n, len(in.Str)))
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"object":"list","data":[%s],"model":"m","usage":{"prompt_tokens":%d,"total_tokens":%d}}`, strings.Join(data, ","), len(data), len(data))
}

func quoted(s string) string {
	q, _ := json.Marshal(s)
	return string(q)
}

// hold makes the calls of a prompt wait until release.
func (u *engine) hold(prompt string) (release func()) {
	gate := make(chan struct{})
	u.mu.Lock()
	u.gates[prompt] = gate
	u.mu.Unlock()
	return sync.OnceFunc(func() { close(gate) })
}

// callsOf returns the calls of a prompt.
func (u *engine) callsOf(prompt string) (of []*call) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, c := range u.calls {
		if c.prompt == prompt {
			of = append(of, c)
		}
	}
	return of
}

// origin is the call whose answer text is, nil where it is none, or a part of one.
func (u *engine) origin(text string) *call {
	var n int
	if _, err := fmt.Sscanf(text, "Call %d:", &n); err != nil {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if n < 0 || n >= len(u.calls) || u.calls[n].text(u.filler) != text {
		return nil
	}
	return u.calls[n]
}

// textOf is the text of an answer, and whether it is whole.
func textOf(body string) (text string, whole bool) {
	if !strings.HasPrefix(body, "data:") {
		return gjson.Get(body, "choices.0.message.content").String(), gjson.Get(body, "choices.0.finish_reason").String() == "stop"
	}
	finished, done := false, false
	for line := range strings.Lines(body) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		switch {
		case !ok:
		case data == "[DONE]":
			done = true
		default:
			text += gjson.Get(data, "choices.0.delta.content").String()
			finished = finished || gjson.Get(data, "choices.0.finish_reason").String() == "stop"
		}
	}
	return text, finished && done
}
