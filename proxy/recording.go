package proxy

import (
	"context"
	"errors"
	"net/http"
	"sync"
)

// recording is one answer as it is being written: append-only, one writer, any number of readers that each start at
// offset 0. Everything that an upstream sends passes through one; what the store keeps is a finished one.
type recording struct {
	status int
	header http.Header // the upstream's own; readers must not change it

	mu      sync.Mutex // guards what follows
	body    []byte
	dropped int  // bytes let go from the front of body
	narrow  bool // too large to keep, and read by one alone: what has been read is let go
	done    bool
	err     error         // why it ended early; nil for a complete answer
	changed chan struct{} // closed and replaced at each change while readers wait
}

func newRecording(status int, header http.Header) *recording {
	return &recording{status: status, header: header, changed: make(chan struct{})}
}

// Write appends p. Only the flight writes.
func (r *recording) Write(p []byte) (int, error) {
	r.mu.Lock()
	r.body = append(r.body, p...)
	r.wakeLocked()
	r.mu.Unlock()
	return len(p), nil
}

// finish ends the recording; err says that it was cut.
func (r *recording) finish(err error) {
	r.mu.Lock()
	r.done, r.err = true, err
	r.wakeLocked()
	r.mu.Unlock()
}

func (r *recording) wakeLocked() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// narrowDown lets a recording hold no more than its only reader has still to read. Nobody may begin to read afterwards.
// It wakes the reader, which may have read everything and be waiting for more: only the reader lets go of what it has read,
// and the writer is about to wait for that.
func (r *recording) narrowDown() {
	r.mu.Lock()
	r.narrow = true
	r.wakeLocked()
	r.mu.Unlock()
}

// window is how far the writer of a narrow recording may be ahead of its reader, in bytes.
const window = 256 << 10

// room waits until the reader of a narrow recording is near enough to its writer.
func (r *recording) room(ctx context.Context) {
	for {
		r.mu.Lock()
		far, changed := r.narrow && len(r.body) > window, r.changed
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

// next waits for bytes beyond off. It returns those bytes (a view: the written part never changes), and whether the
// recording ends after them, with the reason if it was cut.
func (r *recording) next(ctx context.Context, off int) (p []byte, end bool, err error) {
	for {
		r.mu.Lock()
		if r.narrow && off > r.dropped {
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

// errTooLarge says that a recording has grown beyond what is held for a reader that wants it whole.
var errTooLarge = errors.New("the answer is too large to be held")

// wait returns the whole body once the recording has ended, or errTooLarge when it turns out to be larger than most. The
// reader may then still read it bit by bit, from the start.
func (r *recording) wait(ctx context.Context, most int64) ([]byte, error) {
	for {
		r.mu.Lock()
		body, done, cause, changed := r.body, r.done, r.err, r.changed
		r.mu.Unlock()
		switch {
		case done && cause != nil:
			return nil, cause
		case int64(len(body)) > most:
			return nil, errTooLarge
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

// size is how many bytes have been written so far.
func (r *recording) size() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return int64(r.dropped + len(r.body))
}

// bytes is what has been written so far, or the last of it where the recording is narrow.
func (r *recording) bytes() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.body[:len(r.body):len(r.body)]
}
