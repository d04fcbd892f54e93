package upstream

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Recording is one answer while it is being written: append-only, one writer, any number of readers that each start at
// offset 0. Everything that a replica sends on the cached path passes through one; the store keeps a finished one.
//
// An answer that is too large to keep is not held either: the recording is narrowed to a window between its slowest reader and
// its writer, which waits where the window is full. No reader joins from then on.
type Recording struct {
	Status int         // of the replica's answer
	Header http.Header // of the replica's answer; readers must not change it

	mem     Memory // what the body is charged to; nil: nothing
	least   int64  // bytes that are charged in any case
	charged int64  // bytes, changed by the writer alone

	mu      sync.Mutex // guards what follows and the readers
	body    []byte     // from offset dropped on
	dropped int
	done    bool
	err     error         // why it ended early; nil for a complete answer
	settled int           // bytes that are the whole answer, though it is not done; 0: not known
	changed chan struct{} // closed at the next change; nil: no reader waits for one

	first   int // size of the first array; 0: the usual one
	readers []*Reader
	arrived int // readers so far

	window   int       // not 0: only a window is held, which is full with so many bytes
	since    time.Time // of window
	expected int       // readers that the window still waits for, at offset 0
}

// Memory is what recordings are charged to. It is safe for concurrent use.
type Memory interface {
	// Reserve charges n bytes more, and reports whether there is room for them. Where there is none nothing is charged.
	Reserve(n int64) bool
	// Release takes back a charge of n bytes.
	Release(n int64)
}

// NewRecording returns an empty recording of an answer with this status and header.
func NewRecording(status int, header http.Header) *Recording {
	return &Recording{Status: status, Header: header}
}

// ChargeTo charges the body to mem while it grows. The first bytes of it are charged already and become part of what Release takes
// back. It is called before the first Write.
func (r *Recording) ChargeTo(mem Memory, bytes int64) { r.mem, r.least, r.charged = mem, bytes, bytes }

// reserve charges an array of this many bytes, and reports whether there was room for it. Only the writer calls it.
func (r *Recording) reserve(bytes int) (room bool) {
	size := max(int64(bytes), r.least)
	switch {
	case r.mem == nil || size == r.charged:
		return true
	case size < r.charged:
		r.mem.Release(r.charged - size)
	case !r.mem.Reserve(size - r.charged):
		return false
	}
	r.charged = size
	return true
}

// Release takes the charge back. It is called once, after the last write and the last read.
func (r *Recording) Release() {
	if r.mem != nil {
		r.mem.Release(r.charged)
	}
}

const (
	leastRead  = 512     // bytes of room for a read
	firstArray = 8 << 10 // bytes of an answer of unknown length
)

// room returns where the next bytes of the body are to be written, and wrote adds the first n of them. Only the writer calls both.
func (r *Recording) room() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	if have := len(r.body); cap(r.body)-have < leastRead && cap(r.body) != r.first || have == cap(r.body) {
		grown := make([]byte, have, r.sizeLocked(have+leastRead))
		copy(grown, r.body)
		r.body = grown
	}
	return r.body[len(r.body):cap(r.body)]
}

// sizeLocked is the size of an array for need bytes: in a window with room for as many again as are released at a time, else
// so much larger that the bytes of a long answer are copied twice on average.
func (r *Recording) sizeLocked(need int) int {
	switch {
	case r.window > 0:
		return need + r.window/2
	case r.body == nil && r.first > 0:
		return r.first
	}
	return max(need+need/2, firstArray)
}

// wrote returns the size of the answer so far, the size of the array that holds it, and whether all of it is held.
func (r *Recording) wrote(n int) (size int64, array int, whole bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n > 0 {
		r.body = r.body[:len(r.body)+n]
		r.trimLocked()
		r.wakeLocked()
	}
	return int64(r.dropped + len(r.body)), cap(r.body), r.window == 0
}

// Finish ends the recording; a non-nil err says that the answer was cut.
func (r *Recording) Finish(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done, r.err = true, err
	r.wakeLocked()
}

// settle notes that so many bytes are the whole answer.
func (r *Recording) settle(size int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settled = size
	r.wakeLocked()
}

func (r *Recording) wakeLocked() {
	if r.changed != nil {
		close(r.changed)
		r.changed = nil
	}
}

// changeLocked returns a channel that is closed at the next change.
func (r *Recording) changeLocked() <-chan struct{} {
	if r.changed == nil {
		r.changed = make(chan struct{})
	}
	return r.changed
}

// narrowDown makes the recording hold only what one of its readers, of whom there are this many since its start, has not read yet.
// It wakes the readers: those who wait for the whole answer must begin to read, and those who have read everything release it.
func (r *Recording) narrowDown(window, readers int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.window, r.since, r.expected = window, time.Now(), max(readers-r.arrived, 0)
	r.trimLocked()
	r.wakeLocked()
}

const (
	// window is how far the writer of a narrow recording may be ahead of its slowest reader, in bytes; smallWindow where memory is
	// short.
	window      = 256 << 10
	smallWindow = 32 << 10
	// tail is how much of its end a narrow recording always holds: the last event of a stream shows whether it is complete.
	tail = 4 << 10
)

func windowFor(room bool) int {
	if room {
		return window
	}
	return smallWindow
}

// trimLocked releases what every reader of a narrow recording has read.
func (r *Recording) trimLocked() {
	if r.window == 0 || r.expected > 0 {
		return
	}
	low := r.dropped + len(r.body) - tail
	for _, reader := range r.readers {
		low = min(low, reader.off)
	}
	if low > r.dropped {
		r.body, r.dropped = r.body[low-r.dropped:], low
		r.wakeLocked() // the writer may be waiting for room
	}
}

// waitForRoom returns when all readers of a narrow recording are within window of its writer, or when ctx ends.
func (r *Recording) waitForRoom(ctx context.Context, patience time.Duration) {
	for {
		r.mu.Lock()
		if !r.fullLocked() {
			r.mu.Unlock()
			return
		}
		changed := r.changeLocked()
		left := r.cutLocked(time.Now(), patience) // which may be the change
		r.mu.Unlock()
		timer := time.NewTimer(left)
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
		if ctx.Err() != nil {
			return
		}
	}
}

// fullLocked reports whether the writer waits for readers.
func (r *Recording) fullLocked() bool { return r.window > 0 && len(r.body) > r.window }

// cutLocked gives up readers that have taken longer than patience over a piece: their clients have stopped reading, and the other
// readers wait for them. It returns when it must be called again.
func (r *Recording) cutLocked(now time.Time, patience time.Duration) (left time.Duration) {
	left = patience
	overdue := func(since time.Time) bool {
		rest := since.Add(patience).Sub(now)
		if rest > 0 {
			left = min(left, rest)
		}
		return rest <= 0
	}
	for _, reader := range slices.Clone(r.readers) {
		if !reader.busy.IsZero() && overdue(reader.busy) {
			reader.dropLocked(true)
		}
	}
	if r.expected > 0 && overdue(r.since) {
		r.expected = 0
	}
	r.trimLocked()
	return left
}

// Reader reads a recording from its start. It is used by one goroutine, which must close it.
type Reader struct {
	rec  *Recording
	from *Filling // not nil: the reader itself copies what it needs, as long as no goroutine does

	// Guarded by the recording's mutex:
	off    int       // what was read before the present piece
	piece  int       // length of the present piece
	busy   time.Time // since when the caller has had the present piece; zero while it waits for the next one
	behind bool      // it was given up
	closed bool
}

// errBehind says that a reader fell so far behind the others that what it has not read was released.
var errBehind = errors.New("the reader is too far behind the others")

// NewReader returns a reader at offset 0. If the recording is a window that has moved on, its reads fail with ErrBehind.
func (r *Recording) NewReader() *Reader {
	r.mu.Lock()
	defer r.mu.Unlock()
	reader := &Reader{rec: r, busy: time.Now(), behind: r.dropped > 0}
	r.arrived++
	if r.expected > 0 {
		r.expected--
	}
	if !reader.behind {
		r.readers = append(r.readers, reader)
	}
	return reader
}

// Close releases what the reader has not read. It may be called twice.
func (d *Reader) Close() {
	d.rec.mu.Lock()
	defer d.rec.mu.Unlock()
	if !d.closed {
		d.closed = true
		d.dropLocked(false)
		d.rec.trimLocked()
	}
}

func (d *Reader) dropLocked(behind bool) {
	d.behind = d.behind || behind
	if i := slices.Index(d.rec.readers, d); i >= 0 {
		d.rec.readers = slices.Delete(d.rec.readers, i, i+1)
	}
}

// Next waits for bytes beyond those that it has returned so far. It returns up to 256 KiB of them (a view: the written part never
// changes), and whether the recording ends after them, with the reason if it was cut.
func (d *Reader) Next(ctx context.Context) (p []byte, end bool, err error) {
	r := d.rec
	for {
		r.mu.Lock()
		d.off, d.piece, d.busy = d.off+d.piece, 0, time.Time{}
		r.trimLocked()
		if d.behind {
			r.mu.Unlock()
			return nil, false, errBehind
		}
		rest := r.body[d.off-r.dropped:]
		p = rest[:min(len(rest), window):min(len(rest), window)]
		if end = r.done && len(p) == len(rest); end {
			err = r.err
		}
		if len(p) > 0 || end {
			d.piece, d.busy = len(p), time.Now()
			r.mu.Unlock()
			return p, end, err
		}
		if err := d.waitLocked(ctx); err != nil {
			return nil, false, err
		}
	}
}

// waitLocked returns with the mutex unlocked, when the recording may have changed, or with ctx's error.
func (d *Reader) waitLocked(ctx context.Context) error {
	if d.from != nil && d.from.beginLocked() {
		d.rec.mu.Unlock()
		d.from.step()
		return nil
	}
	changed := d.rec.changeLocked()
	d.rec.mu.Unlock()
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Peek waits until the first bytes are enough, or are all, and returns them (a view). Next will return them again. Where only a window
// is held it returns what fits: the writer waits for its readers to go on.
func (d *Reader) Peek(ctx context.Context, enough func([]byte) bool) ([]byte, error) {
	r := d.rec
	for {
		r.mu.Lock()
		d.busy = time.Time{}
		body := r.body[:len(r.body):len(r.body)]
		switch {
		case d.behind:
			r.mu.Unlock()
			return nil, errBehind
		case r.done || r.fullLocked() || enough(body):
			d.busy = time.Now()
			r.mu.Unlock()
			return body, nil
		}
		if err := d.waitLocked(ctx); err != nil {
			return nil, err
		}
	}
}

// ErrTooLarge says that a recording is not held whole.
var ErrTooLarge = errors.New("the answer is too large to be held")

// Wait returns the whole body once the recording has ended or the answer in it has, or ErrTooLarge as soon as it is not held whole. The
// reader may then still read it in pieces with Next, from the start.
func (d *Reader) Wait(ctx context.Context) ([]byte, error) {
	r := d.rec
	for {
		r.mu.Lock()
		d.busy = time.Time{}
		if r.done || r.window > 0 || r.settled > 0 {
			defer r.mu.Unlock()
			switch {
			case r.settled > 0 && !r.done && r.window == 0:
				return r.body[:r.settled:r.settled], nil
			case r.done && r.err != nil:
				return nil, r.err
			case r.window > 0:
				return nil, ErrTooLarge
			}
			return r.body[:len(r.body):len(r.body)], nil
		}
		if d.from != nil && d.from.ended {
			d.from.detachLocked() // a read that waits for the end of the connection would hold up this reader
		}
		if err := d.waitLocked(ctx); err != nil {
			return nil, err
		}
	}
}

// Size is how many bytes have been written so far.
func (r *Recording) Size() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return int64(r.dropped + len(r.body))
}

// Whole reports whether all that has been written is held.
func (r *Recording) Whole() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.window == 0
}

// Bytes is what has been written so far, or the last part of it where the recording is not held whole.
func (r *Recording) Bytes() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.body[:len(r.body):len(r.body)]
}
