package clientio

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener whose connections are in memory, so that their deadlines pass in virtual time.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { close(p.done); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// serve starts a server of h behind a Guard, for one test in a bubble, and returns how to dial it. The server has limits of its own,
// as that of the program: a Guard replaces them for the body of a request.
func serve(t *testing.T, h http.HandlerFunc, limit time.Duration) (dial func() net.Conn) {
	t.Helper()
	in := &pipes{make(chan net.Conn), make(chan struct{})}
	s := &http.Server{Handler: Guard(h, func() time.Duration { return limit }), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5*time.Second + defaultLimit}
	go s.Serve(in)
	t.Cleanup(func() { s.Close() })
	return func() net.Conn {
		ours, theirs := net.Pipe()
		t.Cleanup(func() { ours.Close() })
		in.conns <- theirs
		return ours
	}
}

// inBubble runs test in virtual time, in which the goroutines of its server end too.
func inBubble(t *testing.T, test func(*testing.T)) {
	synctest.Test(t, func(t *testing.T) {
		t.Cleanup(func() { time.Sleep(time.Minute) })
		test(t)
	})
}

// sending runs send, which writes to c, beside the test; at its end c is closed and send has returned.
func sending(t *testing.T, c net.Conn, send func()) {
	done := make(chan struct{})
	go func() { defer close(done); send() }()
	t.Cleanup(func() { c.Close(); <-done })
}

// readAll is a handler that answers with the number of bytes of the body, or 408.
func readAll(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	switch {
	case TooSlow(r) != errors.Is(err, ErrTooSlow):
		w.WriteHeader(http.StatusInternalServerError)
	case TooSlow(r):
		w.WriteHeader(http.StatusRequestTimeout)
	case err != nil:
		w.WriteHeader(http.StatusBadRequest)
	default:
		fmt.Fprint(w, len(body))
	}
}

// send is n bytes of a body, then a pause.
type send struct {
	n     int
	pause time.Duration
}

func repeat(times int, s send) []send {
	all := make([]send, times)
	for i := range all {
		all[i] = s
	}
	return all
}

// TestSlowBodies sends bodies with pauses.
func TestSlowBodies(t *testing.T) {
	drip := repeat(400, send{1, 1500 * time.Millisecond})
	for _, tc := range []struct {
		name   string
		limit  time.Duration
		sends  []send
		status int
		within time.Duration // of the last byte that is accepted
	}{
		{"all at once", 0, []send{{1 << 20, 0}}, 200, 0},
		{"5 KB/s", 0, repeat(100, send{5000, time.Second}), 200, 100 * time.Second},
		{"pauses between large parts", 0, repeat(5, send{1 << 20, 25 * time.Second}), 200, 125 * time.Second},
		{"little, at last", 0, []send{{10, 29 * time.Second}, {10, 0}}, 200, 29 * time.Second},
		{"a silence", 0, []send{{1 << 20, 31 * time.Second}, {1, 0}}, 408, 30 * time.Second},
		{"a byte every 1.5 s", 0, drip, 408, 30 * time.Second},
		{"fast, then a byte every 1.5 s", 0, append([]send{{8 << 20, 0}}, drip...), 408, 60 * time.Second},
		{"just under the rate", 0, repeat(100, send{900, time.Second}), 408, 31 * time.Second},
		{"no limit", -1, drip, 408, 30 * time.Second},
		{"no limit, a silence", -1, []send{{1 << 20, 29 * time.Second}, {1, 0}}, 200, 29 * time.Second},
		{"a longer limit", time.Minute, []send{{1 << 20, 59 * time.Second}, {1, 0}}, 200, 59 * time.Second},
		{"a shorter limit", 10 * time.Second, []send{{1 << 20, 11 * time.Second}, {1, 0}}, 408, 10 * time.Second},
	} {
		for _, chunked := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, chunked %v", tc.name, chunked), func(t *testing.T) {
				inBubble(t, func(t *testing.T) { slowBody(t, tc.limit, tc.sends, chunked, tc.status, tc.within) })
			})
		}
	}
}

func slowBody(t *testing.T, limit time.Duration, sends []send, chunked bool, status int, within time.Duration) {
	c := serve(t, readAll, limit)()
	total := 0
	for _, s := range sends {
		total += s.n
	}
	begin := time.Now()
	sending(t, c, func() {
		head := fmt.Sprintf("Content-Length: %d\r\n\r\n", total)
		if chunked {
			head = "Transfer-Encoding: chunked\r\n\r\n"
		}
		io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\n"+head)
		for _, s := range sends {
			part := strings.Repeat("x", s.n)
			if chunked {
				part = fmt.Sprintf("%x\r\n%s\r\n", s.n, part)
			}
			if _, err := io.WriteString(c, part); err != nil {
				return
			}
			time.Sleep(s.pause)
		}
		if chunked {
			io.WriteString(c, "0\r\n\r\n")
		}
	})
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	if took := time.Since(begin); resp.StatusCode != status || status == 200 && string(body) != fmt.Sprint(total) || took > within+time.Second {
		t.Errorf("%d %s after %v, want %d within %v", resp.StatusCode, body, took, status, within)
	}
	if resp.Close != (status != 200) {
		t.Errorf("status %d, connection closes: %v", status, resp.Close)
	}
}

// TestHandlerMayTakeItsTime: the time in which a handler does not read a body does not count.
func TestHandlerMayTakeItsTime(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := serve(t, func(w http.ResponseWriter, r *http.Request) {
			for range 3 {
				r.Body.Read(make([]byte, 1))
				time.Sleep(time.Hour)
			}
			readAll(w, r)
		}, 0)()
		sending(t, c, func() { io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n0123456789") })
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || resp.StatusCode != 200 {
			t.Errorf("%v, %v", resp, err)
		}
	})
}

// TestAnswerBeforeTheBody: a handler answers without reading. A body that has come, or comes soon, does not end the connection;
// the client of a larger one can send all of it and then read its answer; one that sends no more is disconnected.
func TestAnswerBeforeTheBody(t *testing.T) {
	refuse := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "2")
		w.WriteHeader(http.StatusUnauthorized)
		io.WriteString(w, "no")
	}
	for _, tc := range []struct {
		name      string
		announced int
		sends     []send
		more      string
		closes    bool
		gone      time.Duration // the connection ends by then, where it closes
	}{
		{"all there", 1000, []send{{1000, 0}}, "", false, 0},
		{"soon", 1000, []send{{500, 200 * time.Millisecond}, {500, 0}}, "", false, 0},
		{"later", 1000, []send{{500, time.Second}, {500, 0}}, "", true, 2 * time.Second},
		{"half-sent", 1000, []send{{500, 0}}, "", true, 3 * time.Second},
		{"nothing sent", 1000, nil, "", true, 3 * time.Second},
		{"large", 40 << 20, []send{{40 << 20, 0}}, "", true, time.Second},
		{"large and slow", 40 << 20, repeat(20, send{2 << 20, time.Second}), "", true, 21 * time.Second},
		{"large and dripping", 40 << 20, repeat(400, send{1, time.Second}), "", true, 31 * time.Second},
		{"a go-ahead that is not given", 1000, nil, "Expect: 100-continue\r\n", true, time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				c, begin := serve(t, refuse, 0)(), time.Now()
				sending(t, c, func() {
					fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n%s\r\n", tc.announced, tc.more)
					for _, s := range tc.sends {
						if _, err := c.Write(bytes.Repeat([]byte("x"), s.n)); err != nil {
							return
						}
						time.Sleep(s.pause)
					}
				})
				in := bufio.NewReader(c)
				resp, err := http.ReadResponse(in, nil)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := io.ReadAll(resp.Body); resp.StatusCode != 401 || string(got) != "no" || err != nil || resp.Close != tc.closes {
					t.Errorf("%d %q, %v, closes %v", resp.StatusCode, got, err, resp.Close)
				}
				if !tc.closes {
					sending(t, c, func() { io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n") })
					if resp, err := http.ReadResponse(in, nil); err != nil || resp.StatusCode != 401 {
						t.Errorf("the next request: %v, %v", resp, err)
					}
					return
				}
				if _, err := in.ReadByte(); err != io.EOF || time.Since(begin) > tc.gone {
					t.Errorf("the connection ended with %v after %v, want EOF within %v", err, time.Since(begin), tc.gone)
				}
			})
		})
	}
}

// TestClientStopsReading: a client that takes 256 KiB in time may be slow; one that takes nothing is cut off.
func TestClientStopsReading(t *testing.T) {
	for _, tc := range []struct {
		name  string
		pause time.Duration // before each 64 KiB
		whole bool
	}{{"slowly", 5 * time.Second, true}, {"too slowly", 31 * time.Second, false}} {
		t.Run(tc.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				const size = 2 << 20
				c := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, size)) }, 0)()
				io.WriteString(c, "GET / HTTP/1.0\r\n\r\n")
				n := int64(0)
				for {
					time.Sleep(tc.pause)
					m, err := io.CopyN(io.Discard, c, 64<<10)
					if n += m; err != nil {
						break
					}
				}
				if (n >= size) != tc.whole {
					t.Errorf("%d bytes of %d were read", n, size)
				}
			})
		})
	}
}

// TestHijackedConnectionIsFree: what hijacks a connection sets its deadlines.
func TestHijackedConnectionIsFree(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := serve(t, func(w http.ResponseWriter, r *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			r.Body.Read(make([]byte, 1)) // as a transport might that still has the body
			go func() { defer conn.Close(); io.Copy(conn, conn) }()
		}, 0)()
		io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n")
		time.Sleep(time.Hour)
		sending(t, c, func() { io.WriteString(c, "hello") })
		got := make([]byte, 5)
		if _, err := io.ReadFull(c, got); err != nil || string(got) != "hello" {
			t.Errorf("%q, %v", got, err)
		}
	})
}

// TestPanicHoldsNoConnection: a handler that panics before it has read the body ends the connection at once.
func TestPanicHoldsNoConnection(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, begin := serve(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 0)(), time.Now()
		io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n")
		if _, err := c.Read(make([]byte, 1)); err != io.EOF || time.Since(begin) > time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
	})
}

// TestReaderThatOutlivesTheHandler: a transport may still read the body when the handler has returned. Its Read ends, and so
// does the connection.
func TestReaderThatOutlivesTheHandler(t *testing.T) {
	ended := make(chan error, 1)
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		begun := make(chan struct{})
		go func() {
			r.Body.Read(make([]byte, 1))
			close(begun)
			_, err := io.ReadAll(r.Body)
			ended <- err
		}()
		<-begun
	}, 50*time.Millisecond)()
	sending(t, c, func() { io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n01234") })
	if got, err := io.ReadAll(c); !bytes.HasPrefix(got, []byte("HTTP/1.1 200 ")) || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if err := <-ended; err == nil {
		t.Error("the body ended regularly")
	}
}

// BenchmarkGuard is what a Guard costs a small request and its answer, beside the deadlines themselves.
func BenchmarkGuard(b *testing.B) {
	answer := make([]byte, 2000)
	h := Guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for err := error(nil); err == nil; {
			_, err = r.Body.Read(answer)
		}
		w.Write(answer)
	}), func() time.Duration { return 0 })
	body := strings.NewReader(strings.Repeat("x", 6000))
	r, err := http.NewRequest(http.MethodPost, "/", io.NopCloser(body))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		body.Seek(0, io.SeekStart)
		h.ServeHTTP(nowhere{}, r)
	}
}

// nowhere is a ResponseWriter that drops everything.
type nowhere struct{}

func (nowhere) Header() http.Header              { return http.Header{} }
func (nowhere) WriteHeader(int)                  {}
func (nowhere) Write(p []byte) (int, error)      { return len(p), nil }
func (nowhere) SetReadDeadline(time.Time) error  { return nil }
func (nowhere) SetWriteDeadline(time.Time) error { return nil }
