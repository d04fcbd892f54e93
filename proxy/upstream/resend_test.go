package upstream

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"syscall"
	"testing"
)

// breaking is a transport whose connections break. Each of its steps is one try: how much of the request it writes before its error.
type breaking struct {
	steps []try
	tries int
	sent  []string // the bodies that were read
}

type try struct {
	wrote int   // bytes of the request on the connection
	reads bool  // the body is read
	err   error // nil: an answer
}

func (b *breaking) RoundTrip(r *http.Request) (*http.Response, error) {
	step := b.steps[min(b.tries, len(b.steps)-1)]
	b.tries++
	conn := &countedConn{Conn: sink{}}
	conn.Write(make([]byte, 1000)) // of the request before
	httptrace.ContextClientTrace(r.Context()).GotConn(httptrace.GotConnInfo{Conn: conn, Reused: true})
	if step.reads && r.Body != nil {
		body, _ := io.ReadAll(r.Body)
		b.sent = append(b.sent, string(body))
	}
	if step.wrote > 0 {
		conn.Write(make([]byte, step.wrote))
	}
	if r.Body != nil {
		r.Body.Close()
	}
	if step.err != nil {
		return nil, step.err
	}
	return &http.Response{StatusCode: 200}, nil
}

// sink is a connection that takes everything.
type sink struct{ net.Conn }

func (sink) Write(p []byte) (int, error) { return len(p), nil }

// TestSentAgainOnlyIfUnread: a request is sent again only if no byte of it was written, and only with its whole body.
func TestSentAgainOnlyIfUnread(t *testing.T) {
	idle, reset := errors.New("http: server closed idle connection"), &net.OpError{Op: "read", Err: syscall.ECONNRESET}
	for _, tc := range []struct {
		name  string
		steps []try
		again bool // the body can be had again
		tries int
		err   error
	}{
		{"closed while idle", []try{{0, false, idle}, {100, true, nil}}, true, 2, nil},
		{"closed while idle, the body was read", []try{{0, true, idle}, {100, true, nil}}, true, 2, nil},
		{"closed while idle, a body that can be read once was not", []try{{0, false, idle}, {100, true, nil}}, false, 2, nil},
		{"closed while idle, a body that can be read once was", []try{{0, true, idle}, {100, true, nil}}, false, 1, idle},
		{"only the closing alert was written", []try{{24, true, idle}, {100, true, nil}}, true, 2, nil},
		{"each connection is closed", []try{{0, true, idle}}, true, attempts, idle},
		{"a part was written", []try{{32, true, io.EOF}, {100, true, nil}}, true, 1, ErrClosed},
		{"all was written", []try{{1000, true, reset}, {100, true, nil}}, true, 1, ErrClosed},
		{"another error", []try{{1000, true, io.ErrNoProgress}}, true, 1, io.ErrNoProgress},
		{"an answer", []try{{1000, true, nil}}, true, 1, nil},
	} {
		r, _ := http.NewRequest("POST", "http://upstream.example/v1/x", strings.NewReader("body"))
		if !tc.again {
			r.GetBody = nil
		}
		b := &breaking{steps: tc.steps}
		_, err := resender{b}.RoundTrip(r)
		if b.tries != tc.tries || !errors.Is(err, tc.err) || (err != nil) != (tc.err != nil) {
			t.Errorf("%s: %d tries, %v; want %d, %v", tc.name, b.tries, err, tc.tries, tc.err)
		}
		for _, body := range b.sent {
			if body != "body" {
				t.Errorf("%s: the body was sent as %q", tc.name, body)
			}
		}
	}
}

// TestNotSentAgainAfterItsEnd: a request whose caller has left is not sent again.
func TestNotSentAgainAfterItsEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, _ := http.NewRequestWithContext(ctx, "POST", "http://upstream.example/v1/x", strings.NewReader("body"))
	b := &breaking{steps: []try{{0, false, context.Canceled}}}
	if _, err := (resender{b}).RoundTrip(r); b.tries != 1 || !errors.Is(err, context.Canceled) || errors.Is(err, ErrClosed) {
		t.Errorf("%d tries, %v", b.tries, err)
	}
}

// TestClosingAlert: closing a TLS connection writes an alert that is not taken for a request, and a request is longer.
func TestClosingAlert(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		s := newTLSEngine(t, version)
		var conn *countedConn
		transport := newTransport(Limits{}, idleSecured)
		transport.TLSClientConfig = &tls.Config{RootCAs: s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs, MaxVersion: version}
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
			conn = got.Conn.(*tls.Conn).NetConn().(*countedConn)
		}})
		var before int64
		for range 2 {
			r, _ := http.NewRequestWithContext(ctx, "GET", s.URL, nil)
			resp, err := transport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			if n := conn.written.Load(); n <= before {
				t.Errorf("TLS %x: a request was not counted", version)
			} else {
				before = n
			}
		}
		transport.CloseIdleConnections()
		if n := conn.written.Load(); n != before {
			t.Errorf("TLS %x: the closing alert was counted as %d bytes", version, n-before)
		}
	}
}

func newTLSEngine(t *testing.T, version uint16) *httptest.Server {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.TLS = &tls.Config{MaxVersion: version, MinVersion: tls.VersionTLS12}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}
