// Package deadline makes deadlines of connections cheap to set.
//
// A server moves the deadlines of a connection with every step of every request, and hardly any of them passes. Each move takes a lock of
// the runtime's poller and changes a timer there, some 200 ns. A [Conn] notes a deadline, and passes on only one that comes before
// the deadline that the connection below has already: that one then passes too early, where nothing was read or written for a while,
// and is moved to where it should be. A deadline never passes late. But a write that is then tried again may find a little room in the
// socket's buffer, which would not have woken it up: a peer that takes nothing is found one write later, after up to twice the limit.
package deadline

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// Conn is a connection whose deadlines are noted. It is safe for concurrent use as far as a [net.Conn] is.
type Conn struct {
	net.Conn
	read, write half
}

// New returns c with deadlines that are noted. Those of c must not be set by another.
func New(c net.Conn) *Conn { return &Conn{Conn: c} }

// half is the deadline of one direction.
type half struct {
	mu     sync.Mutex // protects what follows
	wanted time.Time  // zero: none
	below  time.Time  // of the connection below; zero: none
	passed bool       // the one below has passed: nothing can be read or written until it is set again
	busy   int        // calls that are in progress
}

// longAgo is before any deadline that is meant as a time: an earlier one is to end what is in progress.
var longAgo = time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)

// enter prepares a call. Where the deadline is one to end what is in progress the connection below is left as it is, and the error has
// nothing of the connection: net/http ends a read after each request so, and drops the error.
func (h *half) enter(set func(time.Time) error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.wanted.IsZero() && h.wanted.Before(longAgo) {
		return os.ErrDeadlineExceeded
	}
	if h.passed || h.early() {
		if err := h.pass(set); err != nil {
			return err
		}
	}
	h.busy++
	return nil
}

// early reports whether the deadline comes before the one below.
func (h *half) early() bool {
	return !h.wanted.IsZero() && (h.below.IsZero() || h.wanted.Before(h.below))
}

// pass passes the deadline on.
func (h *half) pass(set func(time.Time) error) error {
	h.below, h.passed = h.wanted, false
	return set(h.wanted)
}

// leave ends a call with its error, and reports whether it is to be made again: the deadline below has passed, and the wanted one has not.
func (h *half) leave(err error) (again bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.busy--
	if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	h.passed = true
	return h.wanted.IsZero() || time.Now().Before(h.wanted)
}

// want notes a deadline. A call in progress is held to it.
func (h *half) want(t time.Time, set func(time.Time) error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wanted = t
	if h.busy > 0 && h.early() {
		return h.pass(set)
	}
	return nil
}

// Read reads from the connection.
func (c *Conn) Read(p []byte) (int, error) {
	for {
		if err := c.read.enter(c.Conn.SetReadDeadline); err != nil {
			return 0, err
		}
		n, err := c.Conn.Read(p)
		if again := c.read.leave(err); !again {
			return n, err
		}
		if n > 0 {
			return n, nil
		}
	}
}

// Write writes all of p, unless there is an error.
func (c *Conn) Write(p []byte) (n int, err error) {
	for {
		if err := c.write.enter(c.Conn.SetWriteDeadline); err != nil {
			return n, err
		}
		m, err := c.Conn.Write(p[n:])
		n += m
		if again := c.write.leave(err); !again {
			return n, err
		}
	}
}

// SetDeadline sets both deadlines.
func (c *Conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// SetReadDeadline sets the deadline of reads, also of one that is in progress; the zero time means none.
func (c *Conn) SetReadDeadline(t time.Time) error {
	return c.read.want(t, c.Conn.SetReadDeadline)
}

// SetWriteDeadline sets the deadline of writes, also of one that is in progress; the zero time means none.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	return c.write.want(t, c.Conn.SetWriteDeadline)
}

// CloseWrite ends what is sent, where the connection below can do that.
func (c *Conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
