package direct

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
	"sync/atomic"
	"time"
)

// conn is a connection, which has one request at a time.
type conn struct {
	net.Conn
	pool    *Transport
	address string
	quiet   func() bool // reports whether nothing has come, neither bytes nor the end
	r       *bufio.Reader
	w       *bufio.Writer
	left    int64     // bytes that may still be read
	since   time.Time // when it was kept
	used    bool      // it has had a request

	wrote int64       // bytes of the present request
	again bool        // it may have another request after the present one
	stop  func() bool // keeps the context of the present request from closing it
}

// reading reads from a connection as much as may be read.
type reading struct{ *conn }

func (c reading) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errLargeHeader
	}
	n, err := c.Conn.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

// writing counts what is written to a connection.
type writing struct{ *conn }

func (c writing) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.wrote += int64(n)
	return n, err
}

// errLargeHeader ends an answer with a header that is too large to be held.
var errLargeHeader = errors.New("the header of the upstream's answer is too large")

// ErrSwitched says that a replica has changed the protocol although no client asked for it.
var ErrSwitched = errors.New("the upstream switched to another protocol, which was not asked for")

// roundTrip sends r and returns its answer, whose body gives the connection back.
func (c *conn) roundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	c.again, c.wrote, c.stop = false, 0, context.AfterFunc(ctx, func() { c.Close() })
	resp, err := c.exchange(r, httptrace.ContextClientTrace(ctx))
	if err != nil {
		c.end(false)
		return nil, causeOr(ctx, err)
	}
	b := &body{ReadCloser: resp.Body, conn: c, ctx: ctx}
	if resp.Body == http.NoBody {
		b.end(true)
	} else {
		resp.Body = b
	}
	return resp, nil
}

// exchange writes r and reads the header of its answer. trace may be nil.
func (c *conn) exchange(r *http.Request, trace *httptrace.ClientTrace) (*http.Response, error) {
	if trace != nil && trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{Conn: c.Conn, Reused: c.used})
	}
	c.used = true
	err := r.Write(c.w)
	broken := c.w.Flush() // for Write, what has happened to the connection is an error of the body
	if broken != nil {
		err = broken
	}
	if trace != nil && trace.WroteRequest != nil {
		trace.WroteRequest(httptrace.WroteRequestInfo{Err: err})
	}
	// A replica may answer and close before it has read the request.
	if early := broken != nil && !errors.Is(broken, os.ErrDeadlineExceeded) && c.wrote > 0; err != nil && !early {
		return nil, err
	}
	resp, failed := c.answer(r, trace)
	if failed != nil {
		return nil, cmp.Or(err, failed)
	}
	c.left, c.again = math.MaxInt64, err == nil && !resp.Close
	return resp, nil
}

// answer reads the header of the final answer. Each early answer (1xx) that is passed on has a limit of its own.
func (c *conn) answer(r *http.Request, trace *httptrace.ClientTrace) (*http.Response, error) {
	for c.left = c.pool.maxHeader; ; {
		resp, err := http.ReadResponse(c.r, r)
		switch {
		case err == io.EOF:
			return nil, io.ErrUnexpectedEOF
		case err != nil:
			return nil, err
		case resp.StatusCode == http.StatusSwitchingProtocols:
			return nil, ErrSwitched
		case resp.StatusCode < 100 || resp.StatusCode >= 200:
			return resp, nil
		}
		if trace != nil && trace.Got1xxResponse != nil {
			if err := trace.Got1xxResponse(resp.StatusCode, textproto.MIMEHeader(resp.Header)); err != nil {
				return nil, err
			}
			c.left = c.pool.maxHeader
		}
	}
}

// end ends the present request. The connection is kept for another one if there may be one, and if nothing has come after the answer, which
// would be taken for the answer to that.
func (c *conn) end(whole bool) {
	if mine := c.stop(); !mine || !whole || !c.again || c.r.Buffered() > 0 || !c.pool.keep(c, nil) {
		c.Close()
	}
}

// body is the body of an answer. The request ends when the body has been read or is closed.
type body struct {
	io.ReadCloser
	conn  *conn
	ctx   context.Context // of the request
	ended atomic.Bool
	err   error // of the Read that ended it; of the reader alone
}

func (b *body) Read(p []byte) (int, error) {
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
func (b *body) Close() error {
	b.end(false)
	return nil
}

func (b *body) end(whole bool) {
	if !b.ended.Swap(true) {
		b.conn.end(whole)
	}
}
