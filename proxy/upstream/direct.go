package upstream

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// direct sends short requests over HTTP/1.1 without TLS. Each is written, and its answer read, by the goroutine that asks for it. A
// connection of net/http's transport has two goroutines of its own, so that a request waits for the scheduler four times, which costs as
// much as the rest of the transport. What is written and how answers are read is net/http's: [http.Request.Write] and [http.ReadResponse].
//
// Only a request whose answer need not be read before the request is written can be sent so; see [direct.takes].
type direct struct {
	dial func(ctx context.Context, network, address string) (net.Conn, error) // its connections are countedConns
	idle time.Duration                                                        // for which a connection is kept without a request

	mu       sync.Mutex               // protects what follows
	waiting  map[string][]*waiter     // by address, in the order in which they came
	kept     map[string][]*directConn // by address; the one that was used last is the last one
	count    int                      // of kept
	sweeping bool                     // sweep will be called
}

// mostKept is how many connections without a request are kept at most.
const mostKept = 1024

// directConn is a connection, which has one request at a time.
type directConn struct {
	*countedConn
	pool    *direct
	address string
	look    func() (quiet bool) // reports whether nothing has come, neither bytes nor the end
	r       *bufio.Reader
	w       *bufio.Writer
	left    int64     // bytes that may still be read
	since   time.Time // when it was kept
	used    bool      // it has had a request

	again bool        // it may have another request after the present one
	stop  func() bool // keeps the context of the present request from closing it
}

// takes reports whether r is sent here: it is short and in memory, as the replica may answer before it has read all of it; it goes to
// no other proxy, and neither asks for another protocol nor waits for a go-ahead.
func (d *direct) takes(r *http.Request) bool {
	if !canLook || r.URL.Scheme != "http" || r.Close || len(r.TransferEncoding) > 0 || len(r.Trailer) > 0 || r.Header["Expect"] != nil || r.Header["Upgrade"] != nil {
		return false
	}
	if hasBody := r.Body != nil && r.Body != http.NoBody; hasBody && (r.GetBody == nil || r.ContentLength <= 0 || r.ContentLength > atOnce) {
		return false
	}
	for _, c := range []byte(r.URL.Host) {
		if c >= 0x80 { // a name that is resolved in another form
			return false
		}
	}
	other, err := http.ProxyFromEnvironment(r)
	return other == nil && err == nil
}

// RoundTrip sends r; see [http.RoundTripper].
func (d *direct) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	c, err := d.conn(ctx, r)
	if err != nil {
		if r.Body != nil {
			r.Body.Close()
		}
		return nil, err
	}
	c.again, c.stop = false, context.AfterFunc(ctx, func() { c.Close() })
	resp, err := c.exchange(r, httptrace.ContextClientTrace(ctx))
	if err != nil {
		c.end(false)
		return nil, causeOr(ctx, err)
	}
	body := &directBody{ReadCloser: resp.Body, conn: c, ctx: ctx}
	if resp.Body == http.NoBody {
		body.end(true)
	} else {
		resp.Body = body
	}
	return resp, nil
}

// causeOr is why ctx has ended, or err if it has not.
func causeOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// conn returns a connection for r.
func (d *direct) conn(ctx context.Context, r *http.Request) (*directConn, error) {
	address := r.URL.Host
	if r.URL.Port() == "" {
		address = net.JoinHostPort(r.URL.Hostname(), "80")
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		c := d.take(address)
		if c == nil {
			var err error
			if c, err = d.open(ctx, address); err != nil || !c.used {
				return c, err
			}
		}
		if time.Since(c.since) < d.idle && c.look() {
			return c, nil
		}
		c.Close()
	}
}

// open returns a new connection, or one that is kept before the new one is there: a replica may have a few connections only, all of them
// in use, and take no other until one is closed.
func (d *direct) open(ctx context.Context, address string) (*directConn, error) {
	w := &waiter{make(chan *directConn, 1)}
	d.mu.Lock()
	d.waiting[address] = append(d.waiting[address], w)
	d.mu.Unlock()
	failed := make(chan error, 1)
	go func() {
		raw, err := d.dial(ctx, "tcp", address)
		if err != nil {
			failed <- err
			return
		}
		c := &directConn{countedConn: raw.(*countedConn), pool: d, address: address, look: lookAt(raw)}
		c.r, c.w = bufio.NewReader(reading{c}), bufio.NewWriter(raw)
		if !d.keep(c, w) {
			c.Close()
		}
	}()
	select {
	case c := <-w.given:
		return c, nil
	case err := <-failed:
		d.mu.Lock()
		defer d.mu.Unlock()
		if !d.leaves(address, w) {
			return <-w.given, nil
		}
		return nil, err
	}
}

// waiter is a request that waits for a connection.
type waiter struct {
	given chan *directConn // holds one
}

// leaves removes a request from those that wait, and reports whether it was there: otherwise it has been given a connection. The caller
// must hold the lock.
func (d *direct) leaves(address string, w *waiter) bool {
	list := d.waiting[address]
	at := slices.Index(list, w)
	if at < 0 {
		return false
	}
	if d.waiting[address] = slices.Delete(list, at, at+1); len(list) == 1 {
		delete(d.waiting, address)
	}
	return true
}

// take returns a kept connection, nil if there is none.
func (d *direct) take(address string) *directConn {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := d.kept[address]
	if len(list) == 0 {
		return nil
	}
	c := list[len(list)-1]
	list[len(list)-1] = nil
	d.kept[address] = list[:len(list)-1]
	d.count--
	return c
}

// keep gives a connection to a request that waits for one, first to preferred (nil: none), else to the one that waits for longest. It
// keeps the connection where none waits, and reports whether there was room for it.
func (d *direct) keep(c *directConn, preferred *waiter) bool {
	c.since = time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	if list := d.waiting[c.address]; len(list) > 0 {
		if !slices.Contains(list, preferred) {
			preferred = list[0]
		}
		d.leaves(c.address, preferred)
		preferred.given <- c
		return true
	}
	if d.count >= mostKept {
		return false
	}
	d.kept[c.address] = append(d.kept[c.address], c)
	d.count++
	if !d.sweeping {
		d.sweeping = true
		time.AfterFunc(d.idle, d.sweep)
	}
	return true
}

// sweep closes the connections that were kept for too long.
func (d *direct) sweep() {
	oldest := d.closeBefore(time.Now().Add(-d.idle))
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sweeping = d.count > 0; d.sweeping {
		time.AfterFunc(max(time.Until(oldest.Add(d.idle)), d.idle/8), d.sweep)
	}
}

// CloseIdleConnections closes the connections that no request uses.
func (d *direct) CloseIdleConnections() { d.closeBefore(time.Now()) }

// closeBefore closes the connections that were kept before or at a time, and returns since when the oldest of the others has been.
func (d *direct) closeBefore(limit time.Time) (oldest time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	oldest = time.Now()
	for address, list := range d.kept {
		n := 0
		for n < len(list) && !list[n].since.After(limit) {
			list[n].Close()
			n++
		}
		d.count -= n
		if n == len(list) {
			delete(d.kept, address)
			continue
		}
		d.kept[address] = append(list[:0:0], list[n:]...)
		if first := list[n].since; first.Before(oldest) {
			oldest = first
		}
	}
	return oldest
}

// errSwitched says that a replica has changed the protocol although no client asked for it.
var errSwitched = errors.New("the upstream switched to another protocol, which was not asked for")

// exchange writes r and reads the header of its answer. trace may be nil.
func (c *directConn) exchange(r *http.Request, trace *httptrace.ClientTrace) (*http.Response, error) {
	if trace != nil && trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{Conn: c.countedConn, Reused: c.used})
	}
	c.used = true
	before := c.written.Load()
	err := r.Write(c.w)
	broken := c.w.Flush() // for Write, what has happened to the connection is an error of the body
	if broken != nil {
		err = broken
	}
	if trace != nil && trace.WroteRequest != nil {
		trace.WroteRequest(httptrace.WroteRequestInfo{Err: err})
	}
	// A replica may answer and close before it has read the request.
	if early := broken != nil && !errors.Is(broken, os.ErrDeadlineExceeded) && c.written.Load() > before; err != nil && !early {
		return nil, err
	}
	resp, failed := c.answer(r, trace)
	if failed != nil {
		return nil, cmp.Or(err, failed)
	}
	c.left, c.again = math.MaxInt64, err == nil && !resp.Close
	return resp, nil
}

// answer reads the header of the final answer. Early ones that are passed on have a limit of their own.
func (c *directConn) answer(r *http.Request, trace *httptrace.ClientTrace) (*http.Response, error) {
	for c.left = maxHeader; ; {
		resp, err := http.ReadResponse(c.r, r)
		switch {
		case err == io.EOF:
			return nil, io.ErrUnexpectedEOF
		case err != nil:
			return nil, err
		case resp.StatusCode == http.StatusSwitchingProtocols:
			return nil, errSwitched
		case resp.StatusCode < 100 || resp.StatusCode >= 200:
			return resp, nil
		}
		if trace != nil && trace.Got1xxResponse != nil {
			if err := trace.Got1xxResponse(resp.StatusCode, textproto.MIMEHeader(resp.Header)); err != nil {
				return nil, err
			}
			c.left = maxHeader
		}
	}
}

// end ends the present request. The connection is kept for another one, if there may be one and nothing has come after the answer, which
// would be taken for the answer to that.
func (c *directConn) end(whole bool) {
	if mine := c.stop(); !mine || !whole || !c.again || c.r.Buffered() > 0 || !c.pool.keep(c, nil) {
		c.Close()
	}
}

// errLargeHeader ends an answer with a header that is too large to be held.
var errLargeHeader = errors.New("the header of the upstream's answer is too large")

// reading reads from a connection as much as may be read.
type reading struct{ *directConn }

func (c reading) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errLargeHeader
	}
	n, err := c.Conn.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

// directBody is the body of an answer. It ends the request when it has been read or is closed.
type directBody struct {
	io.ReadCloser
	conn  *directConn
	ctx   context.Context // of the request
	ended atomic.Bool
	err   error // of the Read that ended it; of the reader alone
}

func (b *directBody) Read(p []byte) (int, error) {
	if b.err == nil && b.ended.Load() {
		b.err = http.ErrBodyReadAfterClose
	}
	if b.err != nil { // the connection may have another request by now
		return 0, b.err
	}
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.end(err == io.EOF)
		if b.err = err; err != io.EOF {
			b.err = causeOr(b.ctx, err)
		}
	}
	return n, b.err
}

// Close closes the connection, unless the answer has been read. It does not read the rest, nor wait for a Read.
func (b *directBody) Close() error {
	b.end(false)
	return nil
}

func (b *directBody) end(whole bool) {
	if !b.ended.Swap(true) {
		b.conn.end(whole)
	}
}
