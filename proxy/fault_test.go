package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"reprise/embed"
	"reprise/proxy/answer"
	"reprise/proxy/api/registry"
	"reprise/proxy/upstream"
)

// TestBadInput: a bad request gets an error in OpenAI's shape that names the mistake, its place and what is allowed, and is not
// sent upstream.
func TestBadInput(t *testing.T) {
	r := newRig(t, func(o *Options) { o.MaxBody = 1000 })
	for _, tc := range []struct {
		body, header string
		status       int
		code, says   string
	}{
		{`{"model":"m","messages":[`, "", 400, "invalid_json", "byte"},
		{`{"model":"m","messages":[{"role":"user","content":"x"}],"model":"n"}`, "", 400, "duplicate_name", "model"},
		{`{"model":"m","messages":[{"role":"user","content":"x"}],"\u006dodel":"n"}`, "", 400, "duplicate_name", "model"},
		{`{"model":"m","messages":[{"role":"user","content":"x"}],"Messages":[]}`, "", 400, "ambiguous_name", "Messages"},
		{`{"model":"m","messages":[{"role":"user","content":"x"}],"meſſages":[]}`, "", 400, "ambiguous_name", "messages"},
		{"{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"\xff\"}]}", "", 400, "invalid_unicode", "messages[0].content"},
		{`{"model":"m","messages":[{"role":"user","content":"\ud800"}]}`, "", 400, "invalid_unicode", "messages[0].content"},
		{`{"model":"m","messages":[{"role":"user","content":"x"}]} {}`, "", 400, "invalid_json", "byte"},
		{`{"model":"m","messages":[]}`, "", 400, "invalid_type", "at least one message"},
		{`{"model":"m","x":` + strings.Repeat("[", 101) + strings.Repeat("]", 101) + `}`, "", 400, "nested_too_deep", "100"},
		{``, "", 400, "invalid_json", "byte"},
		{chat("hi"), "Content-Type: text/plain", 400, "invalid_content_type", "application/json"},
		{chat("hi"), "Connection: Authorization", 400, "invalid_connection_header", "authorization"},
		{chat("hi"), "Connection: close, X-Reprise-Namespace", 400, "invalid_connection_header", "namespace"},
		{chat("hi"), "X-Reprise-Threshold: 1.5", 400, "invalid_header", "above 0, at most 1"},
		{chat("hi"), "X-Reprise-Ask: Question: (.+)$", 400, "invalid_header", "a group (?P<ask>…)"},
		{chat("hi"), "X-Reprise-TTL: soon", 400, "invalid_header", "seconds"},
		{chat("hi"), "X-Reprise-Mode: fast", 400, "invalid_header", "semantic, exact or off"},
		{chat(strings.Repeat("x", 1000)), "", 413, "request_too_large", "1000"},
	} {
		got := r.ask(t, "/v1/chat/completions", tc.body, nonEmpty([]string{tc.header})...)
		e := gjson.Get(got.body, "error")
		if got.status != tc.status || e.Get("code").String() != tc.code || e.Get("type").String() != "invalid_request_error" ||
			!strings.Contains(e.Get("message").String(), tc.says) || got.cache() != "error" {
			t.Errorf("%.80s %s: %d %s", tc.body, tc.header, got.status, got.body)
		}
	}
	if n := r.engine.Stats().Requests; n != 0 {
		t.Errorf("the upstream saw %d requests", n)
	}
}

// TestRawHTTP sends what no client library would.
func TestRawHTTP(t *testing.T) {
	r := newRig(t, func(o *Options) { o.MaxBody, o.Limits.Client = 1000, 50*time.Millisecond })
	head := "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
	for _, tc := range []struct{ name, raw, status string }{
		{"chunked and too large", head + "Transfer-Encoding: chunked\r\n\r\n7d0\r\n" + strings.Repeat("x", 2000) + "\r\n0\r\n\r\n", "413"},
		{"a body that stops coming", head + "Content-Length: 100\r\n\r\n{\"model\"", "408"},
		{"dot segments", "GET /v1/../admin HTTP/1.1\r\nHost: x\r\n\r\n", "400"},
		{"escaped dot segments", "GET /v1/%2e%2e/admin HTTP/1.1\r\nHost: x\r\n\r\n", "400"},
		{"pass-through that hides a credential", "GET /v1/models HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer k\r\nConnection: authorization\r\n\r\n", "400"},
		{"a body that stops coming, passed through", "POST /v1/files HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc", "408"},
	} {
		conn, err := net.Dial("tcp", r.api.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		conn.SetDeadline(time.Now().Add(time.Minute)) // bounds a hang
		io.WriteString(conn, tc.raw)
		line, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil || !strings.Contains(line, " "+tc.status+" ") {
			t.Errorf("%s: %q, %v, want %s", tc.name, line, err, tc.status)
		}
		conn.Close()
	}
}

// TestClientStopsReading: a client that stays connected and reads nothing is disconnected, and the upstream too.
func TestClientStopsReading(t *testing.T) {
	for _, h := range []string{"User-Agent: none", "X-Reprise-Mode: off"} {
		up := newStage()
		r := newRigAt(t, nil, up, func(o *Options) { o.Limits.Client = 50 * time.Millisecond; o.MaxEntryBytes = 1 << 30 })
		gone := make(chan struct{})
		up.script <- func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream")
			req := <-up.arrived
			for chunk := event(strings.Repeat("x", 64<<10)); req.Context().Err() == nil; {
				if _, err := io.WriteString(w, chunk); err != nil {
					break
				}
				w.(http.Flusher).Flush()
			}
			close(gone)
		}
		conn, err := net.Dial("tcp", r.api.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		body := chat(capital, `"stream":true`)
		fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n%s\r\nContent-Length: %d\r\n\r\n%s", h, len(body), body)
		within(t, gone, "the upstream request to be cancelled")
		conn.Close()
	}
}

// TestClientStopsReadingAnObject is the same for an answer that is written in one piece.
func TestClientStopsReadingAnObject(t *testing.T) {
	big := append([]byte(`{"pad":"`+strings.Repeat("x", 32<<20)+`",`), upstreamReply[1:]...)
	r := newRigAt(t, nil, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write(big)
	}), func(o *Options) { o.Limits.Client = 50 * time.Millisecond })
	conn, err := net.Dial("tcp", r.api.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	body := chat(capital)
	fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	r.counted(t, 1)
}

// TestPanicIsNotShown: what a flight panicked with is not in the answer to its clients.
func TestPanicIsNotShown(t *testing.T) {
	if api := toAPIError(&upstream.PanicError{Value: "boom"}); api.Status != 500 || strings.Contains(api.Message, "boom") {
		t.Errorf("client sees %+v", api)
	}
}

// TestFaultsAreLoggedOnce: repeated faults of a dependency are one line in the log, and each is counted in the metrics.
func TestFaultsAreLoggedOnce(t *testing.T) {
	r := newRig(t)
	for range 100 {
		r.faults.report(t.Context(), "embed", errors.New("down"))
		r.faults.report(t.Context(), "upstream", errors.New("down"))
	}
	if n := strings.Count(r.logs.String(), `msg="degraded: `); n != 2 {
		t.Errorf("%d lines for two steps that failed 100 times each", n)
	}
	if page := r.get(t, "/metrics").body; !strings.Contains(page, `reprise_degraded_total{step="embed"} 100`) {
		t.Error("the metrics do not count them all")
	}
}

// TestDamagedEntryIsDropped: an entry that cannot be read is never served and does not come back.
func TestDamagedEntryIsDropped(t *testing.T) {
	r := newRig(t)
	id := entryOf(t, r.ask(t, "/v1/chat/completions", chat(capital)))
	e, _ := r.store.Get(id)
	e.Answer[len(e.Answer)/2] ^= 1
	if got := r.ask(t, "/v1/chat/completions", chat(capital)); got.cache() != "miss" || got.status != 200 {
		t.Errorf("%d %s", got.status, got.cache())
	}
	if _, ok := r.store.Get(id); ok {
		t.Error("the damaged entry is still there")
	}
	if got := r.ask(t, "/v1/chat/completions", chat(capital)); got.cache() != "exact" {
		t.Errorf("afterwards: %s", got.cache())
	}
}

// TestUnreplayableAnswer: when a stored answer cannot be converted to the other form, the upstream is asked again.
func TestUnreplayableAnswer(t *testing.T) {
	r := newRig(t)
	first := r.ask(t, "/v1/chat/completions", chat(capital))
	broken := answer.Frozen{Form: registry.APIs.ByPath("/v1/chat/completions").Answers, ContentType: "application/json", Body: []byte(`{"id":`)}
	e, _ := r.store.Get(entryOf(t, first))
	e.Answer = broken.Encode(nil)
	r.store.Put(e, r.store.Tick())
	got := r.ask(t, "/v1/chat/completions", chat(capital, `"stream":true`))
	if got.status != 200 || got.cache() != "miss" || streamedText(got.body) != first.content(t) {
		t.Errorf("%d %s %s", got.status, got.cache(), got.body)
	}
}

// countingEmbedder fails while broken is set, and counts its calls.
type countingEmbedder struct {
	embed.Embedder
	calls  atomic.Int64
	broken atomic.Bool
}

func (c *countingEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	c.calls.Add(1)
	if c.broken.Load() {
		return nil, errors.New("down")
	}
	return c.Embedder.Embed(ctx, texts)
}
