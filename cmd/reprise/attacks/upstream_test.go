package attacks_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reprise/internal/built"
)

// flood answers each chat request with a stream of n bytes. It goes on when begin is closed, and counts its calls.
func flood(n int, begin <-chan struct{}, calls *atomic.Int32) http.HandlerFunc {
	event := []byte(`data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"` +
		strings.Repeat("word ", 3000) + `"},"finish_reason":null}]}` + "\n\n")
	return func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		<-begin
		for sent := 0; sent < n; sent += len(event) {
			if _, err := w.Write(event); err != nil {
				return
			}
		}
		io.WriteString(w, "data: [DONE]\n\n")
	}
}

// openStream sends a chat request on a connection of its own and returns its answer when its header has come.
func (p *process) openStream(body string, header ...string) *http.Response {
	p.t.Helper()
	conn := p.dial()
	conn.SetDeadline(time.Now().Add(3 * time.Minute)) // bounds a hang
	fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n%s",
		len(body), strings.Join(append(header, ""), "\r\n"), body)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		p.t.Fatal(err)
	}
	return resp
}

func streamed(question string) string {
	return strings.Replace(chat(question), "{", `{"stream":true,`, 1)
}

// TestLargeAnswerIsNotHeld: an answer that is larger than what is kept is not held in memory, however many clients read it. Line 11 of the list
// in SECURITY.md.
func TestLargeAnswerIsNotHeld(t *testing.T) {
	t.Parallel()
	const size, readers = 300 << 20, 2
	begin, calls := make(chan struct{}), new(atomic.Int32)
	p := start(t, upstream(t, flood(size, begin, calls)))
	var group sync.WaitGroup
	var sums [readers]int64
	for i := range readers {
		resp := p.openStream(streamed("How long is a long answer?"))
		group.Go(func() { sums[i], _ = io.Copy(io.Discard, resp.Body) })
	}
	close(begin)
	group.Wait()
	_, highest := p.memory()
	t.Logf("measured: line 11: %d MiB of memory at its highest, %d upstream calls, for a stream of %d MiB with %d readers", highest>>10, calls.Load(), size>>20, readers)
	for i, n := range sums {
		if n < size {
			t.Errorf("reader %d got %d bytes of %d", i, n, size)
		}
	}
	if highest > 150<<10 || calls.Load() != 1 {
		t.Errorf("%d MiB of memory, %d upstream calls", highest>>10, calls.Load())
	}
}

// TestStoppedReaderDoesNotStopOthers: one of those who share a large answer stops reading; it is cut, and the others get all of it.
// Line 11 of the list in SECURITY.md.
func TestStoppedReaderDoesNotStopOthers(t *testing.T) {
	t.Parallel()
	const size = 64 << 20
	begin, calls := make(chan struct{}), new(atomic.Int32)
	p := start(t, upstream(t, flood(size, begin, calls)), "REPRISE_CLIENT_TIMEOUT=7s") // which no pause of the other reader fills
	p.openStream(streamed("Who stops?"))
	other := p.openStream(streamed("Who stops?"))
	close(begin)
	n, err := io.Copy(io.Discard, other.Body)
	_, highest := p.memory()
	t.Logf("measured: line 11: %d of %d MiB reached the reader beside one that stopped, %d MiB of memory", n>>20, size>>20, highest>>10)
	if err != nil || n < size {
		t.Errorf("%d bytes of %d, %v", n, size, err)
	}
}

// TestSlowReaderIsNotCut: a client that reads slowly gets its answer, however long that is: a stream, a large answer in one piece,
// and one from the cache. Line 17 of the list in SECURITY.md.
func TestSlowReaderIsNotCut(t *testing.T) {
	t.Parallel()
	const size, rate = 16 << 20, 1280 << 10 // bytes, bytes per second
	whole := answer(strings.Repeat("word ", size/5))
	set := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte(`"stream":true`)) {
			begin := make(chan struct{})
			close(begin)
			flood(size, begin, new(atomic.Int32))(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, whole)
	})
	p := start(t, set, "REPRISE_CLIENT_TIMEOUT=6s", "REPRISE_MAX_ENTRY_BYTES=64MiB") // no pause of a client fills that, and the whole takes 13 s
	p.ask("known")
	slowly := func(name, body string, header ...string) {
		resp := p.openStream(body, header...)
		var n int64
		var err error
		for err == nil {
			var m int64
			m, err = io.CopyN(io.Discard, resp.Body, rate/20)
			n += m
			time.Sleep(50 * time.Millisecond) // the rate of the client
		}
		t.Logf("measured: line 17: %s: %.1f MiB of %d reached a client that reads %d KiB a second, with 6 s for a write", name, float64(n)/(1<<20), size>>20, rate>>10)
		if err != io.EOF || n < size {
			t.Errorf("%s: %d bytes of %d, %v", name, n, size, err)
		}
	}
	var group sync.WaitGroup
	defer group.Wait()
	group.Go(func() { slowly("in one piece", chat("one")) })
	group.Go(func() { slowly("from the cache", chat("known")) })
	group.Go(func() { slowly("passed through", chat("pass"), "X-Reprise-Mode: off") })
	for range 2 {
		group.Go(func() { slowly("stream of two", streamed("two")) })
	}
}

// dying is an upstream that answers the first request of each connection and closes at the next one, after it has read it whole.
func dying(t *testing.T) (setting string, seen func() map[string]int) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	var mu sync.Mutex
	counts := map[string]int{}
	serve := func(conn net.Conn) {
		defer conn.Close()
		in := bufio.NewReader(conn)
		for n := 0; ; n++ {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			body, _ := io.ReadAll(r.Body)
			mu.Lock()
			counts[string(body)]++
			mu.Unlock()
			if n > 0 {
				return
			}
			text := answer("yes")
			fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(text), text)
		}
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go serve(conn)
		}
	}()
	return "REPRISE_UPSTREAM=http://" + l.Addr().String() + "/v1", func() map[string]int {
		mu.Lock()
		defer mu.Unlock()
		return counts
	}
}

// TestNoRequestIsSentTwice: an upstream that closes the connection before it answers may have read the request, which may be billed:
// it is not sent again, with an idempotency key or without. Line 18 of the list in SECURITY.md.
func TestNoRequestIsSentTwice(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/v1/chat/completions", "/v1/images/generations"} {
		for _, header := range [][]string{nil, {"Idempotency-Key", "stainless-python-retry-1"}} {
			set, seen := dying(t)
			p := start(t, set)
			failed := 0
			for i := range 8 {
				r := p.Do(http.MethodPost, p.API+path, chat("Question "+strconv.Itoa(i)), header...)
				if r.Status == 502 {
					failed++
				} else if r.Status != 200 {
					t.Errorf("status %d: %s", r.Status, r.Body)
				}
			}
			twice := 0
			for _, n := range seen() {
				if n > 1 {
					twice++
				}
			}
			t.Logf("measured: line 18: %s, header %v: of 8 requests %d were sent twice, %d got a 502", path, header, twice, failed)
			if twice > 0 {
				t.Errorf("%s: %d requests were sent twice", path, twice)
			}
		}
	}
}

// TestStaleConnections: connections that an upstream closes while they are idle make no request fail. Line 18 of the list in SECURITY.md.
func TestStaleConnections(t *testing.T) {
	t.Parallel()
	var calls, closed atomic.Int32
	set := upstreamServer(t, func(s *http.Server) {
		s.IdleTimeout = 5 * time.Millisecond
		s.ConnState = func(_ net.Conn, state http.ConnState) {
			if state == http.StateClosed {
				closed.Add(1)
			}
		}
	}, func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, answer("yes"))
	})
	p := start(t, set)
	if r := p.Do(http.MethodGet, p.API+"/v1/%2e%2e/models", ""); r.Status != http.StatusBadRequest { // the client's connection, and no call
		t.Fatalf("%d %s", r.Status, r.Body)
	}
	p.gauge("process_open_fds") // the connection to the admin listener
	files := p.gauge("process_open_fds")
	failed := 0
	const requests = 60
	for i := range requests {
		before := closed.Load()
		if r := p.ask("Question " + strconv.Itoa(i)); r.Status != 200 {
			failed++
		}
		built.Until(t, "the upstream closes the connection", func() bool { return closed.Load() > before })
		for left := 20; left > 0 && p.gauge("process_open_fds") > files; left-- { // net/http's transport notices it soon, that of the proxy when it looks
		}
	}
	t.Logf("measured: line 18: %d of %d requests failed after their connection was closed; %d calls", failed, requests, calls.Load())
	if failed > 0 || calls.Load() > requests {
		t.Errorf("%d requests failed; %d calls for %d", failed, calls.Load(), requests)
	}
}

// upstreamServer is upstream with a server that is configured first.
func upstreamServer(t testing.TB, configure func(*http.Server), h http.HandlerFunc) (setting string) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	configure(s.Config)
	s.Start()
	t.Cleanup(s.Close)
	return "REPRISE_UPSTREAM=" + s.URL + "/v1"
}

// jam is an upstream whose calls wait until it is opened. It counts those under way.
type jam struct {
	now, most atomic.Int32
	open      chan struct{}
}

func (j *jam) answer(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	n := j.now.Add(1)
	defer j.now.Add(-1)
	for old := j.most.Load(); n > old && !j.most.CompareAndSwap(old, n); old = j.most.Load() {
	}
	select {
	case <-j.open:
	case <-r.Context().Done():
	}
	io.WriteString(w, answer("yes"))
}

// TestStormIsBounded: two thousand questions at once are not as many upstream calls. The others wait, and all are answered. Line 14 of
// the list in SECURITY.md.
func TestStormIsBounded(t *testing.T) {
	t.Parallel()
	const questions = 2000
	j := &jam{open: make(chan struct{})}
	p := start(t, upstream(t, j.answer))
	var group sync.WaitGroup
	var answered, refused, other atomic.Int32
	for i := range questions {
		group.Go(func() {
			r, err := p.try(http.MethodPost, p.API+"/v1/chat/completions", chat("Question "+strconv.Itoa(i)))
			switch {
			case err == nil && r.Status == 200:
				answered.Add(1)
			case err == nil && r.Status == 503 && r.Header.Get("Retry-After") != "":
				refused.Add(1)
			default:
				other.Add(1)
			}
		})
	}
	built.Until(t, "each question is at the upstream, waits, or has its answer", func() bool {
		queued, _ := p.Metric("reprise_upstream_queued")
		return int(j.now.Load())+int(queued)+int(refused.Load()+other.Load()) >= questions
	})
	close(j.open)
	group.Wait()
	t.Logf("measured: line 14: of %d questions at once at most %d were at the upstream; %d were answered, %d refused with Retry-After, %d neither",
		questions, j.most.Load(), answered.Load(), refused.Load(), other.Load())
	if j.most.Load() > 1024 || other.Load() > 0 {
		t.Errorf("%d upstream calls at once, %d questions without an answer", j.most.Load(), other.Load())
	}
}

// TestStormLeavesRoom: the questions of one tenant, to which the upstream has no answer, do not keep another tenant from its own, on a
// cached path and on one that passes through; an answer from the cache waits for none. Line 14 of the list in SECURITY.md.
func TestStormLeavesRoom(t *testing.T) {
	t.Parallel()
	j := &jam{open: make(chan struct{})}
	p := start(t, upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer storm" {
			j.answer(w, r)
			return
		}
		io.WriteString(w, answer("yes"))
	}), "REPRISE_MAX_CONCURRENT=8")
	p.ask("What is known?", "Authorization", "Bearer storm, before")
	var group sync.WaitGroup
	var refused atomic.Int32
	for i := range 40 {
		group.Go(func() {
			path := []string{"/v1/chat/completions", "/v1/images/generations"}[i%2]
			r, err := p.try(http.MethodPost, p.API+path, chat("Question "+strconv.Itoa(i)), "Authorization", "Bearer storm")
			if err == nil && r.Status == 503 && r.Header.Get("Retry-After") != "" && strings.Contains(r.Body, "overloaded") {
				refused.Add(1)
			} else if err != nil || r.Status != 200 {
				t.Error(err, r.Status)
			}
		})
	}
	built.Until(t, "the storm has its calls, its queue, and is refused beyond", func() bool { return refused.Load() == 40-6-12 && j.now.Load() == 6 })
	for _, path := range []string{"/v1/chat/completions", "/v1/images/generations"} {
		if r := p.Do(http.MethodPost, p.API+path, chat("Mine?"), "Authorization", "Bearer other"); r.Status != 200 {
			t.Errorf("%s of another tenant: %d %s", path, r.Status, r.Body)
		}
	}
	if r := p.ask("What is known?", "Authorization", "Bearer storm, before"); r.Cache() != "exact" {
		t.Errorf("a hit during the storm: %d %s", r.Status, r.Cache())
	}
	close(j.open)
	group.Wait()
	t.Logf("measured: line 14: of 40 questions of one tenant %d were at the upstream at most, %d were refused", j.most.Load(), refused.Load())
	if n, _ := p.Metric(`reprise_refused_total{reason="upstream-calls"}`); int32(n) != refused.Load() {
		t.Errorf("metric: %v refused, want %d", n, refused.Load())
	}
}

// TestPatienceWithReasoning: an upstream may think as long as clients wait, before its answer and within it. Line 19 of the list in
// SECURITY.md.
func TestPatienceWithReasoning(t *testing.T) {
	t.Parallel()
	p := start(t)
	config := p.Do(http.MethodGet, p.Admin+"/admin/config", "").Body
	var settings []struct{ Name, Value string }
	if err := json.Unmarshal([]byte(config), &settings); err != nil {
		t.Fatal(err, config)
	}
	found := 0
	for _, s := range settings {
		if s.Name == "REPRISE_UPSTREAM_TIMEOUT" {
			found++
			t.Logf("measured: line 19: %s=%s", s.Name, s.Value)
			if d, err := time.ParseDuration(s.Value); err != nil || d < 600*time.Second {
				t.Errorf("%s is %s, and clients wait 600s", s.Name, s.Value)
			}
		}
	}
	if found != 1 {
		t.Errorf("%d limits in %s", found, config)
	}
}

// TestSilentStreamIsKeptAlive: while the upstream says nothing, a client that waits for a stream gets comments if that is asked for,
// which are not kept; an error that comes then is an event. Line 19 of the list in SECURITY.md.
func TestSilentStreamIsKeptAlive(t *testing.T) {
	t.Parallel()
	resume := make(chan struct{})
	goOn := sync.OnceFunc(func() { close(resume) })
	p := start(t, upstream(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte("fails")) {
			select {
			case <-resume:
			case <-r.Context().Done():
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusTooManyRequests)
			io.WriteString(w, `{"error":{"message":"slow down","code":"rate_limit"}}`)
			return
		}
		select {
		case <-resume:
		case <-r.Context().Done():
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"yes"},"finish_reason":null}]}`+"\n\n"+
			`data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}), "REPRISE_STREAM_KEEPALIVE=1s")
	t.Cleanup(goOn)
	right, wrong := p.openStream(streamed("What works?")), p.openStream(streamed("What fails?")) // each comes with its first comment
	if right.StatusCode != 200 || right.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("%d %v", right.StatusCode, right.Header)
	}
	goOn()
	for _, tc := range []struct {
		resp *http.Response
		says string
	}{{right, "[DONE]"}, {wrong, `data: {"error":{"message":"slow down","code":"rate_limit"}}` + "\n\n"}} {
		body, err := io.ReadAll(tc.resp.Body)
		if err != nil || !strings.HasPrefix(string(body), ": ") || !strings.Contains(string(body), tc.says) {
			t.Errorf("%q, %v", body, err)
		}
	}
	if r := p.Do(http.MethodPost, p.API+"/v1/chat/completions", streamed("What works?")); r.Cache() != "exact" || strings.Contains(r.Body, ": keepalive") {
		t.Errorf("%s %q", r.Cache(), r.Body)
	}
	if r := p.ask("What fails?"); r.Status != http.StatusTooManyRequests { // not kept, and not a stream
		t.Errorf("%d %s", r.Status, r.Body)
	}
}

// TestUpstreamsErrorReachesClients: what an upstream says about the next try reaches the client on both ways, and the clients that
// waited for the same answer; an error is not kept. Lines 14 and 18 of the list in SECURITY.md.
func TestUpstreamsErrorReachesClients(t *testing.T) {
	t.Parallel()
	open := make(chan struct{})
	var calls atomic.Int32
	p := start(t, upstream(t, func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		io.Copy(io.Discard, r.Body)
		select {
		case <-open:
		case <-r.Context().Done():
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
		io.WriteString(w, `{"error":{"message":"slow down"}}`)
	}))
	var group sync.WaitGroup
	for i := range 6 {
		group.Go(func() {
			path := []string{"/v1/chat/completions", "/v1/images/generations"}[i%2]
			r, err := p.try(http.MethodPost, p.API+path, chat("How often?"))
			if err != nil || r.Status != http.StatusTooManyRequests || r.Header.Get("Retry-After") != "7" || !strings.Contains(r.Body, "slow down") {
				t.Errorf("%s: %v, %d, Retry-After %q: %s", path, err, r.Status, r.Header.Get("Retry-After"), r.Body)
			}
		})
	}
	built.Until(t, "the calls are at the upstream", func() bool { return calls.Load() >= 4 })
	close(open)
	group.Wait()
	if n := calls.Load(); n > 6 {
		t.Errorf("%d calls for 6 requests", n)
	}
}
