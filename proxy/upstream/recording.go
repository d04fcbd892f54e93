package upstream

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
)

// Recording is one answer while it is being written: append-only, one writer, any number of readers that each start at
// offset 0. Everything that a replica sends on the cached path passes through one; the store keeps a finished one.
type Recording struct {
	Status int         // of the replica's answer
	Header http.Header // of the replica's answer; readers must not change it

	mem     Memory // what the body is charged to; nil: nothing
	charged int64  // bytes, changed by the writer alone

	mu      sync.Mutex // guards what follows
	body    []byte
	dropped int // bytes released from the front of body
	window  int // not 0: it is not kept and has one reader, which the writer may be ahead of by so many bytes; the rest is released
	done    bool
	err     error         // why it ended early; nil for a complete answer
	changed chan struct{} // closed and replaced at each change while readers wait
}

// NewRecording returns an empty recording of an answer with this status and header.
func NewRecording(status int, header http.Header) *Recording {
	return &Recording{Status: status, Header: header, changed: make(chan struct{})}
}

// ChargeTo charges the body to mem while it grows. The first bytes of it are charged already and become part of what Release takes
// back. It is called before the first Write.
func (r *Recording) ChargeTo(mem Memory, bytes int64) { r.mem, r.charged = mem, bytes }

// reserve charges what the body has grown by, and reports whether there was room for it. Only the writer calls it.
func (r *Recording) reserve() bool {
	r.mu.Lock()
	grown := int64(cap(r.body)) - r.charged
	r.mu.Unlock()
	if r.mem == nil || grown <= 0 {
		return true
	}
	if !r.mem.Reserve(grown) {
		return false
	}
	r.charged += grown
	return true
}

// Release takes the charge back. It is called once, after the last write and the last read.
func (r *Recording) Release() {
	if r.mem != nil {
		r.mem.Release(r.charged)
	}
}

// Write appends p. Only one goroutine may write.
func (r *Recording) Write(p []byte) (int, error) {
	r.mu.Lock()
	r.body = append(r.body, p...)
	r.wakeLocked()
	r.mu.Unlock()
	return len(p), nil
}

// Finish ends the recording; a non-nil err says that the answer was cut.
func (r *Recording) Finish(err error) {
	r.mu.Lock()
	r.done, r.err = true, err
	r.wakeLocked()
	r.mu.Unlock()
}

func (r *Recording) wakeLocked() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// Fill appends body until it ends or ctx does. An answer of more than limit bytes is too large to keep, and so is one for which
// there is no memory: sole is called once, and if it reports that the recording has one reader and gets no other, only a
// window of the answer is held from then on. An answer without an end must not take the memory of all other requests.
func (r *Recording) Fill(ctx context.Context, body io.Reader, limit int64, sole func() bool) error {
	buf := copyBuffers.Get()
	defer copyBuffers.Put(buf)
	for small := true; ; {
		n, err := body.Read(buf)
		if n > 0 {
			r.Write(buf[:n])
		}
		if large, room := r.Size() > limit, r.reserve(); small && (large || !room) {
			small = false
			if sole() {
				r.narrowDown(windowFor(room))
			}
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		r.waitForRoom(ctx)
	}
}

// narrowDown makes the recording hold only what its single reader has not read yet. No other reader may begin afterwards.
// It wakes the reader, which may have read everything and be waiting for more: only the reader releases what it has read,
// and the writer is about to wait for that.
func (r *Recording) narrowDown(window int) {
	r.mu.Lock()
	r.window = window
	r.wakeLocked()
	r.mu.Unlock()
}

// Narrow reports whether the recording has become a window of the answer, which is then not kept.
func (r *Recording) Narrow() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.window > 0
}

// window is how far the writer of a narrow recording may be ahead of its reader, in bytes; smallWindow where memory is short.
const (
	window      = 256 << 10
	smallWindow = 32 << 10
)

func windowFor(room bool) int {
	if room {
		return window
	}
	return smallWindow
}

// waitForRoom returns when the reader of a narrow recording is within window of its writer, or when ctx ends.
func (r *Recording) waitForRoom(ctx context.Context) {
	for {
		r.mu.Lock()
		far, changed := r.window > 0 && len(r.body) > r.window, r.changed
		r.mu.Unlock()
		if !far {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// Next waits for bytes beyond off. It returns those bytes (a view: the written part never changes), and whether the
// recording ends after them, with the reason if it was cut.
func (r *Recording) Next(ctx context.Context, off int) (p []byte, end bool, err error) {
	for {
		r.mu.Lock()
		if r.window > 0 && off > r.dropped {
			r.body, r.dropped = r.body[off-r.dropped:], off
			r.wakeLocked() // the writer may be waiting for room
		}
		p, done, cause, changed := r.body[off-r.dropped:len(r.body):len(r.body)], r.done, r.err, r.changed
		r.mu.Unlock()
		if len(p) > 0 || done {
			return p, done, cause
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
}

// ErrTooLarge says that a recording is larger than the reader of its whole body accepts.
var ErrTooLarge = errors.New("the answer is too large to be held")

// Wait returns the whole body once the recording has ended, or ErrTooLarge as soon as it exceeds limit bytes or is not held whole.
// The reader may then still read it in parts with Next, from the start.
func (r *Recording) Wait(ctx context.Context, limit int64) ([]byte, error) {
	for {
		r.mu.Lock()
		body, narrow, done, cause, changed := r.body, r.window > 0, r.done, r.err, r.changed
		r.mu.Unlock()
		switch {
		case done && cause != nil:
			return nil, cause
		case narrow || int64(len(body)) > limit:
			return nil, ErrTooLarge
		case done:
			return body[:len(body):len(body)], nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Size is how many bytes have been written so far.
func (r *Recording) Size() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return int64(r.dropped + len(r.body))
}

// Bytes is what has been written so far, or the last part of it where the recording has grown too large to keep.
func (r *Recording) Bytes() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.body[:len(r.body):len(r.body)]
}
