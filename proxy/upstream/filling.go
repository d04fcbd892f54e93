package upstream

import (
	"context"
	"io"
	"time"
)

// Filling copies a replica's answer into a recording.
//
// Usually only the client that asked for an answer waits for it, and its own reader copies the answer, a piece whenever it needs
// one: that takes no goroutine and wakes none. A goroutine takes over for good where that reader would hold up something else (see
// Detach): another reader has come, the first one's client has left or takes nothing (see Watch), or the answer is so large
// that only a window of it is held.
type Filling struct {
	rec    *Recording
	ctx    context.Context
	body   io.Reader
	bounds Bounds
	owner  Owner

	// Guarded by the recording's mutex:
	reading  bool // a reader copies a piece
	detached bool // a goroutine copies the rest, or will after the present piece
	over     bool
	pieces   int         // so far
	seen     int         // pieces at the last look
	watch    *time.Timer // nil: there is no look
	ended    bool        // what has come looked like the whole answer, once

	settling *time.Timer // of the goroutine that copies: it settles the answer; nil: that never looked ended
}

// Bounds are how much of an answer is held, and for how long.
type Bounds struct {
	Length   int64         // of the answer in bytes, as announced; not positive: not known
	Whole    int64         // bytes of an answer that is held whole
	Patience time.Duration // how long one reader may take over a piece of an answer that is not, while the others wait; then it is cut
}

// Owner is what a filling belongs to.
type Owner interface {
	// Seal keeps further readers from joining, and returns how many have joined. It is called when the answer exceeds the bounds.
	Seal() (readers int)
	// Ended reports whether what has come may be the whole answer, though the connection goes on. It is called after each piece.
	Ended(body []byte) bool
	// Settle is called once nothing has followed such a body for settleAfter, while another goroutine waits for more. It reports whether body
	// is the whole answer: readers that wait for that get it, and those of Next still get what follows. It is called no more then, and
	// End is called in any case.
	Settle(body []byte) bool
	// End is called when the answer has ended, early because of err if that is not nil. It must Finish the recording.
	End(err error)
	// Crash is called by a deferred function where reading or End panicked with v. It must Finish the recording too.
	Crash(v any)
}

// settleAfter is how long the connection may be silent behind an answer that looks ended. The end of a connection usually comes with the last
// bytes, or at once, and so does what some servers send behind the last event.
const settleAfter = 50 * time.Millisecond

// firstLength is the announced length up to which the first array has the size of the answer.
const firstLength = 64 << 10

// Fill returns a filling of r with body, until that ends or ctx does. Nothing is read before a reader needs it, or Detach. From the
// moment at which the answer exceeds the bounds, or there is no memory for it, only a window of it is held: an answer without an end
// must not take the memory of all other requests.
func (r *Recording) Fill(ctx context.Context, body io.Reader, b Bounds, owner Owner) *Filling {
	if 0 < b.Length && b.Length <= firstLength {
		r.first = int(b.Length) + 1 // one byte more than the body, for the Read that finds its end
	}
	return &Filling{rec: r, ctx: ctx, body: body, bounds: b, owner: owner}
}

// NewReader returns the reader that copies what it needs. There is one at most.
func (l *Filling) NewReader() *Reader {
	reader := l.rec.NewReader()
	reader.from = l
	return reader
}

// beginLocked reports whether the reader is to copy a piece, with step.
func (l *Filling) beginLocked() bool {
	if l.detached || l.over {
		return false
	}
	l.reading = true
	return true
}

// step copies a piece.
func (l *Filling) step() {
	more := l.guarded((*Filling).piece)
	l.rec.mu.Lock()
	defer l.rec.mu.Unlock()
	l.reading = false
	l.pieces++
	if more && l.detached {
		go l.rest()
	}
}

// rest copies until the end.
func (l *Filling) rest() {
	for l.guarded((*Filling).next) {
	}
}

// guarded does a part of the filling and reports whether there is more to do.
func (l *Filling) guarded(part func(*Filling) bool) (more bool) {
	defer func() {
		if !more {
			l.stop()
		}
		if v := recover(); v != nil {
			l.owner.Crash(v)
		}
	}()
	return part(l)
}

func (l *Filling) stop() {
	l.rec.mu.Lock()
	defer l.rec.mu.Unlock()
	l.over = true
	if l.watch != nil {
		l.watch.Stop()
	}
}

// next waits until there is room for a piece, and copies it.
func (l *Filling) next() (more bool) {
	l.rec.waitForRoom(l.ctx, l.bounds.Patience)
	return l.piece()
}

// piece reads once, and ends the filling where the answer has ended.
func (l *Filling) piece() (more bool) {
	n, err := l.body.Read(l.rec.room())
	if l.settling != nil {
		l.settling.Stop()
	}
	size, array, whole := l.rec.wrote(n)
	if large, room := size > l.bounds.Whole, l.rec.reserve(array); (large || !room) && whole {
		l.rec.narrowDown(windowFor(room), l.owner.Seal())
		l.Detach() // the writer of a window waits for its readers
	}
	if err == nil {
		if whole && n > 0 && size != l.bounds.Length { // else the end comes with the next Read, which waits for nothing
			l.mayEnd(l.rec.Bytes())
		}
		return true
	}
	if err == io.EOF {
		err = nil
	}
	l.owner.End(err)
	return false
}

// mayEnd settles the answer after a while if body, what has come so far, looks like all of it.
func (l *Filling) mayEnd(body []byte) {
	if !l.owner.Ended(body) {
		return
	}
	l.rec.mu.Lock()
	defer l.rec.mu.Unlock()
	if l.ended = true; l.rec.settled == 0 {
		l.settling = time.AfterFunc(settleAfter, func() {
			if l.owner.Settle(body) {
				l.rec.settle(len(body))
			}
		})
	}
}

// Detach makes a goroutine copy what is left of the answer, if anything is.
func (l *Filling) Detach() {
	l.rec.mu.Lock()
	defer l.rec.mu.Unlock()
	l.detachLocked()
}

func (l *Filling) detachLocked() {
	if l.detached || l.over {
		return
	}
	if l.detached = true; !l.reading {
		go l.rest()
	}
}

// watchEvery is how often it is looked whether the client takes anything.
const watchEvery = 200 * time.Millisecond

// Watch detaches when the reader has not come back for a while, because its client does not take what it has been sent: the replica's
// answer must not wait for it. The caller is the reader, which is about to write to its client.
func (l *Filling) Watch() {
	l.rec.mu.Lock()
	defer l.rec.mu.Unlock()
	if !l.detached && !l.over {
		l.watch = time.AfterFunc(watchEvery, l.look)
	}
}

func (l *Filling) look() {
	l.rec.mu.Lock()
	defer l.rec.mu.Unlock()
	switch {
	case l.detached || l.over:
	case !l.reading && l.pieces == l.seen:
		l.detachLocked()
	default:
		l.seen = l.pieces
		l.watch.Reset(watchEvery)
	}
}
