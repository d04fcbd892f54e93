package upstream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"reprise/proxy/upstream/direct"
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

// sendOver sends r, as it is, to the only replica over a transport. That may take nothing, and begin no answer, for so long. w gets early
// answers.
func sendOver(t *testing.T, over http.RoundTripper, patience time.Duration, r *http.Request, w http.ResponseWriter) (*http.Response, error) {
	base := &url.URL{Scheme: r.URL.Scheme, Host: r.URL.Host}
	x := call{c: newClient(t, Options{Replicas: []Target{{Base: base}}, Transport: over, Limits: Limits{FirstByte: patience}}), r: Request{Original: r}, through: w, body: r.Body}
	switch {
	case r.GetBody != nil:
		body, _ := r.GetBody()
		x.r.Body, _ = io.ReadAll(body)
	case r.Body != nil:
		r.ContentLength = -1
	}
	reply, err := x.run(r.Context())
	if err != nil {
		return nil, err
	}
	return reply.Response, nil
}

// resend is sendOver without early answers.
func resend(t *testing.T, over http.RoundTripper, patience time.Duration, r *http.Request) (*http.Response, error) {
	return sendOver(t, over, patience, r, httptest.NewRecorder())
}

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
		{"each connection is closed", []try{{0, true, idle}}, true, mostConnections, idle},
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
		_, err := resend(t, b, -1, r)
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
	if _, err := resend(t, b, -1, r); b.tries != 1 || !errors.Is(err, context.Canceled) || errors.Is(err, ErrClosed) {
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

// TestNothingTaken: a request of which the replica takes nothing for too long ends. The time that its client takes does not count.
func TestNothingTaken(t *testing.T) {
	const patience = time.Minute
	for _, tc := range []struct {
		name         string
		stops        int           // bytes that are taken of the body before nothing more is; -1: all are
		taken, comes time.Duration // between two bytes: for the replica to take one, for the client to send one
		err          error
	}{
		{"nothing is taken", 0, 0, 0, ErrUntaken},
		{"a part is taken", 2, 0, 0, ErrUntaken},
		{"all is taken, and not sent", 4, 0, 0, ErrUntaken}, // the end of a body is read before its last bytes are sent
		{"slowly", -1, patience - time.Second, 0, nil},
		{"too slowly", -1, patience + time.Second, 0, ErrUntaken},
		{"from a slow client", -1, 0, 10 * patience, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r, _ := http.NewRequestWithContext(ctx, "POST", "http://upstream.example/v1/x", slowly{strings.NewReader("body"), tc.comes})
			begin := time.Now()
			_, err := resend(t, taking{tc.stops, tc.taken}, patience, r)
			if err != tc.err || err != nil && time.Since(begin) > 3*patience {
				t.Errorf("%s: %v after %v", tc.name, err, time.Since(begin))
			}
			if time.Sleep(10 * patience); err == nil && ctx.Err() != nil {
				t.Errorf("%s: the limit went on", tc.name)
			}
		})
	}
}

// TestLateAnswer: a replica that took a request and begins no answer in time is given up, and the error is one of time.
func TestLateAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		r, _ := http.NewRequest("POST", "http://upstream.example/v1/x", strings.NewReader("body"))
		if _, err := resend(t, silent{}, time.Minute, r); err != ErrIdle || time.Since(begin) != time.Minute+time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
	})
}

// silent is a transport that takes a second to send a request, and gets no answer.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(time.Second)
	httptrace.ContextClientTrace(r.Context()).WroteRequest(httptrace.WroteRequestInfo{})
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// taking is a transport that sends a body byte by byte.
type taking struct {
	stops int
	each  time.Duration
}

func (s taking) RoundTrip(r *http.Request) (*http.Response, error) {
	p := make([]byte, 1)
	for n := 0; n != s.stops; n++ {
		if _, err := r.Body.Read(p); err != nil {
			httptrace.ContextClientTrace(r.Context()).WroteRequest(httptrace.WroteRequestInfo{})
			time.Sleep(time.Minute - time.Second) // for the answer, whose limit begins now
			return &http.Response{StatusCode: 200}, r.Context().Err()
		}
		time.Sleep(s.each)
		if r.Context().Err() != nil {
			return nil, r.Context().Err()
		}
	}
	if s.stops == 4 {
		r.Body.Read(p)
	}
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// slowly is a reader that takes its time over each Read.
type slowly struct {
	io.Reader
	pause time.Duration
}

func (s slowly) Read(p []byte) (int, error) {
	time.Sleep(s.pause)
	return s.Reader.Read(p)
}

// TestForgottenConnection: a connection of HTTP/2 on which nothing comes any more is given up, and the next request gets another one. A
// busy machine can use up the limits of a connection that works, and then longer ones show whether the next request gets through.
func TestForgottenConnection(t *testing.T) {
	for limit := 50 * time.Millisecond; ; limit *= 10 {
		err := forget(t, limit)
		if err == nil {
			return
		}
		if limit > time.Minute {
			t.Fatal(err)
		}
	}
}

// forget makes a connection with a limit for pings, forgets it, and returns the error of a request that should have an answer.
func forget(t *testing.T, limit time.Duration) error {
	t.Helper()
	engine := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	engine.EnableHTTP2 = true
	engine.StartTLS()
	defer engine.Close()
	transport := NewTransport(Limits{})
	defer transport.CloseIdleConnections()
	secured := transport.secured
	secured.TLSClientConfig = engine.Client().Transport.(*http.Transport).TLSClientConfig
	secured.HTTP2.SendPingTimeout, secured.HTTP2.PingTimeout = limit, limit
	var silent atomic.Bool
	secured.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		return &forgotten{conn, &silent}, err
	}
	ask := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // bounds a hang
		defer cancel()
		r, _ := http.NewRequestWithContext(ctx, "GET", engine.URL, nil)
		resp, err := transport.RoundTrip(r)
		if err == nil {
			resp.Body.Close()
		}
		return err
	}
	if err := ask(); err != nil {
		return fmt.Errorf("at first: %w", err)
	}
	silent.Store(true)
	if err := ask(); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("on the connection: %v", err)
	}
	silent.Store(false)
	if err := ask(); err != nil {
		return fmt.Errorf("on the next one: %w", err)
	}
	return nil
}

// forgotten is a connection that takes bytes and passes none on while it is silent.
type forgotten struct {
	net.Conn
	silent *atomic.Bool
}

func (c *forgotten) Write(p []byte) (int, error) {
	if c.silent.Load() {
		return len(p), nil
	}
	return c.Conn.Write(p)
}

// writes is a connection that counts how often it is written to.
type writes struct {
	net.Conn
	n *atomic.Int64
}

func (w writes) Write(p []byte) (int, error) {
	w.n.Add(1)
	return w.Conn.Write(p)
}

// TestShortBodyIsSentAtOnce: a body in memory goes out with the header, in one write, also when it is sent again. The replica would
// wake up twice otherwise.
func TestShortBodyIsSentAtOnce(t *testing.T) {
	replica := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Write(body)
	}))
	defer replica.Close()
	for size, most := range map[int]int64{100: 1, 2000: 1, atOnce + 1: 1 << 20} {
		var n atomic.Int64
		tr := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			return writes{conn, &n}, err
		}}
		body := strings.Repeat("x", size)
		r, _ := http.NewRequest("POST", replica.URL, strings.NewReader(body))
		resp, err := resend(t, tr, time.Minute, r)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		tr.CloseIdleConnections()
		if string(got) != body || n.Load() > most {
			t.Errorf("%d bytes: %d came, in %d writes", size, len(got), n.Load())
		}
	}
}

// TestStatusThatIsNone: an answer whose status net/http's server would panic with, or that changes the protocol, is an error.
func TestStatusThatIsNone(t *testing.T) {
	for status, want := range map[int]error{0: errStatus, 99: errStatus, http.StatusSwitchingProtocols: direct.ErrSwitched} {
		over := tripFunc(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, Header: http.Header{}, Body: http.NoBody}, nil
		})
		r, _ := http.NewRequest("GET", "http://upstream.example/", nil)
		if resp, err := resend(t, over, 0, r); !errors.Is(err, want) {
			t.Errorf("%d: %v, %v", status, resp, err)
		}
	}
}
