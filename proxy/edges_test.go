package proxy

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"reprise/proxy/upstream"
)

// dial opens a connection to the API on which a test writes HTTP itself.
func (r *rig) dial(t *testing.T) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", r.api.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(time.Minute)) // bounds a hang
	return conn, bufio.NewReader(conn)
}

// TestOddButValidHTTP: unusual but valid requests get their own answer.
func TestOddButValidHTTP(t *testing.T) {
	r := newRig(t)
	body := chat(capital)
	warm := r.ask(t, "/v1/chat/completions", body)
	if warm.cache() != "miss" {
		t.Fatal(warm.cache())
	}
	head := "Host: x\r\nContent-Type: application/json\r\n"
	auth := "Authorization: Bearer sk-test\r\n"
	sized := fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
	for _, tc := range []struct{ name, raw, cache string }{
		{"as ever", "POST /v1/chat/completions HTTP/1.1\r\n" + head + auth + sized, "exact"},
		{"chunked", "POST /v1/chat/completions HTTP/1.1\r\n" + head + auth + fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body), "exact"},
		{"HTTP/1.0", "POST /v1/chat/completions HTTP/1.0\r\n" + head + auth + sized, "exact"},
		{"absolute form", "POST http://elsewhere.example/v1/chat/completions HTTP/1.1\r\n" + head + auth + sized, "exact"},
		{"another host", "POST /v1/chat/completions HTTP/1.1\r\nHost: y\r\nContent-Type: application/json\r\n" + auth + sized, "exact"},
		{"no credential", "POST /v1/chat/completions HTTP/1.1\r\n" + head + sized, "miss"},
		{"empty credential", "POST /v1/chat/completions HTTP/1.1\r\n" + head + "Authorization:\r\n" + sized, "exact"},
		{"two credentials", "POST /v1/chat/completions HTTP/1.1\r\n" + head + auth + "Authorization: Bearer other\r\n" + sized, "miss"},
		{"two in the other order", "POST /v1/chat/completions HTTP/1.1\r\n" + head + "Authorization: Bearer other\r\n" + auth + sized, "miss"},
		{"the same in another header", "POST /v1/chat/completions HTTP/1.1\r\n" + head + "Api-Key: Bearer sk-test\r\n" + sized, "miss"},
		{"a query", "POST /v1/chat/completions?a=1 HTTP/1.1\r\n" + head + auth + sized, "miss"},
		{"escaped slash", "POST /v1/chat%2Fcompletions HTTP/1.1\r\n" + head + auth + sized, "bypass"},
		{"escaped letter", "POST /v1/%63hat/completions HTTP/1.1\r\n" + head + auth + sized, "bypass"},
		{"slash at the end", "POST /v1/chat/completions/ HTTP/1.1\r\n" + head + auth + sized, "bypass"},
		{"two slashes", "POST //v1/chat/completions HTTP/1.1\r\n" + head + auth + sized, "bypass"},
		{"PUT", "PUT /v1/chat/completions HTTP/1.1\r\n" + head + auth + sized, "bypass"},
		{"HEAD", "HEAD /v1/chat/completions HTTP/1.1\r\n" + head + auth + "\r\n", "bypass"},
		{"OPTIONS", "OPTIONS /v1/chat/completions HTTP/1.1\r\n" + head + auth + "\r\n", "bypass"},
		{"a go-ahead that is not waited for", "POST /v1/chat/completions HTTP/1.1\r\n" + head + auth + "Expect: 100-continue\r\n" + sized, "exact"},
		{"huge header", "POST /v1/chat/completions HTTP/1.1\r\n" + head + auth + "Referer: " + strings.Repeat("x", 500<<10) + "\r\n" + sized, "exact"},
		{"huge header that counts", "POST /v1/chat/completions HTTP/1.1\r\n" + head + auth + "X-Big: " + strings.Repeat("x", 500<<10) + "\r\n" + sized, "miss"},
	} {
		conn, in := r.dial(t)
		io.WriteString(conn, tc.raw)
		method, _, _ := strings.Cut(tc.raw, " ")
		resp, err := http.ReadResponse(in, &http.Request{Method: method})
		if err == nil && resp.StatusCode == http.StatusContinue {
			resp, err = http.ReadResponse(in, nil)
		}
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
		if got := resp.Header.Get("X-Cache"); got != tc.cache {
			t.Errorf("%s: %d %s, want %s", tc.name, resp.StatusCode, got, tc.cache)
		}
	}
}

// TestOddUpstreams: redirects, early hints and trailers reach the client, and only whole answers are kept.
func TestOddUpstreams(t *testing.T) {
	whole := answers
	for _, tc := range []struct {
		name   string
		answer func(http.ResponseWriter)
		status int
		stored bool
	}{
		{"redirect", func(w http.ResponseWriter) { w.Header().Set("Location", "/elsewhere"); w.WriteHeader(307) }, 307, false},
		{"early hints", func(w http.ResponseWriter) { w.WriteHeader(103); whole(w) }, 200, true},
		{"trailer", func(w http.ResponseWriter) {
			w.Header().Set("Trailer", "X-Sum")
			whole(w)
			w.Header().Set("X-Sum", "1")
		}, 200, true},
		{"created", func(w http.ResponseWriter) { w.WriteHeader(201); w.Write(upstreamReply) }, 201, false},
		{"partial", func(w http.ResponseWriter) { w.WriteHeader(206); w.Write(upstreamReply) }, 206, false},
		{"nothing", func(w http.ResponseWriter) { w.WriteHeader(204) }, 204, false},
		{"empty", func(w http.ResponseWriter) { w.WriteHeader(200) }, 200, false},
	} {
		r := newRigAt(t, nil, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { tc.answer(w) }))
		r.api.Client().CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		got, err := r.try("/v1/chat/completions", chat(capital))
		if err != nil || got.status != tc.status || (r.Stats().Stored > 0) != tc.stored {
			t.Errorf("%s: %d, %v, %d stored, want %d, %v", tc.name, got.status, err, r.Stats().Stored, tc.status, tc.stored)
		}
	}
}

// TestUpgrade: a connection that changes its protocol is passed through both ways.
func TestUpgrade(t *testing.T) {
	echo := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "Upgrade")
		w.Header().Set("Upgrade", "websocket")
		w.WriteHeader(http.StatusSwitchingProtocols)
		conn, both, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		line, _ := both.ReadString('\n')
		conn.Write([]byte("you said " + line))
	})
	r := newRigAt(t, nil, echo)
	conn, in := r.dial(t)
	io.WriteString(conn, "GET /v1/realtime HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	resp, err := http.ReadResponse(in, nil)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("%v, %v", resp, err)
	}
	io.WriteString(conn, "hello\n")
	if line, err := in.ReadString('\n'); line != "you said hello\n" {
		t.Errorf("%q, %v", line, err)
	}
}

// TestSharedAnswerCarriesNoPersonalHeader: headers that the upstream means for one client are not sent to those who share its
// answer, in a flight or from the store.
func TestSharedAnswerCarriesNoPersonalHeader(t *testing.T) {
	up := newStage()
	r := newRigAt(t, nil, up)
	replies := make(chan reply, 2)
	for range 2 {
		go func() {
			got, err := r.try("/v1/chat/completions", chat(capital))
			if err != nil {
				t.Error(err)
			}
			replies <- got
		}()
	}
	within(t, up.arrived, "the call")
	r.waiters(t, 2)
	up.script <- func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Set-Cookie", "session=leader")
		w.Header().Set("X-Request-Id", "req_leader")
		w.Write(upstreamReply)
	}
	got := []reply{within(t, replies, "an answer"), within(t, replies, "an answer"), r.ask(t, "/v1/chat/completions", chat(capital))}
	for _, one := range got {
		own := one.cache() == "miss"
		if (one.header.Get("Set-Cookie") != "") != own || (one.header.Get("X-Request-Id") == "req_leader") != own {
			t.Errorf("%s: %v", one.cache(), one.header)
		}
	}
}

// TestOnlyIfCachedStaysAlone: an only-if-cached request neither joins a flight nor starts one for others.
func TestOnlyIfCachedStaysAlone(t *testing.T) {
	up := newStage()
	r := newRigAt(t, nil, up)
	leave, _ := r.leaving(t, chat(capital))
	defer leave()
	within(t, up.arrived, "the call")
	if got := r.ask(t, "/v1/chat/completions", chat(capital), "Cache-Control: only-if-cached"); got.status != http.StatusGatewayTimeout {
		t.Errorf("%d %s", got.status, got.body)
	}
	r.waiters(t, 1)
	leave()
	within(t, up.left, "the call to be given up")
}

// rawUpstream answers one request per connection, then waits for the next to begin and closes.
func rawUpstream(t *testing.T, header string, saw func(*http.Request)) func(*Options) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	serve := func(conn net.Conn) {
		defer conn.Close()
		in := bufio.NewReader(conn)
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		saw(req)
		io.Copy(io.Discard, req.Body)
		fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n%s", len(upstreamReply), header, upstreamReply)
		in.Discard(1)
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
	return func(o *Options) {
		o.Upstreams = []upstream.Target{{Base: &url.URL{Scheme: "http", Host: l.Addr().String(), Path: "/v1"}}}
	}
}

// TestNothingIsSentTwice: an upstream that closes the connection when the request has begun to come may have read all of it. The
// request fails and is not sent on another connection, whatever key it carries.
func TestNothingIsSentTwice(t *testing.T) {
	for _, header := range []string{"", "Idempotency-Key: stainless-1", "X-Idempotency-Key: 1"} {
		var saw atomic.Int32
		r := newRig(t, rawUpstream(t, "", func(req *http.Request) { saw.Add(1) }))
		for i, want := range []int{200, 502, 200, 502} {
			got := r.ask(t, "/v1/chat/completions", chat(fmt.Sprint("Tale ", i)), "X-Test: 1", cmp.Or(header, "X-Test: 2"))
			if got.status != want || want == 502 && !strings.Contains(got.body, "upstream_closed") {
				t.Errorf("%q, request %d: %d %s", header, i, got.status, got.body)
			}
			if err := r.Wait(t.Context()); err != nil { // the client has the answer before its connection can be used again
				t.Fatal(err)
			}
		}
		if n := saw.Load(); n != 2 {
			t.Errorf("%q: the upstream saw %d requests, want 2", header, n)
		}
	}
}

// TestGoAheadIsNotPassedOn: Expect is not forwarded. The body is here already, and with an upstream that does not support
// Expect the request would wait a second.
func TestGoAheadIsNotPassedOn(t *testing.T) {
	expects := make(chan string, 1)
	r := newRig(t, rawUpstream(t, "", func(req *http.Request) { expects <- req.Header.Get("Expect") }))
	if got := r.ask(t, "/v1/chat/completions", chat(capital), "Expect: 100-continue"); got.status != 200 {
		t.Error(got.status)
	}
	if e := within(t, expects, "the request"); e != "" {
		t.Errorf("the upstream was sent Expect: %s", e)
	}
}

// TestHeadersOfOneHop: headers that the upstream's Connection header names are for this proxy only.
func TestHeadersOfOneHop(t *testing.T) {
	r := newRig(t, rawUpstream(t, "Connection: keep-alive, X-Between-Us\r\nX-Between-Us: secret\r\nX-For-All: hello\r\n", func(*http.Request) {}))
	got := r.ask(t, "/v1/chat/completions", chat(capital))
	if got.header.Get("X-Between-Us") != "" || got.header.Get("X-For-All") != "hello" {
		t.Errorf("%v", got.header)
	}
}
