package upstream

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"sync"
	"sync/atomic"
	"time"

	"reprise/proxy/internal/header"
	"reprise/proxy/upstream/dialect"
	"reprise/proxy/upstream/direct"
	"reprise/proxy/upstream/hint"
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

// errOfBody says that a client's body could not be read, or not be sent as it is.
var errOfBody = errors.New("the body of the request cannot be sent")

// errStatus ends an answer whose status cannot be passed on: net/http's server would panic.
var errStatus = errors.New("the status of the upstream's answer is below 100")

// trip is one sending of a request to a replica, and the answer on its way back. It has one context, which ends with its caller's, and
// one timer, which bounds what is awaited of the replica at the moment: that it takes the request, that its answer begins, the next
// bytes of the answer. It holds one of the replica's calls until the answer's body is closed.
//
// A request is sent over another connection only if no byte of it can have reached the replica. A call that was read once may be billed,
// whatever became of its answer. net/http's transport sends again more often: on a connection that was used before, each request with an
// Idempotency-Key, which OpenAI's libraries add to every POST although few servers honour it. And less often: a POST without one fails
// on a connection that the replica closed while it was idle, even if nothing was written. What the transport does over HTTP/2 remains:
// there a server says which requests it has not read (RFC 9113 §8.7).
type trip struct {
	c       *Client
	replica *Replica
	limit   limited // what a failure would be about
	model   string  // by its name at the replica
	ctx     context.Context
	cancel  context.CancelCauseFunc
	out     *http.Request
	body    *sentBody // of out; nil: none, or one that can be had again
	tries   int       // connections so far
	trace   httptrace.ClientTrace

	// The connection of the last try.
	conn   atomic.Pointer[countedConn] // nil: none, or one that is not counted
	before atomic.Int64                // what had been written to it when the request got it

	mu    sync.Mutex // protects what follows; held while an early answer (1xx) is passed on
	phase phase
	timer *time.Timer // nil: there are no limits

	reply    Reply
	answer   answer
	released atomic.Bool // the replica's call has ended
}

// phase is what is awaited of a replica.
type phase uint8

const (
	sending  phase = iota // that it takes the request
	awaiting              // that its answer begins
	replying              // the body of its answer
	over                  // nothing
)

// depart begins a trip to the present replica: it makes the request as that gets it, and waits for one of its calls.
func (x *call) depart(ctx context.Context) error {
	r, replica, in := &x.r, x.replica, x.r.Original
	sent, model := replica.mapped(r.Body, r.Model)
	var edits dialect.Edits
	var err error
	switch {
	case x.through == nil:
		edits = x.edited(sent, model)
	case sent != nil:
		if edits.Body, err = replica.stripped(in.URL.Path, sent); err != nil {
			return fmt.Errorf("%w: %w", errOfBody, err)
		}
	}
	if err := replica.queue(ctx, r.Tenant, r.Span); err != nil {
		return err
	}
	t := &trip{c: x.c, replica: replica, limit: x.limit(), model: model}
	x.trip = t
	t.begin(ctx, x.through)
	t.out = (&http.Request{Method: in.Method, URL: replica.url(in.URL), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}).WithContext(t.ctx)
	t.out.Host = t.out.URL.Host
	if x.through == nil {
		t.out.Header = replica.requestHeader(in.Header)
		maps.Copy(t.out.Header, edits.Header)
	} else {
		t.out.Header, t.out.Trailer = replica.passedHeader(in), trailers(in)
	}
	hideIdempotency(t.out.Header)
	if x.lent = nil; x.through != nil && sent == nil && in.ContentLength != 0 {
		t.out.ContentLength, t.out.TransferEncoding = in.ContentLength, in.TransferEncoding
		t.body = &sentBody{trip: t, in: x.body}
		t.out.Body, x.lent = t.body, t.body
	} else if len(edits.Body) > 0 {
		t.holds(edits.Body)
	}
	t.reply = Reply{Replica: replica, Added: edits.Added, Foreign: replica.foreign(r.Model), trip: t}
	t.reply.Span = replica.called(r.Span, in.Method, model, t.out.Header)
	return nil
}

// edited is the request as the replica's dialect makes it, counted with its hints.
func (x *call) edited(body []byte, model string) dialect.Edits {
	r, replica := x.r, x.replica
	r.Body, r.Model = body, model
	if r.Rate > 0 {
		r.Want.Retain = hint.Decide(r.Rate, replica.terms(model, x.r.Model, x.c))
	}
	switch {
	case x.bare && x.unnamed:
		r.Want.StreamUsage = false
	case x.bare:
		r.Want = dialect.Intent{}
	}
	edits := replica.edit(r, x.r.Model, x.c.now())
	if !x.bare {
		x.c.hints.edited(replica, &edits)
	}
	return edits
}

// begin begins the limits of the trip. Early answers are passed on to w; nil: they are dropped.
func (t *trip) begin(ctx context.Context, w http.ResponseWriter) {
	l := t.c.limits
	ctx, t.cancel = context.WithCancelCause(ctx)
	t.trace.GotConn, t.trace.WroteRequest = t.got, t.wrote
	if w != nil {
		t.trace.Got1xxResponse = func(status int, h textproto.MIMEHeader) error {
			t.mu.Lock()
			defer t.mu.Unlock()
			if t.phase < replying { // else the response is not the transport's to change; it may report an early answer after its error
				passEarly(w, status, http.Header(h))
			}
			return nil
		}
	}
	t.ctx = httptrace.WithClientTrace(ctx, &t.trace)
	if longest := max(l.FirstByte, l.BetweenBytes); longest > 0 {
		t.timer = time.AfterFunc(longest, t.expire)
		t.limitLocked(l.FirstByte)
	}
}

// atOnce is how long a body in memory may be that is sent together with the header: net/http's transport does so only with the readers of
// bytes and strings, and sends a header before any other body.
const atOnce = direct.MaxBody

// holds gives the request a body in memory.
func (t *trip) holds(body []byte) {
	t.out.ContentLength = int64(len(body))
	t.out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	t.renew()
}

// renew gives the request its body in memory from the start.
func (t *trip) renew() {
	t.out.Body, _ = t.out.GetBody()
	if t.out.ContentLength > atOnce {
		t.body = &sentBody{trip: t, in: t.out.Body}
		t.out.Body = t.body
	}
}

// roundTrip sends the request over one connection.
func (t *trip) roundTrip() (*http.Response, error) {
	t.tries++
	resp, err := t.c.transport.RoundTrip(t.out)
	switch {
	case err != nil:
		return nil, err
	case resp.StatusCode < 100:
		err = errStatus
	case resp.StatusCode == http.StatusSwitchingProtocols: // which was not asked for
		err = direct.ErrSwitched
	default:
		return resp, nil
	}
	resp.Body.Close()
	return nil, err
}

// mayGoAgain reports whether the request, which has failed, may be sent over another connection, and prepares that.
func (t *trip) mayGoAgain() bool {
	if t.tries >= mostConnections || !t.unwritten() || t.ctx.Err() != nil {
		return false
	}
	switch {
	case t.body != nil && t.body.state.Load()&bodyRead == 0: // it can be used again
	case t.out.GetBody != nil:
		t.renew()
	case t.body != nil:
		return false
	}
	t.conn.Store(nil)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.phase = sending
	t.limitLocked(t.c.limits.FirstByte)
	return true
}

// answered notes that the answer has begun, and returns it. Its body ends the trip when it is closed.
func (t *trip) answered(resp *http.Response) *Reply {
	t.mu.Lock()
	t.phase = replying
	t.limitLocked(0)
	t.mu.Unlock()
	traced(t.reply.Span, resp, nil)
	t.answer = answer{trip: t, ReadCloser: resp.Body}
	t.reply.Response, resp.Body = resp, &t.answer
	return &t.reply
}

// failed ends the trip, and returns why, which err does not always say.
func (t *trip) failed(err error) error {
	cause := context.Cause(t.ctx)
	t.end()
	t.release()
	switch {
	case cause == ErrUntaken || cause == ErrIdle:
		err = cause
	default:
		if err = t.explain(err); cause == nil && t.unsent(err) {
			err = unsentError{err}
		}
	}
	if t.body != nil && t.body.state.Load()&bodyFailed != 0 { // that is no fault of the replica
		err = fmt.Errorf("%w: %w", errOfBody, err)
	}
	traced(t.reply.Span, nil, err)
	return err
}

// wrote notes that the request was written. The transport may report that late.
func (t *trip) wrote(httptrace.WroteRequestInfo) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.phase == sending {
		t.phase = awaiting
		t.limitLocked(t.c.limits.FirstByte)
	}
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

// expire ends the trip because a limit has passed.
func (t *trip) expire() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.phase == sending {
		t.cancel(ErrUntaken)
	} else {
		t.cancel(ErrIdle)
	}
}

// end frees what the trip holds, except for the replica's call. The transport may go on with the request for a while; what it reports then
// begins no limit, and of the body it gets no more.
func (t *trip) end() {
	t.mu.Lock()
	t.phase = over
	t.limitLocked(0)
	t.mu.Unlock()
	t.cancel(nil)
	if t.body != nil {
		t.body.state.Or(bodyEnded)
	}
}

// release gives the replica's call back.
func (t *trip) release() {
	if !t.released.Swap(true) {
		t.replica.calls.release(t.limit.Tenant)
	}
}

// hideIdempotency keeps the transport from reading a POST with an idempotency key as one that it may send twice: it looks the
// name up in its usual spelling. Servers read names in any spelling.
func hideIdempotency(h http.Header) {
	for canonical, spelled := range map[string]string{"Idempotency-Key": "idempotency-key", "X-Idempotency-Key": "x-idempotency-key"} {
		if v, ok := h[canonical]; ok {
			delete(h, canonical)
			h[spelled] = v
		}
	}
}

// trailers returns the trailers that a request announces, without names that no transport takes: such an error is no fault of the replica.
func trailers(in *http.Request) http.Header {
	out := in.Trailer.Clone()
	maps.DeleteFunc(out, func(name string, _ []string) bool { return !header.IsName(name) })
	return out
}

// sentBody is the body of a request that is not sent together with the header. It stays open when the transport closes it, as the request may
// be sent again, and is closed when the trip ends: a client's body must not be read once its handler has returned, which a transport may try.
type sentBody struct {
	trip  *trip
	in    io.Reader
	state atomic.Uint32 // a sum of the following
}

const (
	bodyRead   = 1
	bodyEnded  = 2
	bodyFailed = 4
)

func (b *sentBody) Read(p []byte) (int, error) {
	if b.state.Or(bodyRead)&bodyEnded != 0 {
		return 0, http.ErrBodyReadAfterClose
	}
	b.trip.await(0)
	defer b.trip.await(b.trip.c.limits.FirstByte)
	n, err := b.in.Read(p)
	if err != nil && err != io.EOF {
		b.state.Or(bodyFailed)
	}
	return n, err
}

// Close does nothing.
func (b *sentBody) Close() error { return nil }

// takeBack closes the body if nothing of it was read, and reports whether it did, so that it can be sent to another replica.
func (b *sentBody) takeBack() bool {
	return b == nil || b.state.CompareAndSwap(0, bodyEnded) || b.state.Load() == bodyEnded
}

// got is called with the connection that the request gets.
func (t *trip) got(got httptrace.GotConnInfo) {
	conn := got.Conn
	if secured, ok := conn.(*tls.Conn); ok {
		conn = secured.NetConn()
	}
	counted, _ := conn.(*countedConn)
	t.conn.Store(counted)
	if counted != nil {
		t.before.Store(counted.written.Load())
	}
}

// unwritten reports whether there was a connection, and no byte of the request was written to it.
func (t *trip) unwritten() bool {
	conn := t.conn.Load()
	return conn != nil && conn.written.Load() == t.before.Load()
}

// unsent reports whether no byte of the request, which failed with err, was written to any connection. A transport of another kind may not
// report the connection that it uses: then only the failure to open one shows that.
func (t *trip) unsent(err error) bool {
	if t.conn.Load() != nil {
		return t.unwritten()
	}
	var dial *net.OpError
	_, ours := t.c.transport.(*Transport)
	return ours || errors.As(err, &dial) && dial.Op == "dial"
}

// explain adds ErrClosed where the connection broke after the replica may have read the request.
func (t *trip) explain(err error) error {
	var broken *net.OpError
	if t.conn.Load() == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &broken) && !broken.Timeout() {
		return fmt.Errorf("%w: %w", ErrClosed, err)
	}
	return err
}
