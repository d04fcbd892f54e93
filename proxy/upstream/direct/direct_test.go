package direct

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// needLook skips a test where no request is sent by this package.
func needLook(t *testing.T) {
	if !canLook {
		t.Skip("this system uses net/http's transport for all requests")
	}
}

const idle, maxHeader = 4 * time.Second, 128 << 10

// newTransport returns a transport, and closes its connections at the end.
func newTransport(t testing.TB) *Transport {
	tr := New(&net.Dialer{}, idle, maxHeader)
	t.Cleanup(tr.CloseIdleConnections)
	return tr
}

// scripted is a replica that answers every request with the same bytes.
type scripted struct {
	net.Listener
	answer string
	slow   bool // byte by byte
	ends   bool // it closes the connection after an answer
	late   func(net.Conn)

	conns atomic.Int64
	mu    sync.Mutex // protects what follows
	seen  []string   // bodies of requests
	after chan struct{}
}

func startScripted(t *testing.T, s *scripted) *scripted {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Listener, s.after = l, make(chan struct{}, 100)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.conns.Add(1)
			go s.serve(c)
		}
	}()
	return s
}

func (s *scripted) serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.seen = append(s.seen, string(body))
		s.mu.Unlock()
		parts := []string{s.answer}
		if s.slow {
			parts = strings.Split(s.answer, "")
		}
		for _, part := range parts {
			if _, err := io.WriteString(c, part); err != nil {
				return
			}
		}
		if s.late != nil {
			s.late(c)
		}
		if s.ends {
			c.Close()
		}
		s.after <- struct{}{}
	}
}

// asked is what a request got, as text.
func asked(ctx context.Context, over http.RoundTripper, method, url, body string) (got string) {
	trace := &httptrace.ClientTrace{Got1xxResponse: func(status int, h textproto.MIMEHeader) error {
		got += fmt.Sprintf("early %d %v; ", status, h)
		return nil
	}}
	r, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, trace), method, url, nil)
	if err != nil {
		return err.Error()
	}
	if body != "" {
		r.ContentLength = int64(len(body))
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(body)), nil }
		r.Body, _ = r.GetBody()
	}
	resp, err := over.RoundTrip(r)
	if err != nil {
		return got + "no answer"
	}
	text, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	return got + fmt.Sprintf("%d %v %q trailer %v cut %t", resp.StatusCode, resp.Header, text, resp.Trailer, err != nil)
}

// TestConnectionThatIsNotQuiet: what comes over a connection while it has no request is not taken for the answer to the next one, and
// the end of it fails none.
func TestConnectionThatIsNotQuiet(t *testing.T) {
	needLook(t)
	const answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
	for name, late := range map[string]func(net.Conn){
		"bytes":       func(c net.Conn) { io.WriteString(c, "x") },
		"an answer":   func(c net.Conn) { io.WriteString(c, answer+"other") },
		"the end":     func(c net.Conn) { c.Close() },
		"half an end": func(c net.Conn) { c.(*net.TCPConn).CloseWrite() },
		"a reset":     func(c net.Conn) { c.(*net.TCPConn).SetLinger(0); c.Close() },
	} {
		tr, taken := newTransport(t), make(chan struct{})
		s := startScripted(t, &scripted{answer: answer + "hello", late: func(c net.Conn) { <-taken; late(c) }})
		for i := range 3 {
			if got := asked(t.Context(), tr, "POST", "http://"+s.Addr().String(), "a body"); !strings.Contains(got, `"hello"`) {
				t.Errorf("%s: request %d got %s", name, i, got)
			}
			taken <- struct{}{}
			<-s.after
		}
		if n := s.conns.Load(); n != 3 {
			t.Errorf("%s: %d connections for 3 requests", name, n)
		}
	}
}

// TestCancelled: a request ends with its context, wherever it is, for the reason that the context has; and so does its connection.
func TestCancelled(t *testing.T) {
	why := errors.New("why")
	for name, answer := range map[string]string{"before the answer": "", "in the header": "HTTP/1.1 200 OK\r\nContent-", "in the body": "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		begun, ended := make(chan struct{}), make(chan struct{})
		if name != "in the body" {
			close(begun)
		}
		tr := newTransport(t)
		s := startScripted(t, &scripted{answer: answer, late: func(c net.Conn) {
			<-begun
			cancel(why)
			io.Copy(io.Discard, c) // until the other end is closed
			close(ended)
		}})
		r, _ := http.NewRequestWithContext(ctx, "GET", "http://"+s.Addr().String(), nil)
		resp, err := tr.RoundTrip(r)
		if err == nil {
			close(begun)
			_, err = io.ReadAll(resp.Body)
			if _, again := resp.Body.Read(make([]byte, 1)); again != err {
				t.Errorf("%s: %v, and then %v", name, err, again)
			}
		}
		if !errors.Is(err, why) {
			t.Errorf("%s: %v", name, err)
		}
		<-ended
		if _, err := tr.RoundTrip(r); !errors.Is(err, why) || s.conns.Load() != 1 {
			t.Errorf("%s: a request that has been cancelled: %v, %d connections", name, err, s.conns.Load())
		}
	}
}

// TestClosedBody: an answer that is closed before its end takes its connection along, and gives no byte of another. The end of the
// context of one that was read changes nothing.
func TestClosedBody(t *testing.T) {
	s := startScripted(t, &scripted{answer: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"})
	tr := newTransport(t)
	for i := range 5 {
		ctx, cancel := context.WithCancel(t.Context())
		r, _ := http.NewRequestWithContext(ctx, "GET", "http://"+s.Addr().String(), nil)
		resp, err := tr.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			resp.Body.Close()
		}
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if _, again := resp.Body.Read(make([]byte, 1)); i == 0 && (err == nil || again == nil) || i > 0 && (string(got) != "hello" || again != io.EOF) {
			t.Errorf("request %d: %q, %v, %v", i, got, err, again)
		}
		cancel()
	}
	if n := s.conns.Load(); n != 2 {
		t.Errorf("%d connections", n)
	}
	part := startScripted(t, &scripted{answer: "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello"})
	for range 2 {
		r, _ := http.NewRequest("GET", "http://"+part.Addr().String(), nil)
		resp, err := tr.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		io.ReadFull(resp.Body, make([]byte, 5))
		resp.Body.Close()
	}
	if n := part.conns.Load(); n != 2 {
		t.Errorf("%d connections for answers that were closed", n)
	}
}

// TestKeptConnections: a connection without a request is closed after its time, the one that was used last is taken first, and there are
// not too many.
func TestKeptConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New(nil, idle, maxHeader)
		ends := map[string]net.Conn{}
		add := func(name string) {
			mine, other := net.Pipe()
			d.keep(&conn{Conn: mine, pool: d, address: name[:1]}, nil)
			ends[name] = other
		}
		open := func() (names []string) {
			for name, other := range ends {
				other.SetReadDeadline(time.Now().Add(time.Microsecond))
				if _, err := other.Read(make([]byte, 1)); err != io.EOF {
					names = append(names, name)
				}
			}
			slices.Sort(names)
			return names
		}
		expect := func(want string) {
			t.Helper()
			synctest.Wait()
			if got := strings.Join(open(), " "); got != want {
				t.Errorf("open are %s, want %s", got, want)
			}
		}
		add("a1")
		time.Sleep(time.Second)
		add("a2")
		add("b1")
		time.Sleep(2900 * time.Millisecond)
		expect("a1 a2 b1")
		time.Sleep(200 * time.Millisecond)
		expect("a2 b1")
		if c := d.take("a"); c == nil || d.take("a") != nil {
			t.Error("one connection to a was kept")
		} else {
			c.Close()
		}
		add("b2")
		time.Sleep(time.Second)
		expect("b2")
		time.Sleep(4 * time.Second)
		expect("")
		if d.sweeping || d.count != 0 || len(d.kept) != 0 {
			t.Errorf("sweeping %t, %d connections, %v", d.sweeping, d.count, d.kept)
		}
		for range mostKept {
			d.keep(&conn{Conn: sink{}, address: "c"}, nil)
		}
		if d.keep(&conn{Conn: sink{}, address: "c"}, nil) {
			t.Error("one connection too many was kept")
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if d.count != 0 {
			t.Errorf("%d connections are still kept", d.count)
		}
	})
}

// sink is a connection that can only be closed.
type sink struct{ net.Conn }

func (sink) Close() error { return nil }

// deafConn is a connection whose replica answers and then takes no more of the request: some writes succeed, and the next one fails.
type deafConn struct {
	net.Conn
	takes  int
	err    error // of the write that fails
	answer *strings.Reader
	reads  int
}

func (c *deafConn) Write(p []byte) (int, error) {
	if c.takes--; c.takes < 0 {
		return 0, &net.OpError{Op: "write", Err: c.err}
	}
	return len(p), nil
}
func (c *deafConn) Read(p []byte) (int, error)       { c.reads++; return c.answer.Read(p) }
func (c *deafConn) Close() error                     { return nil }
func (c *deafConn) SetWriteDeadline(time.Time) error { return nil }

// DialContext returns the connection itself.
func (c *deafConn) DialContext(context.Context, string, string) (net.Conn, error) { return c, nil }

// TestAnswerBeforeTheRequestIsTaken: the answer of a replica that closes before it has read the request is passed on, as far as a part was
// sent.
func TestAnswerBeforeTheRequestIsTaken(t *testing.T) {
	const answer = "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig"
	for _, tc := range []struct {
		name   string
		takes  int
		err    error
		answer string
		status int // 0: an error
		reads  bool
	}{
		{"an answer", 2, syscall.EPIPE, answer, 413, true},
		{"no answer", 2, syscall.ECONNRESET, "", 0, true},
		{"half an answer", 2, syscall.ECONNRESET, answer[:20], 0, true},
		{"an answer to no request", 0, syscall.EPIPE, answer, 0, false},
		{"nothing is taken in time", 2, os.ErrDeadlineExceeded, answer, 0, false},
	} {
		c := &deafConn{takes: tc.takes, err: tc.err, answer: strings.NewReader(tc.answer)}
		d := New(c, time.Minute, maxHeader)
		r, _ := http.NewRequestWithContext(t.Context(), "POST", "http://replica.example/v1", strings.NewReader(strings.Repeat("x", 60<<10)))
		resp, err := d.RoundTrip(r)
		status := 0
		if err == nil {
			status = resp.StatusCode
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		if status != tc.status || status == 0 && !errors.Is(err, tc.err) || (c.reads > 0) != tc.reads || d.count != 0 {
			t.Errorf("%s: %d, %v; %d reads, %d connections kept", tc.name, status, err, c.reads, d.count)
		}
	}
}

// TestTakes: what net/http's transport does in another way is left to it.
func TestTakes(t *testing.T) {
	d := newTransport(t)
	for name, tc := range map[string]struct {
		change func(*http.Request)
		want   bool
	}{
		"a short body":            {func(r *http.Request) {}, canLook},
		"no body":                 {func(r *http.Request) { r.Body, r.GetBody, r.ContentLength = nil, nil, 0 }, canLook},
		"a long body":             {func(r *http.Request) { r.ContentLength = MaxBody + 1 }, false},
		"a body that comes":       {func(r *http.Request) { r.GetBody = nil }, false},
		"a body without a length": {func(r *http.Request) { r.ContentLength = -1 }, false},
		"TLS":                     {func(r *http.Request) { r.URL.Scheme = "https" }, false},
		"a go-ahead":              {func(r *http.Request) { r.Header.Set("Expect", "100-continue") }, false},
		"another protocol":        {func(r *http.Request) { r.Header.Set("Upgrade", "websocket") }, false},
		"an international name":   {func(r *http.Request) { r.URL.Host = "münchen.example" }, false},
		"the last request":        {func(r *http.Request) { r.Close = true }, false},
		"chunks":                  {func(r *http.Request) { r.TransferEncoding = []string{"chunked"} }, false},
		"a trailer":               {func(r *http.Request) { r.Trailer = http.Header{"Sum": nil} }, false},
	} {
		r, _ := http.NewRequest("POST", "http://replica.example/v1", strings.NewReader("a body"))
		tc.change(r)
		if got := d.Takes(r); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestConnectionThatComesFirst: a request whose own connection does not come takes one that another request needs no more; that of its
// own is kept, and none is lost.
func TestConnectionThatComesFirst(t *testing.T) {
	needLook(t)
	s := startScripted(t, &scripted{answer: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"})
	d := newTransport(t)
	first, err := d.conn(t.Context(), newRequest(t, s))
	if err != nil {
		t.Fatal(err)
	}
	dialled, goOn := make(chan bool), make(chan bool)
	d.dialer = gate{dialled, goOn}
	got := make(chan error)
	wait := func() {
		c, err := d.conn(t.Context(), newRequest(t, s))
		if err == nil && c != first {
			err = errors.New("another connection")
		}
		got <- err
	}
	first.used = true
	go wait()
	<-dialled
	d.keep(first, nil)
	if err := <-got; err != nil {
		t.Error(err)
	}
	go wait()
	<-dialled
	goOn <- false // one of the two dials fails: the request may get the error, or the connection of the other
	goOn <- true
	if err := <-got; err == nil {
		t.Error("a connection that is in use was given out")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.waiting) > 0 {
		t.Errorf("%d addresses are still waited for", len(d.waiting))
	}
}

// gate is a dialer that reports each dial, and then waits until it may go on or must fail.
type gate struct{ dialled, goOn chan bool }

func (g gate) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	g.dialled <- true
	if !<-g.goOn {
		return nil, io.EOF
	}
	return new(net.Dialer).DialContext(ctx, network, address)
}

func newRequest(t *testing.T, s *scripted) *http.Request {
	r, err := http.NewRequest("GET", "http://"+s.Addr().String()+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
