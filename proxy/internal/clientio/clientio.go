// Package clientio bounds how slowly a client may send the body of a request, and read its answer, on every listener and for
// every handler: a handler that never reads a body is covered too.
//
//   - Each window of a body must come in time (see [Limits]), and any reader is held to it: a handler, a transport, or net/http itself.
//   - An answer that begins before the body has ended closes its connection. What the client is still sending is read and
//     dropped for a bounded time, so that the client gets the answer and not a reset connection.
//   - Each piece of an answer must be taken in time.
package clientio

import (
	"bufio"
	"cmp"
	"net"
	"net/http"
	"time"
)

// Limits bounds a slow client. 0 means the default, a negative value no limit.
type Limits struct {
	// BodyIdle and BodyRate, in bytes a second, bound the body of a request together: each BodyIdle × BodyRate bytes of it must
	// come within BodyIdle. Without a BodyRate one byte must. Without a BodyIdle, BodyRate is measured over the default of it.
	// Time in which the handler does not read does not count.
	BodyIdle time.Duration // default 30s
	BodyRate int64         // default 1 KiB
	Write    time.Duration // for each 256 KiB of an answer; default 30s
}

// defaultTime is the default of both times, and bounds what is read after an answer where they do not.
const defaultTime = 30 * time.Second

func (l Limits) withDefaults() Limits {
	return Limits{cmp.Or(l.BodyIdle, defaultTime), cmp.Or(l.BodyRate, 1<<10), cmp.Or(l.Write, defaultTime)}
}

// window is the time for one window of a body, 0 where there is no limit.
func (l Limits) window() time.Duration {
	switch {
	case l.BodyIdle > 0:
		return l.BodyIdle
	case l.BodyRate > 0:
		return defaultTime
	}
	return 0
}

// windowBytes is the number of bytes that must come in one window.
func (l Limits) windowBytes() int64 {
	if l.BodyRate <= 0 {
		return 1
	}
	return max(int64(float64(l.BodyRate)*l.window().Seconds()), 1)
}

// Guard returns a handler that applies limits to the clients of next. limits is called for each request.
func Guard(next http.Handler, limits func() Limits) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := &exchange{client: client{ResponseWriter: w, deadlines: deadlinesOf(w), limits: limits().withDefaults(), h1: r.ProtoMajor == 1}}
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

// deadlines are those of a request's connection, or of its stream in HTTP/2.
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
	limits    Limits
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
	if c.hijacked && c.limits.Write > 0 {
		conn = &upgraded{conn, c.limits.Write}
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
	if c.limits.Write > 0 {
		_ = c.deadlines.SetWriteDeadline(time.Now().Add(c.limits.Write))
	}
}

// endWrite ends the deadline of a write. In HTTP/1 it may stay: it means nothing until the next write sets its own. In HTTP/2 it
// would end the stream when it passes, although nothing is being written.
func (c *client) endWrite() {
	if !c.h1 && c.limits.Write > 0 {
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
