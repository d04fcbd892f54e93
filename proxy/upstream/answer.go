package upstream

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"sync"

	"reprise/proxy/upstream/prefix"
	"reprise/proxy/upstream/usage"
)

// answer is the body of a replica's answer. It ends with ErrIdle when no byte arrives for a while: without that, a peer that disappears
// without a FIN would block both sides for ever. The time between two Reads does not count. It reports what becomes of the answer, where
// anything depends on that, and ends the trip when it is closed. One goroutine reads it; another one may close it.
type answer struct {
	io.ReadCloser
	trip *trip

	ctx       context.Context // of the request; nil: nothing is reported
	evaluated bool            // the answer is no error
	works     bool            // it is no error, as far as is known
	mark      uint64
	chain     *prefix.Chain // of the request, sent at mark; nil: the events of the replica are of no interest

	mu       sync.Mutex // guards what follows
	ticket   *prefix.Ticket
	meter    *usage.Meter // nil: the answer's text is of no interest
	learning bool         // its beginning may have ids
	begun    bool
	failed   bool // it is an error of the replica, which is counted
	closed   bool
}

// watch makes the body of the result report what becomes of it. It takes the ticket over.
func (x *call) watch(ctx context.Context, reply *Reply) {
	c, a := x.c, &reply.trip.answer
	a.ctx, a.evaluated = ctx, reply.StatusCode/100 == 2
	a.works = reply.StatusCode < http.StatusBadRequest
	a.ticket, x.ticket = x.ticket, nil
	if !a.evaluated {
		return
	}
	if reply.Replica.events != nil && x.r.Chain != nil {
		a.mark, a.chain = x.mark, &prefix.Chain{Blocks: slices.Clone(x.r.Chain.Blocks), Bytes: x.r.Chain.Bytes}
	}
	if c.table != nil {
		a.learning = learns(x.r.Original)
		if x.id != "" {
			c.table.add(x.r.Tenant, x.id, reply.Replica.place)
		}
	}
	if a.learning || a.ticket != nil && x.r.Chain != nil && reply.Header.Get("Content-Encoding") == "" {
		a.meter = usage.NewMeter()
		reply.Measured = a.ticket != nil
	}
}

// learns reports whether the answer to a request names objects that the replica holds.
func learns(r *http.Request) bool {
	path := r.URL.EscapedPath()
	if r.Method == http.MethodPost && creates(path) {
		return true
	}
	o, ok := objectInPath(path)
	return ok && o.path == path && r.Method != http.MethodDelete
}

// peek returns the beginning of the answer, up to n bytes, which a Read will return again.
func (a *answer) peek(n int64) []byte {
	head, err := io.ReadAll(io.LimitReader(a, n))
	a.ReadCloser = &prefixedBody{Reader: io.MultiReader(bytes.NewReader(head), a.ReadCloser), Closer: a.ReadCloser}
	if err != nil {
		return nil
	}
	return head
}

// prefixedBody is a body whose first bytes have been read already.
type prefixedBody struct {
	io.Reader
	io.Closer
}

// Read reads the next bytes of the answer.
func (a *answer) Read(p []byte) (int, error) {
	t := a.trip
	if limit := t.c.limits.BetweenBytes; limit > 0 {
		t.timer.Reset(limit)
		defer t.timer.Stop()
	}
	n, err := a.ReadCloser.Read(p)
	if err != nil && err != io.EOF && context.Cause(t.ctx) == ErrIdle {
		err = ErrIdle
	}
	if a.ctx == nil {
		return n, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return n, err
	}
	if n > 0 {
		a.passedLocked(p[:n])
	}
	if err != nil {
		a.endedLocked(err)
	}
	return n, err
}

// endedLocked notes how the answer has ended.
func (a *answer) endedLocked(err error) {
	c, r := a.trip.c, a.trip.replica
	switch {
	case err == io.EOF && a.works:
		c.board.succeeded(c.now(), r.place, a.trip.limit)
	case err != io.EOF && a.ctx.Err() == nil && !a.failed:
		c.failed(c.now(), r, a.trip.limit, err)
	}
}

// passedLocked notes the next bytes of the answer.
func (a *answer) passedLocked(p []byte) {
	if !a.begun && a.evaluated {
		a.beginsLocked(p)
	}
	if a.meter == nil {
		return
	}
	a.meter.Write(p)
	if a.learning {
		idsInAnswer(a.meter.Head(), func(id string) {
			a.trip.c.table.add(a.trip.limit.Tenant, id, a.trip.replica.place)
			a.learning = false
		})
		a.learning = a.learning && len(a.meter.Head()) < cap(a.meter.Head())
	}
}

// beginsLocked notes the first bytes of an answer with status 2xx, up to its first event where it is a stream. An error is no answer: the
// replica has not shown that it works, and is not known to hold the prefix.
func (a *answer) beginsLocked(p []byte) {
	c := a.trip.c
	isError, clients := false, false
	if !c.alone {
		if data, streamed := firstEvent(p); streamed && data == nil {
			return // comments, by which a connection is kept
		}
		isError, clients = errorIn(p)
	}
	a.begun = true
	if isError {
		a.works, a.evaluated, a.failed = false, false, !clients
		if a.failed {
			c.failed(c.now(), a.trip.replica, a.trip.limit, errInAnswer)
		}
	}
	switch {
	case a.ticket == nil:
	case isError:
		a.ticket.Failed(a.failed)
	default:
		a.ticket.Answered()
	}
}

// Close ends the trip.
func (a *answer) Close() error {
	t := a.trip
	t.end()
	err := a.ReadCloser.Close()
	t.release()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return err
	}
	a.closed = true
	var used usage.Usage
	if a.meter != nil {
		used = a.meter.End()
	}
	switch {
	case a.ticket == nil:
	case a.evaluated:
		a.ticket.Ended(used)
		t.replica.measured(a.ticket, used, t.c.measure)
		if a.chain != nil && used.Prompt > 0 {
			t.replica.events.Answered(a.mark, a.chain, used.Prompt)
		}
	default:
		a.ticket.Failed(false)
	}
	return err
}
