package wire

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// rig is a server behind a Listener.
type rig struct {
	*Listener
	server *http.Server
	secure *tls.Config // of clients; nil: no TLS
}

func newRig(t *testing.T, secure bool, h http.HandlerFunc) *rig {
	t.Helper()
	return newRigOf(t, secure, time.Hour, h)
}

// newRigOf is newRig with another limit for a handshake.
func newRigOf(t *testing.T, secure bool, limit time.Duration, h http.HandlerFunc) *rig {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{}
	var config *tls.Config
	if secure {
		other := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate
		defer other.Close()
		config = &tls.Config{Certificates: other.TLS.Certificates, NextProtos: []string{"h2", "http/1.1"}}
		r.secure = other.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
		r.secure.ServerName = "example.com"
	}
	r.Listener = New(l, config, limit)
	r.server = &http.Server{Handler: h, ConnState: r.ConnState, ErrorLog: log.New(io.Discard, "", 0)}
	ended := make(chan error, 1)
	go func() { ended <- r.server.Serve(r.Listener) }()
	t.Cleanup(func() {
		r.server.Close()
		if err := <-ended; err != http.ErrServerClosed {
			t.Error(err)
		}
	})
	return r
}

// dial connects as a client of HTTP/1.
func (r *rig) dial(t *testing.T) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", r.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(time.Minute))
	if r.secure == nil {
		return c
	}
	return tls.Client(c, r.secure)
}

func each(t *testing.T, test func(t *testing.T, secure bool)) {
	for name, secure := range map[string]bool{"plain": false, "TLS": true} {
		t.Run(name, func(t *testing.T) { t.Parallel(); test(t, secure) })
	}
}

// TestAmbiguous: an ambiguous message is a 400 and ends the connection, after the answers to those before it, whose handlers are not
// disturbed.
func TestAmbiguous(t *testing.T) {
	each(t, func(t *testing.T, secure bool) {
		slow := make(chan struct{}, 10)
		r := newRig(t, secure, func(w http.ResponseWriter, q *http.Request) {
			io.Copy(io.Discard, q.Body)
			if q.URL.Path == "/slow" {
				select {
				case <-q.Context().Done():
					slow <- struct{}{}
				case <-time.After(50 * time.Millisecond):
				}
			}
			fmt.Fprint(w, q.URL.Path, q.TLS != nil)
		})
		const both = "Host: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET /hidden HTTP/1.1\r\nHost: a\r\n\r\n"
		for _, tc := range []struct{ text, want string }{
			{"POST /a HTTP/1.1\r\n" + both, "400"},
			{"POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcPOST /b HTTP/1.1\r\n" + both, "200 400"},
			{"POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcPOST /b HTTP/1.1\r\n" + both, "200 400"},
			{"GET /a HTTP/1.1\nHost: a\n\n", "400"},
			{"GET /a HTTP/1.1\r\nHost: a\r\n b: c\r\n\r\n", "400"},
			{"GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "200"},
		} {
			for _, size := range []int{1, 16, 1 << 16} {
				c := r.dial(t)
				go func() {
					for text := tc.text; text != ""; {
						n := min(size, len(text))
						if _, err := io.WriteString(c, text[:n]); err != nil {
							return
						}
						text = text[n:]
					}
				}()
				if got := statuses(c); got != tc.want {
					t.Errorf("%q in pieces of %d: %s, want %s", tc.text, size, got, tc.want)
				}
				c.Close()
			}
		}
		if len(slow) > 0 {
			t.Error("a request was ended by the message after it")
		}
	})
}

// statuses reads answers until the connection ends.
func statuses(c net.Conn) string {
	var all []string
	for in := bufio.NewReader(c); ; {
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			return strings.Join(all, " ")
		}
		io.Copy(io.Discard, resp.Body)
		all = append(all, fmt.Sprint(resp.StatusCode))
	}
}

// TestHTTP2: TLS offers HTTP/2, and requests know of it.
func TestHTTP2(t *testing.T) {
	r := newRig(t, true, func(w http.ResponseWriter, q *http.Request) { fmt.Fprint(w, q.Proto, q.TLS != nil) })
	for proto, h2 := range map[string]bool{"HTTP/2.0": true, "HTTP/1.1": false} {
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: r.secure.Clone(), ForceAttemptHTTP2: h2}}
		resp, err := client.Get("https://" + r.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		client.CloseIdleConnections()
		if string(text) != proto+"true" {
			t.Errorf("%s, want %s", text, proto)
		}
	}
}

// TestHandshakes: a client that says nothing delays no other; one without TLS gets net/http's answer.
func TestHandshakes(t *testing.T) {
	r := newRig(t, true, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") })
	silent, err := net.Dial("tcp", r.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	plain, err := net.Dial("tcp", r.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	plain.SetDeadline(time.Now().Add(time.Minute))
	io.WriteString(plain, hello)
	if text, _ := io.ReadAll(plain); !strings.Contains(string(text), "HTTP request to an HTTPS server") {
		t.Errorf("without TLS: %s", text)
	}
	c := r.dial(t)
	io.WriteString(c, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
	if got := statuses(c); got != "200" {
		t.Errorf("beside a silent client: %s", got)
	}
}

// TestSilentHandshake: a client that says nothing is disconnected.
func TestSilentHandshake(t *testing.T) {
	r := newRigOf(t, true, 300*time.Millisecond, func(w http.ResponseWriter, _ *http.Request) {})
	silent, err := net.Dial("tcp", r.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	silent.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.ReadAll(silent); err != nil {
		t.Errorf("the silent client: %v", err)
	}
}

// TestWait waits for upgraded connections, and closes them when it may wait no longer.
func TestWait(t *testing.T) {
	each(t, func(t *testing.T, secure bool) {
		r := newRig(t, secure, func(w http.ResponseWriter, q *http.Request) {
			c, in, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			io.WriteString(c, "taken\n")
			io.Copy(c, in)
		})
		if err := r.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		open := func() (net.Conn, *bufio.Reader) {
			c := r.dial(t)
			io.WriteString(c, hello)
			in := bufio.NewReader(c)
			if line, err := in.ReadString('\n'); line != "taken\n" {
				t.Fatal(line, err)
			}
			return c, in
		}
		a, in := open()
		b, _ := open()
		waited := make(chan error, 1)
		go func() { waited <- r.Wait(t.Context()) }()
		const text = "X: y\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n\n"
		io.WriteString(a, text)
		if back, err := io.ReadAll(io.LimitReader(in, int64(len(text)))); string(back) != text {
			t.Errorf("%q came back, %v", back, err)
		}
		a.Close()
		select {
		case err := <-waited:
			t.Errorf("it did not wait for the second: %v", err)
		default:
		}
		b.Close()
		if err := <-waited; err != nil {
			t.Error(err)
		}
		_, in = open()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if err := r.Wait(ctx); err != context.DeadlineExceeded {
			t.Error(err)
		}
		if _, err := in.ReadByte(); err == nil {
			t.Error("the connection is still open")
		}
	})
}
