package clientio

import (
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"reprise/proxy/internal/apierror"
)

// ErrTooSlow ends a body that came too slowly.
var ErrTooSlow = &apierror.Error{Status: http.StatusRequestTimeout, Type: apierror.TypeInvalidRequest, Code: "request_timeout",
	Message: "The request body came too slowly, or stopped coming (REPRISE_CLIENT_TIMEOUT)."}

const (
	restBytes = 256 << 10              // what is left of a body that no handler has read: up to here it is waited for ...
	restTime  = 250 * time.Millisecond // ... for so long, so that the connection can be used again

	drainBytes = 256 << 20       // read and dropped of a body whose answer has been sent, at most ...
	drainIdle  = 2 * time.Second // ... and until nothing has come for so long: the client has stopped sending
)

// body gives every read of a request's body a deadline.
type body struct {
	client *client
	length int64 // announced; -1: not
	waits  bool  // the client waits for a go-ahead (Expect: 100-continue), which the first Read sends

	mu     sync.Mutex    // held while a Read lasts; protects the fields below. A transport's Read may outlive the handler
	in     io.ReadCloser // the server's
	window time.Duration // the time that is left for the rest of this window
	come   int64         // bytes of this window that have come

	gate   sync.Mutex // protects closed: no deadline is set after close
	closed bool

	touched atomic.Bool // a Read has begun
	ended   atomic.Bool // the end has been read
	failed  atomic.Bool // a Read has failed
	slow    atomic.Bool // because a deadline had passed
}

// begin makes b the body of r, the request of c.
func (b *body) begin(c *client, r *http.Request) {
	b.client, b.in, b.length, b.waits = c, r.Body, r.ContentLength, r.Header.Get("Expect") != ""
	b.window = window(c.limit)
	if !c.h1 {
		b.clearDeadline() // the server's own would end the body, even where nothing is being read
	}
}

func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.touched.Store(true)
	start := time.Now()
	if !b.setDeadline(start) {
		return 0, http.ErrBodyReadAfterClose
	}
	n, err := b.in.Read(p)
	switch {
	case err == nil:
		b.count(n, start)
		if !b.client.h1 {
			b.clearDeadline() // it would end the body while the handler does not read
		}
	case err == io.EOF:
		b.ended.Store(true)
		b.clearDeadline()
	default:
		b.failed.Store(true)
		if isTimeout(err) {
			b.slow.Store(true)
			err = ErrTooSlow
		}
	}
	return n, err
}

// Close does nothing: the server closes its body itself, after finish.
func (b *body) Close() error { return nil }

// count takes n bytes, that a Read begun at start has brought, off the window.
func (b *body) count(n int, start time.Time) {
	whole := window(b.client.limit)
	b.come += int64(n)
	if b.come >= windowBytes(whole) {
		b.window, b.come = whole, 0
		return
	}
	b.window = max(b.window-time.Since(start), 1)
}

// setDeadline allows a Read until the end of the window; false once the body is closed. A ResponseWriter without deadlines (a
// test's recorder) has no slow client either.
func (b *body) setDeadline(now time.Time) bool {
	b.gate.Lock()
	defer b.gate.Unlock()
	if b.closed {
		return false
	}
	_ = b.client.deadlines.SetReadDeadline(now.Add(b.window))
	return true
}

func (b *body) clearDeadline() { _ = b.client.deadlines.SetReadDeadline(time.Time{}) }

// takeRest reads what is left of a body that the handler has not touched, where that is known to be little and comes at once,
// and reports whether the body has ended.
func (b *body) takeRest() bool {
	if !b.ended.Load() && !b.touched.Load() && !b.waits && 0 < b.length && b.length <= restBytes {
		b.discard(restTime, restTime, restBytes)
	}
	return b.ended.Load()
}

// drain reads and drops what the client still sends. A client that waits for a go-ahead sends nothing. A transport's Read that is
// still in progress gets what comes next, and its next one fails.
func (b *body) drain() {
	if b.failed.Load() || b.waits && !b.touched.Load() {
		return
	}
	total := window(b.client.limit)
	idle := min(total, drainIdle)
	b.detach()
	_ = b.client.deadlines.SetReadDeadline(time.Now().Add(idle))
	b.discard(idle, total, drainBytes)
}

// discard reads the body until nothing has come for idle, until total has passed or most bytes have come.
func (b *body) discard(idle, total time.Duration, most int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended.Load() || b.failed.Load() {
		return
	}
	end := time.Now().Add(total)
	buf := make([]byte, 8<<10)
	for n := 0; most > 0; most -= int64(n) {
		deadline := time.Now().Add(idle)
		if deadline.After(end) {
			deadline = end
		}
		_ = b.client.deadlines.SetReadDeadline(deadline)
		var err error
		n, err = b.in.Read(buf)
		if err == io.EOF {
			b.ended.Store(true)
			b.clearDeadline()
		}
		if err != nil {
			return
		}
	}
}

// detach leaves the connection to the caller of Hijack.
func (b *body) detach() {
	b.gate.Lock()
	defer b.gate.Unlock()
	b.closed = true
}

// close lets every later Read fail, the server's too, and waits for one that has begun.
func (b *body) close() {
	b.detach()
	past := time.Unix(1, 0)
	_ = b.client.deadlines.SetReadDeadline(past)
	b.mu.Lock() // after which no Read is in progress: the server would end its deadline
	defer b.mu.Unlock()
	_ = b.client.deadlines.SetReadDeadline(past)
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}
