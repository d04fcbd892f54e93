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
	"net/textproto"
	"sync"
	"sync/atomic"
	"time"

	"reprise/proxy/deadline"
)

// ErrClosed says that a replica closed the connection before it answered, after a part of the request may have reached it.
var ErrClosed = errors.New("the upstream closed the connection before it answered")

// ErrUntaken ends a request of which a replica takes nothing for too long.
var ErrUntaken = errors.New("the upstream took nothing of the request in time")

// errUnsent is an error of a request of which no byte can have reached the replica.
var errUnsent = errors.New("the request was not sent")

// unsentError is errUnsent because of another error, whose text it has.
type unsentError struct{ error }

func (e unsentError) Unwrap() error        { return e.error }
func (e unsentError) Is(target error) bool { return target == errUnsent }

// errStatus ends an answer whose status cannot be passed on.
var errStatus = errors.New("the status of the upstream's answer is below 100")

// trip is one request on its way to a replica, and its answer on the way back. It has one context, which ends with its caller's, and
// one timer, which bounds what is awaited of the replica at the moment: that it takes the request, that its answer begins, the next
// bytes of the answer.
//
// A request is sent again only if no byte of it can have reached the replica. A call that was read once may be billed, whatever became
// of its answer. net/http's transport sends again more often: on a connection that was used before, each request with an
// Idempotency-Key, which OpenAI's libraries add to every POST although few servers honour it. And less often: a POST without one fails
// on a connection that the replica closed while it was idle, even if nothing was written. What the transport does over HTTP/2 remains:
// there a server says which requests it has not read (RFC 9113 §8.7).
type trip struct {
	limits Limits
	ctx    context.Context
	cancel context.CancelCauseFunc
	trace  httptrace.ClientTrace
	way    wire // of the last attempt

	mu    sync.Mutex // protects what follows; held while an early answer (1xx) is passed on
	phase phase
	timer *time.Timer // nil: there are no limits
}

// phase is what is awaited of a replica.
type phase uint8

const (
	sending  phase = iota // that it takes the request
	awaiting              // that its answer begins
	answered              // the body of its answer
	over                  // nothing
)

// attempts bounds how often a request is sent that finds a closed connection each time.
const attempts = 4

// newTrip begins the trip of a request whose caller's context is ctx. early is called with each early answer, before the final one is
// there; nil: they are dropped.
func newTrip(ctx context.Context, l Limits, early func(status int, h textproto.MIMEHeader)) *trip {
	t := &trip{limits: l}
	ctx, t.cancel = context.WithCancelCause(ctx)
	t.trace.GotConn, t.trace.WroteRequest = t.way.got, t.wrote
	if early != nil {
		t.trace.Got1xxResponse = func(status int, h textproto.MIMEHeader) error {
			t.mu.Lock()
			defer t.mu.Unlock()
			if t.phase < answered { // else the response is not the transport's to change; it may report an early answer after its error
				early(status, h)
			}
			return nil
		}
	}
	t.ctx = httptrace.WithClientTrace(ctx, &t.trace)
	if longest := max(l.FirstByte, l.BetweenBytes); longest > 0 {
		t.timer = time.AfterFunc(longest, t.expire)
		t.limitLocked(l.FirstByte)
	}
	return t
}

// send sends r, whose context is that of the trip, and which it may change. The body of the answer ends the trip when it is closed; an
// error has ended it.
func (t *trip) send(over http.RoundTripper, r *http.Request) (*http.Response, error) {
	hideIdempotency(r)
	body := t.keepOpen(r)
	for n := 1; ; n++ {
		resp, err := over.RoundTrip(r)
		if err == nil && resp.StatusCode < 100 { // net/http's server would panic
			resp.Body.Close()
			err = errStatus
		}
		if err == nil {
			t.begun()
			if resp.StatusCode != http.StatusSwitchingProtocols { // an upgraded connection is two-way; its body must stay a ReadWriteCloser
				resp.Body = &answerBody{resp.Body, t}
			}
			return resp, nil
		}
		if n < attempts && t.way.unused() && t.ctx.Err() == nil && body.rewind(r) {
			t.again()
			continue
		}
		if r.Body != nil {
			body.ReadCloser.Close()
		}
		cause := context.Cause(t.ctx)
		t.end()
		if cause == ErrUntaken || cause == ErrIdle {
			return nil, cause
		}
		if err = t.way.explain(err); cause == nil && t.way.unsent(over, err) {
			return nil, unsentError{err}
		}
		return nil, err
	}
}

// wrote notes that the request was written. The transport may report that late.
func (t *trip) wrote(httptrace.WroteRequestInfo) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.phase == sending {
		t.phase = awaiting
		t.limitLocked(t.limits.FirstByte)
	}
}

// begun notes that the answer has begun.
func (t *trip) begun() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.phase = answered
	t.limitLocked(0)
}

// again prepares another attempt.
func (t *trip) again() {
	t.way.conn.Store(nil)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.phase = sending
	t.limitLocked(t.limits.FirstByte)
}

// limitLocked begins a limit; not positive: none.
func (t *trip) limitLocked(limit time.Duration) {
	switch {
	case t.timer == nil:
	case limit > 0:
		t.timer.Reset(limit)
	default:
		t.timer.Stop()
	}
}

// await begins the limit of the sending again, or with 0 ends it: the time in which more of the body is awaited from the client does not
// count.
func (t *trip) await(limit time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.phase == sending {
		t.limitLocked(limit)
	}
}

// expire ends the trip.
func (t *trip) expire() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.phase == sending {
		t.cancel(ErrUntaken)
	} else {
		t.cancel(ErrIdle)
	}
}

// end frees what the trip holds. The transport may go on with the request for a while, and what it reports then begins no limit.
func (t *trip) end() {
	t.mu.Lock()
	t.phase = over
	t.limitLocked(0)
	t.mu.Unlock()
	t.cancel(nil)
}

// answerBody is the body of an answer. It ends with ErrIdle when no byte arrives for a while: without that, a peer that disappears
// without a FIN would block both sides for ever. The time between two Reads does not count.
type answerBody struct {
	io.ReadCloser
	trip *trip
}

func (b *answerBody) Read(p []byte) (int, error) {
	t := b.trip
	if t.limits.BetweenBytes > 0 {
		t.timer.Reset(t.limits.BetweenBytes)
		defer t.timer.Stop()
	}
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF && context.Cause(t.ctx) == ErrIdle {
		err = ErrIdle
	}
	return n, err
}

func (b *answerBody) Close() error {
	b.trip.end()
	return b.ReadCloser.Close()
}

// hideIdempotency keeps the transport from reading a POST with an idempotency key as one that it may send twice: it looks the
// name up in its usual spelling. Servers read names in any spelling.
func hideIdempotency(r *http.Request) {
	hide(r.Header, "Idempotency-Key", "idempotency-key")
	hide(r.Header, "X-Idempotency-Key", "x-idempotency-key")
}

func hide(h http.Header, canonical, spelled string) {
	if v, ok := h[canonical]; ok {
		delete(h, canonical)
		h[spelled] = v
	}
}

// openBody is a request's body that stays open while the request may be sent again.
type openBody struct {
	io.ReadCloser
	trip *trip
	read atomic.Bool
}

// atOnce is how long a body in memory may be that is sent together with the header: the transport does so only with the readers of
// bytes and strings, and sends a header before any other body.
const atOnce = 64 << 10

// keepOpen gives r a body that stays open, where it has one. A short one in memory can be had again and needs no care.
func (t *trip) keepOpen(r *http.Request) *openBody {
	b := &openBody{ReadCloser: r.Body, trip: t}
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
	b.trip.await(0)
	defer b.trip.await(b.trip.limits.FirstByte)
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
		fresh = &openBody{ReadCloser: fresh, trip: b.trip}
	}
	r.Body = fresh
	return true
}

// wire observes the connection that a request was last sent on.
type wire struct {
	conn   atomic.Pointer[countedConn] // nil: none, or one that is not counted
	before atomic.Int64                // what had been written to it when the request got it
}

// got is called with the connection that a request gets.
func (w *wire) got(got httptrace.GotConnInfo) {
	conn := got.Conn
	if secured, ok := conn.(*tls.Conn); ok {
		conn = secured.NetConn()
	}
	counted, _ := conn.(*countedConn)
	w.conn.Store(counted)
	if counted != nil {
		w.before.Store(counted.written.Load())
	}
}

// unused reports whether a connection was used and no byte of the request was written to it.
func (w *wire) unused() bool {
	conn := w.conn.Load()
	return conn != nil && conn.written.Load() == w.before.Load()
}

// unsent reports whether no byte of a request that failed with err was written to any connection. A transport of another kind may not
// report the connection that it uses: then only the failure to open one shows that.
func (w *wire) unsent(over http.RoundTripper, err error) bool {
	if w.conn.Load() != nil {
		return w.unused()
	}
	var dial *net.OpError
	_, ours := over.(*Transport)
	return ours || errors.As(err, &dial) && dial.Op == "dial"
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
		return &countedConn{Conn: deadline.New(conn), limit: limit}, nil
	}
}
