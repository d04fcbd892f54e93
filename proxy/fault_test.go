package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"reprise/embed"
	"reprise/internal/enginesim"
	"reprise/policy"
	"reprise/policy/classic"
	"reprise/proxy/answer"
	"reprise/proxy/api/registry"
	"reprise/proxy/upstream"
	"reprise/store"
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

// TestUpstreamUnreachable: refused and silent upstreams become errors in OpenAI's shape, and nothing is stored.
func TestUpstreamUnreachable(t *testing.T) {
	refuse := func(o *Options) {
		o.Upstreams = []upstream.Target{{Base: &url.URL{Scheme: "http", Host: "127.0.0.1:1", Path: "/v1"}}}
	} // a port that no server of another test takes
	silent := func(o *Options) { o.Limits.FirstByte = 20 * time.Millisecond }
	for _, tc := range []struct {
		name         string
		adjust       func(*Options)
		fault        string
		status       int
		code, bypass string
	}{
		{"refused", refuse, "", 502, "upstream_unreachable", "X-Reprise-Mode: off"},
		{"silent", silent, "delay=1h", 504, "upstream_timeout", "X-Reprise-Mode: off"},
	} {
		r := newRig(t, tc.adjust)
		for _, h := range []string{"User-Agent: none", tc.bypass} {
			got := r.ask(t, "/v1/chat/completions", chat(capital), "X-Sim-Fault: "+tc.fault, h)
			if got.status != tc.status || gjson.Get(got.body, "error.code").String() != tc.code || gjson.Get(got.body, "error.type").String() != "upstream_error" || got.cache() != "error" {
				t.Errorf("%s, %s: %d %s %s", tc.name, h, got.status, got.cache(), got.body)
			}
		}
		if st := r.counted(t, 2); st.Stored != 0 || st.Errors != 2 {
			t.Errorf("%s: %+v", tc.name, st)
		}
	}
}

// TestStreamCut: a stream that breaks off at any byte breaks off for the client too, and is never stored.
func TestStreamCut(t *testing.T) {
	r := newRig(t)
	body := chat(capital, `"stream":true`)
	whole := len(r.ask(t, "/v1/chat/completions", body, "Cache-Control: no-store").body)
	for cut := 0; cut < whole-20; cut += max(whole/25, 1) {
		_, err := r.try("/v1/chat/completions", body, fmt.Sprintf("X-Sim-Fault: cut=%d", cut))
		if err == nil {
			t.Errorf("cut at %d of %d: the client saw a whole answer", cut, whole)
		}
		if n := r.Stats().Stored; n != 0 {
			t.Fatalf("cut at %d: %d answers stored", cut, n)
		}
	}
	got, err := r.try("/v1/chat/completions", chat(capital), "X-Sim-Fault: cut=200")
	if err != nil || got.status != 502 {
		t.Errorf("an object cut short: %d, %v", got.status, err)
	}
	if got := r.ask(t, "/v1/chat/completions", body); got.cache() != "miss" || got.status != 200 {
		t.Errorf("afterwards: %d %s", got.status, got.cache())
	}
}

// TestOddStreams: streams that are split, commented, or huge are relayed and replayed with the same text.
func TestOddStreams(t *testing.T) {
	plain := newRig(t)
	body := chat(capital, `"stream":true`)
	want := streamedText(plain.ask(t, "/v1/chat/completions", body).body)
	for _, fault := range []string{"split", "crlf", "comments", "huge=1048576", "no-usage", "split, crlf, comments"} {
		r := newRig(t, func(o *Options) { o.MaxEntryBytes = 4 << 20 })
		first := r.ask(t, "/v1/chat/completions", body, "X-Sim-Fault: "+fault)
		second := r.ask(t, "/v1/chat/completions", body)
		object := r.ask(t, "/v1/chat/completions", chat(capital))
		if a, b, c := streamedText(first.body), streamedText(second.body), object.content(t); a != want || b != want || c != want {
			t.Errorf("%s: texts %q, %q, %q, want %q", fault, a, b, c, want)
		}
		if second.cache() != "exact" || object.cache() != "exact" {
			t.Errorf("%s: %s, %s", fault, second.cache(), object.cache())
		}
	}
}

// TestErrorInsideAStream is passed on as it is, and never stored.
func TestErrorInsideAStream(t *testing.T) {
	r := newRig(t)
	body := chat(capital, `"stream":true`)
	got := r.ask(t, "/v1/chat/completions", body, "X-Sim-Fault: error-event")
	if got.status != 200 || !strings.Contains(got.body, `"error"`) || r.Stats().Stored != 0 {
		t.Errorf("%d, %d stored: %s", got.status, r.Stats().Stored, got.body)
	}
}

// TestUpstreamFallsSilent: when the upstream stops in the middle of a stream, both connections are closed, on the cached path
// and on the pass-through.
func TestUpstreamFallsSilent(t *testing.T) {
	for _, h := range []string{"User-Agent: none", "X-Reprise-Mode: off"} {
		// A busy machine can use up the limit before the first bytes have gone through, and then a longer one shows whether they do.
		for limit := 30 * time.Millisecond; ; limit *= 10 {
			got, err := fallsSilent(t, h, limit)
			if begun := strings.Contains(got.body, "one"); err != nil && begun {
				break
			} else if err == nil || limit > time.Minute {
				t.Errorf("%s: the client read %q, %v", h, got.body, err)
				break
			}
		}
	}
}

// fallsSilent asks an upstream that falls silent after its first event, and returns what the client got.
func fallsSilent(t *testing.T, h string, limit time.Duration) (got reply, err error) {
	t.Helper()
	up := newStage()
	r := newRigAt(t, nil, up, func(o *Options) { o.Limits.BetweenBytes = limit })
	released := make(chan struct{})
	defer close(released)
	gone := make(chan struct{})
	up.script <- func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, event("one"))
		w.(http.Flusher).Flush()
		req := <-up.arrived
		select {
		case <-req.Context().Done():
			close(gone)
		case <-released:
		}
	}
	got, err = r.try("/v1/chat/completions", chat(capital, `"stream":true`), h)
	within(t, gone, "the upstream request to be cancelled")
	if r.Stats().Stored != 0 {
		t.Errorf("%s: half an answer was stored", h)
	}
	return got, err
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

// brokenEmbedder fails in one way.
type brokenEmbedder struct {
	embed.Embedder
	how string
}

func (b brokenEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	v := make([]float32, b.Dim())
	switch b.how {
	case "error":
		return nil, errors.New("no model")
	case "slow":
		<-ctx.Done()
		return nil, ctx.Err()
	case "panic":
		panic("embedder")
	case "too few":
		return nil, nil
	case "short":
		return [][]float32{{1}}, nil
	case "NaN":
		v[0] = float32(math.NaN())
	}
	return [][]float32{v}, nil // "zero" too
}

// brokenPolicy panics in its decisions.
type brokenPolicy struct{ policy.Evictor }

func (brokenPolicy) Hit(policy.ID, policy.Tick)      { panic("hit") }
func (brokenPolicy) Victim() (policy.ID, bool)       { panic("victim") }
func (brokenPolicy) Insert(policy.Item, policy.Tick) { panic("insert") }

// TestCacheFaultsFailNoRequest: whatever part of the cache breaks, the client gets the upstream's answer, and the fault is
// counted.
func TestCacheFaultsFailNoRequest(t *testing.T) {
	faults := map[string]func(*Options){"policy": func(o *Options) {
		o.Store, _ = store.Open(store.Options{Evictor: brokenPolicy{classic.NewLRU()}, Limit: policy.Limit{Entries: 1}})
	}}
	for _, how := range []string{"error", "slow", "panic", "too few", "short", "NaN", "zero"} {
		faults["embedder: "+how] = func(o *Options) {
			o.Embedder, o.Limits.Embed = brokenEmbedder{o.Embedder, how}, 20*time.Millisecond
		}
	}
	for name, adjust := range faults {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, adjust)
			for i, prompt := range []string{capital, capital, similar, "Something else"} {
				for _, more := range []string{`"stream":true`, `"stream":false`} {
					got := r.ask(t, "/v1/chat/completions", chat(prompt, more))
					if got.status != 200 || !strings.Contains(got.body, "chatcmpl-") {
						t.Fatalf("request %d: %d %s", i, got.status, got.body)
					}
				}
			}
			forms := int64(1) // that of similar needs no embedder
			if name == "policy" {
				forms = 0 // nothing is stored
			}
			if st := r.Stats(); int64(st.Semantic) != forms || name != "policy" && st.Exact < 5 {
				t.Errorf("stats %+v", st)
			}
			if page := r.get(t, "/metrics").body; !strings.Contains(page, "reprise_degraded_total{") && !strings.Contains(page, "reprise_store_faults_total 1") && name != "policy" {
				t.Error("no fault was counted")
			}
		})
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

// TestNothingLeaks: after requests that end in all ways, as many goroutines run as before.
func TestNothingLeaks(t *testing.T) {
	limits := upstream.Limits{BetweenBytes: 20 * time.Millisecond, FirstByte: 20 * time.Millisecond}
	transport := upstream.NewTransport(limits)
	r := newRig(t, func(o *Options) { o.Limits.Limits, o.Transport = limits, transport })
	settle := func() int {
		r.api.CloseClientConnections()
		r.api.Client().CloseIdleConnections()
		transport.CloseIdleConnections()
		return runtime.NumGoroutine()
	}
	r.ask(t, "/v1/chat/completions", chat("warm up"))
	before := settle()
	for i := range 30 {
		for _, fault := range []string{"", "cut=100", "silence", "delay=1h", "status=500"} {
			prompt := fmt.Sprint("Question number ", i, " about ", fault)
			r.try("/v1/chat/completions", chat(prompt, `"stream":true`), "X-Sim-Fault: "+fault)
			r.try("/v1/models", "", "X-Sim-Fault: "+fault)
		}
	}
	eventually(t, "the goroutines to end", func() bool { return settle() <= before+5 })
	var st enginesim.Stats
	eventually(t, "the engine to be idle", func() bool { st = r.engine.Stats(); return st.InFlight == 0 })
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

// TestDeadEmbedderIsLeftAlone: after five failures it is not called any more, until it works again.
func TestDeadEmbedderIsLeftAlone(t *testing.T) {
	var e *countingEmbedder
	r := newRig(t, func(o *Options) { e = &countingEmbedder{Embedder: o.Embedder}; o.Embedder = e })
	e.broken.Store(true)
	began := time.Now()
	for _, noun := range nouns[:20] {
		if got := r.ask(t, "/v1/chat/completions", chat("What is a "+noun+"?")); got.status != 200 || got.cache() != "miss" {
			t.Fatalf("%d %s", got.status, got.cache())
		}
	}
	if n, most := e.calls.Load(), 5+int64(time.Since(began)/time.Second); n < 5 || n > most { // one more a second
		t.Errorf("a dead embedder was called %d times in %v", n, time.Since(began))
	}
	n := 0
	fresh := func() reply {
		n++
		return r.ask(t, "/v1/chat/completions", chat("How does a "+nouns[n%len(nouns)]+" work?", fmt.Sprintf(`"seed":%d`, n)))
	}
	eventually(t, "the breaker shows", func() bool { // it is not open while it waits for a call to try
		fresh()
		return strings.Contains(r.get(t, "/metrics").body, `reprise_breaker_open{dependency="embedder"} 1`)
	})
	calls := e.calls.Load()
	e.broken.Store(false)
	eventually(t, "the embedder to be tried again", func() bool {
		fresh()
		return e.calls.Load() > calls
	})
	r.ask(t, "/v1/chat/completions", chat(capital))
	if got := r.ask(t, "/v1/chat/completions", chat(similar)); got.cache() != "semantic" {
		t.Errorf("afterwards: %s", got.cache())
	}
}
