package direct

import (
	"bufio"
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
)

const (
	ok      = "HTTP/1.1 200 OK\r\n"
	chunked = ok + "Transfer-Encoding: chunked\r\n"
	hello   = ok + "Content-Length: 5\r\n\r\nhello"
)

// answers are what servers send, well and badly, with how many connections two requests take here. They are read as net/http's transport
// reads them: see TestLikeTransport.
var answers = []struct {
	name, method, answer string
	ends                 bool // the server closes the connection after it
	conns                int64
}{
	// Framings.
	{"a length", "POST", hello, false, 1},
	{"a length of 0", "POST", ok + "Content-Length: 0\r\n\r\n", false, 1},
	{"less than the length", "POST", ok + "Content-Length: 50\r\n\r\nhello", true, 2},
	{"chunks", "POST", chunked + "\r\n5\r\nhello\r\n0\r\n\r\n", false, 1},
	{"chunks and a trailer", "POST", chunked + "Trailer: Sum\r\n\r\n5\r\nhello\r\n0\r\nSum: 7\r\n\r\n", false, 1},
	{"a trailer that was not announced", "POST", chunked + "\r\n5\r\nhello\r\n0\r\nSum: 7\r\n\r\n", false, 1},
	{"chunks with extensions", "POST", chunked + "\r\n5;a=b\r\nhello\r\n0;c\r\n\r\n", false, 1},
	{"chunks without an end", "POST", chunked + "\r\n5\r\nhello\r\n", true, 2},
	{"chunks that are none", "POST", chunked + "\r\nhello\r\n0\r\n\r\n", false, 2},
	{"a chunk that is too short", "POST", chunked + "\r\n9\r\nhello\r\n0\r\n\r\n", true, 2},
	{"a chunk that is too long", "POST", chunked + "\r\n3\r\nhello\r\n0\r\n\r\n", false, 2},
	{"a chunk without a measure", "POST", chunked + "\r\nfffffffffffffffff\r\nhello\r\n0\r\n\r\n", false, 2},
	{"up to the end of the connection", "POST", ok + "\r\nhello", true, 2},
	{"the last answer of the connection", "POST", ok + "Connection: close\r\nContent-Length: 5\r\n\r\nhello", false, 2},
	{"HTTP/1.0", "POST", "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", false, 2},
	{"HTTP/1.0 that goes on", "POST", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello", false, 1},
	{"HTTP/1.0 in chunks", "POST", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", true, 2},
	{"a large body", "POST", ok + "Content-Length: 300000\r\n\r\n" + strings.Repeat("0123456789", 30_000), false, 1},
	{"a large body in chunks", "POST", chunked + "\r\n493e0\r\n" + strings.Repeat("0123456789", 30_000) + "\r\n0\r\n\r\n", false, 1},

	// Answers without a body.
	{"HEAD", "HEAD", ok + "Content-Length: 5\r\n\r\n", false, 1},
	{"HEAD in chunks", "HEAD", chunked + "\r\n", false, 1},
	{"no content", "POST", "HTTP/1.1 204 No Content\r\n\r\n", false, 1},
	{"not modified", "GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", false, 1},
	{"an error", "POST", "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 5\r\n\r\nsorry", false, 1},

	// Early answers.
	{"early answers", "POST", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" + hello, false, 1},
	{"many early answers", "POST", strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", 20) + hello, false, 1},
	{"an early answer alone", "POST", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", true, 2},

	// Doubtful headers.
	{"two lengths", "POST", ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", false, 2},
	{"two equal lengths", "POST", ok + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", false, 1},
	{"a negative length", "POST", ok + "Content-Length: -5\r\n\r\nhello", true, 2},
	{"a length with a sign", "POST", ok + "Content-Length: +5\r\n\r\nhello", true, 2},
	{"a length that is none", "POST", ok + "Content-Length: five\r\n\r\nhello", true, 2},
	{"a length without a measure", "POST", ok + "Content-Length: 99999999999999999999\r\n\r\nhello", true, 2},
	{"a length and chunks", "POST", chunked + "Content-Length: 5\r\n\r\n5\r\nhello\r\n0\r\n\r\n", false, 1},
	{"chunks twice", "POST", ok + "Transfer-Encoding: chunked, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", true, 2},
	{"another encoding", "POST", ok + "Transfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", true, 2},
	{"fields of many lines and spellings", "POST", ok + "x-a: 1\r\nX-A: 2\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nContent-Length: 0\r\n\r\n", false, 1},
	{"a folded line", "POST", ok + "X-A: 1\r\n  2\r\nContent-Length: 0\r\n\r\n", false, 1},
	{"a space before the colon", "POST", ok + "Content-Length : 5\r\n\r\nhello", true, 2},
	{"a line without a colon", "POST", ok + "Content-Length\r\n\r\nhello", true, 2},
	{"lines that end in LF", "POST", "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", false, 1},
	{"a NUL", "POST", ok + "X-A: \x00\r\nContent-Length: 0\r\n\r\n", true, 2},
	{"a trailer that must not be one", "POST", chunked + "Trailer: Content-Length\r\n\r\n5\r\nhello\r\n0\r\nContent-Length: 7\r\n\r\n", true, 2},
	{"a header that is too large", "POST", ok + "X-Large: " + strings.Repeat("x", maxHeader) + "\r\n\r\n", true, 2},

	// Doubtful status lines.
	{"a status that is none", "POST", "HTTP/1.1 099 Odd\r\nContent-Length: 5\r\n\r\nhello", false, 1},
	{"a status of four digits", "POST", "HTTP/1.1 2000 OK\r\nContent-Length: 5\r\n\r\nhello", true, 2},
	{"no reason", "POST", "HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello", false, 1},
	{"HTTP/2.0", "POST", "HTTP/2.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", false, 1},
	{"an empty line before", "POST", "\r\n" + hello, true, 2},
	{"no HTTP", "POST", "SSH-2.0-OpenSSH_9.6\r\n\r\n", false, 2},
	{"nothing", "POST", "", true, 2},
}

// extras are answers that are followed by bytes which belong to no answer.
var extras = []struct{ name, method, answer string }{
	{"more than the length", "POST", ok + "Content-Length: 2\r\n\r\nhello"},
	{"another answer", "POST", hello + hello},
	{"bytes after the last chunk", "POST", chunked + "\r\n5\r\nhello\r\n0\r\n\r\nmore"},
	{"HEAD with a body", "HEAD", hello},
	{"no content, with a body", "POST", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello"},
}

// TestExtras: an answer is read without the bytes that follow it, as net/http's transport does, and those are not taken for the beginning of
// another answer.
func TestExtras(t *testing.T) {
	needLook(t)
	for _, tc := range extras {
		want := asked(t.Context(), both(t, answering(tc.answer))[1], tc.method, "http://replica.example/", "a body")
		s := startScripted(t, &scripted{answer: tc.answer})
		tr := newTransport(t)
		for range 3 {
			if got := asked(t.Context(), tr, tc.method, "http://"+s.Addr().String(), "a body"); got != want {
				t.Errorf("%s: direct\n%s\nnet/http\n%s", tc.name, got, want)
			}
		}
		if n := s.conns.Load(); n != 3 {
			t.Errorf("%s: %d connections for 3 requests", tc.name, n)
		}
	}
}

// both returns this package's transport and net/http's.
func both(t testing.TB, dialer Dialer) []http.RoundTripper {
	plain := &http.Transport{DialContext: dialer.DialContext, DisableCompression: true, MaxResponseHeaderBytes: maxHeader}
	t.Cleanup(plain.CloseIdleConnections)
	d := New(dialer, idle, maxHeader)
	t.Cleanup(d.CloseIdleConnections)
	return []http.RoundTripper{d, plain}
}

// TestLikeTransport: each answer is read as net/http's transport reads it, and the next request gets the same connection, or another one.
func TestLikeTransport(t *testing.T) {
	needLook(t)
	log.SetOutput(io.Discard) // net/http's transport writes a line for each byte that belongs to no answer
	defer log.SetOutput(os.Stderr)
	for _, tc := range answers {
		for _, slow := range []bool{false, true} {
			if slow && len(tc.answer) > 10_000 {
				continue
			}
			var got [2]string
			for i, over := range both(t, &net.Dialer{}) {
				s := startScripted(t, &scripted{answer: tc.answer, slow: slow, ends: tc.ends})
				for range 2 {
					got[i] += asked(t.Context(), over, tc.method, "http://"+s.Addr().String()+"/v1/x?q=1", "a body") + "\n"
				}
				if n := s.conns.Load(); i == 0 && !slow && n != tc.conns {
					t.Errorf("%s: %d connections for two requests, want %d", tc.name, n, tc.conns)
				}
				s.mu.Lock()
				if strings.Join(s.seen, ",") != "a body,a body" {
					t.Errorf("%s: bodies %q", tc.name, s.seen)
				}
				s.mu.Unlock()
			}
			if got[0] != got[1] {
				t.Errorf("%s, slow %t: direct\n%.400s\nnet/http\n%.400s", tc.name, slow, got[0], got[1])
			}
		}
	}
}

// TestSwitched: a change of protocol that was not asked for is an error here; net/http's transport hands the connection over.
func TestSwitched(t *testing.T) {
	needLook(t)
	s := startScripted(t, &scripted{answer: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"})
	if got := asked(t.Context(), newTransport(t), "GET", "http://"+s.Addr().String(), ""); got != "no answer" {
		t.Error(got)
	}
}

// TestRequests: what is written is what net/http's transport writes.
func TestRequests(t *testing.T) {
	var got [2]string
	for i, over := range both(t, said{}) {
		for _, r := range []struct{ method, url, body string }{
			{"GET", "http://replica.example/v1/models?a=b%20c", ""}, {"POST", "http://replica.example:8000/v1/x", "a body"}, {"HEAD", "http://[::1]:80/", ""},
			{"DELETE", "http://user:secret@replica.example/v1/files/%2e%2e", ""}, {"PATCH", "http://replica.example", strings.Repeat("x", 10_000)},
		} {
			got[i] += asked(t.Context(), over, r.method, r.url, r.body) + "\n"
		}
	}
	if got[0] != got[1] {
		t.Errorf("direct\n%s\nnet/http\n%s", got[0], got[1])
	}
}

// said is a dialer of connections over which a server answers with what it was sent.
type said struct{}

func (said) DialContext(context.Context, string, string) (net.Conn, error) {
	mine, other := net.Pipe()
	go func() {
		defer other.Close()
		var raw strings.Builder
		in := bufio.NewReader(io.TeeReader(other, &raw))
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		io.Copy(io.Discard, r.Body)
		io.WriteString(other, ok+"Connection: close\r\n\r\n"+raw.String())
	}()
	return mine, nil
}

// answering is a dialer of connections over which one answer comes when a request has been read, and then the end.
type answering string

func (a answering) DialContext(context.Context, string, string) (net.Conn, error) {
	mine, other := net.Pipe()
	go func() {
		defer other.Close()
		if r, err := http.ReadRequest(bufio.NewReader(other)); err == nil {
			io.Copy(io.Discard, r.Body)
			io.WriteString(other, string(a))
		}
	}()
	return mine, nil
}

// FuzzAnswers: any answer is read as net/http's transport reads it.
func FuzzAnswers(f *testing.F) {
	for _, tc := range answers {
		if len(tc.answer) < 10_000 {
			f.Add(tc.method, tc.answer)
		}
	}
	for _, tc := range extras {
		f.Add(tc.method, tc.answer)
	}
	f.Fuzz(func(t *testing.T, method, answer string) {
		if method != "GET" && method != "HEAD" && method != "POST" || strings.Contains(answer, " 101") {
			t.Skip()
		}
		var got [2]string
		for i, over := range both(t, answering(answer)) {
			got[i] = asked(t.Context(), over, method, "http://replica.example/v1/x", "a body")
		}
		if got[0] != got[1] {
			t.Errorf("direct\n%s\nnet/http\n%s", got[0], got[1])
		}
	})
}
