package proxy

import (
	"context"
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

// next waits for bytes beyond off. It returns those bytes (a view: the written part never changes), and whether the
// recording ends after them, with the reason if it was cut.
func (r *recording) next(ctx context.Context, off int) (p []byte, end bool, err error) {
	for {
		r.mu.Lock()
		p, done, cause, changed := r.body[off:len(r.body):len(r.body)], r.done, r.err, r.changed
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

// wait returns the whole body once the recording has ended.
func (r *recording) wait(ctx context.Context) ([]byte, error) {
	off := 0
	for {
		p, end, err := r.next(ctx, off)
		if err != nil {
			return nil, err
		}
		off += len(p)
		if end {
			return r.bytes(), nil
		}
	}
}

// bytes is what has been written so far.
func (r *recording) bytes() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.body[:len(r.body):len(r.body)]
}
