package upstream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"
)

// ErrClosed says that a replica closed the connection before it answered, after a part of the request may have reached it.
var ErrClosed = errors.New("the upstream closed the connection before it answered")

// ErrUntaken ends a request of which a replica takes nothing for too long.
var ErrUntaken = errors.New("the upstream took nothing of the request in time")

// resender sends a request again only if no byte of it can have reached the replica. A call that was read once may be billed,
// whatever became of its answer.
//
// net/http's transport sends again more often: on a connection that was used before, each request with an Idempotency-Key, which
// OpenAI's libraries add to every POST although few servers honour it. And less often: a POST without one fails on a connection
// that the replica closed while it was idle, even if nothing was written. What the transport does over HTTP/2 remains: there a
// server says which requests it has not read (RFC 9113 §8.7).
type resender struct {
	http.RoundTripper
	patience time.Duration // how long the replica may take nothing of a request; not positive: no limit
}

// attempts bounds how often a request is sent that finds a closed connection each time.
const attempts = 4

// RoundTrip sends r, which it may change.
func (t resender) RoundTrip(r *http.Request) (*http.Response, error) {
	hideIdempotency(r)
	ctx, cancel := context.WithCancelCause(r.Context()) // the answer lasts until the caller ends its context
	sending := newStall(t.patience, cancel)
	defer sending.end()
	body := keepOpen(r, sending)
	for n := 1; ; n++ {
		var way wire
		trace := way.trace()
		trace.WroteRequest = func(httptrace.WroteRequestInfo) { sending.pause() }
		sending.resume()
		resp, err := t.RoundTripper.RoundTrip(r.WithContext(httptrace.WithClientTrace(ctx, trace)))
		if err == nil {
			return resp, nil
		}
		if n < attempts && way.unused() && ctx.Err() == nil && body.rewind(r) {
			continue
		}
		if r.Body != nil {
			body.ReadCloser.Close()
		}
		if cause := context.Cause(ctx); cause == ErrUntaken {
			return nil, cause
		}
		return nil, way.explain(err)
	}
}

// stall ends a request of which the replica takes nothing for too long: [http.Transport] begins to count when all of it is sent. The
// time in which more of the body is awaited from the client does not count.
type stall struct {
	limit time.Duration
	mu    sync.Mutex  // protects timer
	timer *time.Timer // nil: no limit, or the request has ended
}

func newStall(limit time.Duration, cancel context.CancelCauseFunc) *stall {
	s := &stall{limit: limit}
	if limit > 0 {
		s.timer = time.AfterFunc(limit, func() { cancel(ErrUntaken) })
	}
	return s
}

// resume begins the limit again.
func (s *stall) resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Reset(s.limit)
	}
}

func (s *stall) pause() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
	}
}

// end ends the limit; what is read of the body afterwards has none.
func (s *stall) end() {
	s.pause()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer = nil
}

// hideIdempotency keeps the transport from reading a POST with an idempotency key as one that it may send twice: it looks the
// name up in its usual spelling. Servers read names in any spelling.
func hideIdempotency(r *http.Request) {
	for canonical, spelled := range map[string]string{"Idempotency-Key": "idempotency-key", "X-Idempotency-Key": "x-idempotency-key"} {
		if v, ok := r.Header[canonical]; ok {
			delete(r.Header, canonical)
			r.Header[spelled] = v
		}
	}
}

// openBody is a request's body that stays open while the request may be sent again.
type openBody struct {
	io.ReadCloser
	sending *stall
	read    atomic.Bool
}

// atOnce is how long a body in memory may be that is sent together with the header: the transport does so only with the readers of
// bytes and strings, and sends a header before any other body.
const atOnce = 64 << 10

// keepOpen gives r a body that stays open, where it has one. A short one in memory can be had again and needs no care.
func keepOpen(r *http.Request, sending *stall) *openBody {
	b := &openBody{ReadCloser: r.Body, sending: sending}
	switch {
	case r.Body == nil || r.Body == http.NoBody:
	case r.GetBody != nil && r.ContentLength <= atOnce:
		b.read.Store(true) // as far as is known
	default:
		r.Body = b
	}
	return b
}

func (b *openBody) Read(p []byte) (int, error) {
	b.read.Store(true)
	b.sending.pause()
	defer b.sending.resume()
	return b.ReadCloser.Read(p)
}

func (b *openBody) Close() error { return nil }

// rewind gives r its body from the start, and reports whether it could.
func (b *openBody) rewind(r *http.Request) bool {
	if !b.read.Load() {
		return true
	}
	if r.GetBody == nil {
		return false
	}
	fresh, err := r.GetBody()
	if err != nil {
		return false
	}
	if r.ContentLength > atOnce {
		fresh = &openBody{ReadCloser: fresh, sending: b.sending}
	}
	r.Body = fresh
	return true
}

// wire observes the connection that a request was last sent on.
type wire struct {
	conn   atomic.Pointer[countedConn] // nil: none, or one that is not counted
	before atomic.Int64                // what had been written to it when the request got it
}

func (w *wire) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
		conn := got.Conn
		if secured, ok := conn.(*tls.Conn); ok {
			conn = secured.NetConn()
		}
		counted, _ := conn.(*countedConn)
		w.conn.Store(counted)
		if counted != nil {
			w.before.Store(counted.written.Load())
		}
	}}
}

// unused reports whether a connection was used and no byte of the request was written to it.
func (w *wire) unused() bool {
	conn := w.conn.Load()
	return conn != nil && conn.written.Load() == w.before.Load()
}

// explain adds ErrClosed where the connection broke after the replica may have read the request.
func (w *wire) explain(err error) error {
	var broken *net.OpError
	if w.conn.Load() == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &broken) && !broken.Timeout() {
		return fmt.Errorf("%w: %w", ErrClosed, err)
	}
	return err
}

// countedConn counts what is written to a connection, except for the alert of 24 bytes (31 before TLS 1.3) with which a TLS
// connection is closed: no request is as short.
//
// Each write has a limit: a replica that takes nothing would hold a connection that is none of HTTP any more, such as a websocket's.
type countedConn struct {
	net.Conn
	limit   time.Duration // not positive: none
	written atomic.Int64
}

const closingAlert = 31

func (c *countedConn) Write(p []byte) (int, error) {
	if c.limit > 0 {
		_ = c.Conn.SetWriteDeadline(time.Now().Add(c.limit))
	}
	n, err := c.Conn.Write(p)
	if n > closingAlert {
		c.written.Add(int64(n))
	}
	return n, err
}

// counted makes dial return connections that are counted, whose writes have a limit.
func counted(limit time.Duration, dial func(context.Context, string, string) (net.Conn, error)) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &countedConn{Conn: conn, limit: limit}, nil
	}
}
