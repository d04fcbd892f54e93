// Package clientio bounds how slowly a client may send the body of a request, and read its answer, on every listener and for
// every handler: a handler that never reads a body is covered too.
//
//   - Each window of a body must come in time, and any reader is held to it: a handler, a transport, or net/http itself.
//   - An answer that begins before the body has ended closes its connection. What the client is still sending is read and
//     dropped for a bounded time, so that the client gets the answer and not a reset connection.
//   - Each piece of an answer must be taken in time.
//
// A [Budget] bounds the memory that clients may take.
package clientio

import (
	"bufio"
	"cmp"
	"net"
	"net/http"
	"time"
)

const (
	// defaultLimit is the limit where it is given as 0, and bounds a body where there is none.
	defaultLimit = 30 * time.Second
	// bodyRate is how many bytes of a body must come in a second, on average over each window.
	bodyRate = 1 << 10
)

// window is the time for one window of a body. Time in which the handler does not read does not count.
func window(limit time.Duration) time.Duration {
	if limit > 0 {
		return limit
	}
	return defaultLimit
}

// windowBytes is how many bytes must come in one window.
func windowBytes(window time.Duration) int64 { return max(int64(bodyRate*window.Seconds()), 1) }

// Guard returns a handler that bounds the clients of next. limit is called for each request and returns the time that a client has for a
// window of its body (1 KiB for each second of the limit), and for each 256 KiB of its answer: 0 means 30s; negative, that an answer has no
// limit, and a body windows of 30s.
func Guard(next http.Handler, limit func() time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := &exchange{client: client{ResponseWriter: w, deadlines: deadlinesOf(w), limit: cmp.Or(limit(), defaultLimit), h1: r.ProtoMajor == 1}}
		c := &x.client
		if r.Body != nil && r.Body != http.NoBody {
			c.body = &x.body
			c.body.begin(c, r)
			r.Body = c.body
		}
		regular := false
		defer func() { c.finish(regular) }()
		next.ServeHTTP(c, r)
		regular = true
	})
}

// exchange is what a request takes here, in one allocation.
type exchange struct {
	client client
	body   body
}

// deadlines sets the deadlines of a request's connection, or of its stream in HTTP/2.
type deadlines interface {
	SetReadDeadline(time.Time) error
	SetWriteDeadline(time.Time) error
}

func deadlinesOf(w http.ResponseWriter) deadlines {
	if d, ok := w.(deadlines); ok {
		return d
	}
	return http.NewResponseController(w)
}

// TooSlow reports whether the body of r, a request that passed a Guard, was given up because it came too slowly.
func TooSlow(r *http.Request) bool {
	b, ok := r.Body.(*body)
	return ok && b.slow.Load()
}

// Broken reports whether the body of r, a request that passed a Guard, could not be read to its end.
func Broken(r *http.Request) bool {
	b, ok := r.Body.(*body)
	return ok && b.failed.Load()
}

// client is the connection to the client of one request. It is the ResponseWriter of the handler.
type client struct {
	http.ResponseWriter
	deadlines deadlines
	limit     time.Duration
	h1        bool  // HTTP/1: what is left of a body stands before the next request
	body      *body // nil: the request has none
	begun     bool  // the header is on its way
	hijacked  bool
	status    int   // of the answer, 0 before it is known
	written   int64 // bytes of its body
}

// Sent returns the status of the answer that was written to w, the ResponseWriter that a Guard has passed on, and the bytes of its body. The
// status is 0 where no answer was begun, and 101 where the connection was handed to the handler, whose bytes are not counted.
func Sent(w http.ResponseWriter) (status int, written int64) {
	c, ok := w.(*client)
	switch {
	case !ok:
		return 0, 0
	case c.hijacked:
		return http.StatusSwitchingProtocols, 0
	}
	return c.status, c.written
}

// piece is the number of bytes that are written under one deadline: a client that reads slowly, but reads, is not cut.
const piece = 256 << 10

func (c *client) WriteHeader(status int) {
	if status >= 200 && !c.begun {
		c.status = status
		c.begin()
	}
	if status < 200 {
		c.allowWrite() // it is sent at once
	}
	c.ResponseWriter.WriteHeader(status)
}

func (c *client) Write(p []byte) (n int, err error) {
	if !c.begun {
		c.WriteHeader(http.StatusOK)
	}
	for err == nil {
		m := 0
		c.allowWrite()
		m, err = c.ResponseWriter.Write(p[n:min(n+piece, len(p))])
		if n += m; n == len(p) {
			break
		}
	}
	c.written += int64(n)
	c.endWrite()
	return n, err
}

// FlushError sends what has been written.
func (c *client) FlushError() error {
	if !c.begun {
		c.WriteHeader(http.StatusOK)
	}
	c.allowWrite()
	err := http.NewResponseController(c.ResponseWriter).Flush()
	c.endWrite()
	return err
}

// Hijack hands the connection over. It may be silent as long as both ends like, but what is written to it must be taken in time.
func (c *client) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, both, err := http.NewResponseController(c.ResponseWriter).Hijack()
	if c.hijacked = err == nil; c.hijacked && c.body != nil {
		c.body.detach()
	}
	if c.hijacked && c.limit > 0 {
		conn = &upgraded{conn, c.limit}
	}
	return conn, both, err
}

// upgraded is a connection that was taken over, whose writes have a limit for each piece.
type upgraded struct {
	net.Conn
	limit time.Duration
}

func (u *upgraded) Write(p []byte) (n int, err error) {
	for {
		m := 0
		_ = u.SetWriteDeadline(time.Now().Add(u.limit))
		m, err = u.Conn.Write(p[n:min(n+piece, len(p))])
		if n += m; n == len(p) || err != nil {
			return n, err
		}
	}
}

// Unwrap is for http.ResponseController.
func (c *client) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *client) allowWrite() {
	if c.limit > 0 {
		_ = c.deadlines.SetWriteDeadline(time.Now().Add(c.limit))
	}
}

// endWrite ends the deadline of a write. In HTTP/1 it may stay: it means nothing until the next write sets its own. In HTTP/2 it
// would end the stream when it passes, although nothing is being written.
func (c *client) endWrite() {
	if !c.h1 && c.limit > 0 {
		_ = c.deadlines.SetWriteDeadline(time.Time{})
	}
}

// begin is called just before the header is sent. A body that has not ended by then makes this the connection's last answer.
func (c *client) begin() {
	c.begun = true
	if c.h1 && c.body != nil && !c.body.takeRest() {
		c.Header().Set("Connection", "close")
	}
}

// finish is called when the handler has returned, or panicked if not regular. What the server does after that (it sends what
// it has buffered and reads the rest of the body) has no deadline of its own.
func (c *client) finish(regular bool) {
	if c.hijacked {
		return
	}
	c.allowWrite()
	if !c.h1 || c.body == nil || c.body.ended.Load() {
		return
	}
	if regular && c.FlushError() == nil {
		c.body.drain()
	}
	c.body.close()
}
