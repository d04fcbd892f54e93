package upstream

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
)

// flightKey identifies requests that share a flight.
type flightKey = [32]byte

// Outcome is what a flight publishes to its waiters.
type Outcome interface {
	// Abort ends what the flight was still writing when it panicked, so that no reader waits for more.
	Abort(err error)
	// Release frees what the outcome holds, once the flight has ended and its last waiter has left.
	Release()
}

// After is what a flight holds until it has ended.
type After interface{ Drop() }

// Panics takes what flights panicked with.
type Panics interface {
	Panicked(value any, stack []byte)
}

// Flight is one key on its way to an outcome. It has a context of its own: it may outlive the caller that started it, and is
// cancelled when its last waiter has left.
type Flight[T Outcome] struct {
	set    *Flights[T]
	ctx    context.Context
	cancel context.CancelFunc
	key    flightKey

	published chan struct{} // closed when outcome or err is set
	outcome   T
	err       error
	done      chan struct{} // closed when the flight has ended
	after     After         // that is dropped then; nil: nothing

	// Guarded by Flights.mu:
	waiters int
	readers int // waiters that have got the outcome, or will get it
	ended   bool
}

// Context is cancelled when the last waiter has left.
func (f *Flight[T]) Context() context.Context { return f.ctx }

// Publish gives the outcome to all waiters. Each flight calls Publish or Fail, once.
func (f *Flight[T]) Publish(outcome T) {
	f.outcome = outcome
	close(f.published)
}

// Fail gives err to all waiters in place of an outcome.
func (f *Flight[T]) Fail(err error) {
	f.err = err
	close(f.published)
}

// Wait waits for the outcome. Its error is ctx's: then the caller will never see the outcome.
func (f *Flight[T]) Wait(ctx context.Context) error {
	select {
	case <-f.published:
		return nil
	case <-ctx.Done():
	}
	f.set.mu.Lock()
	defer f.set.mu.Unlock()
	select {
	case <-f.published:
		return nil // Seal may have counted the caller already
	default:
		f.readers--
		return ctx.Err()
	}
}

// Outcome returns what was published, or why the flight failed. It may be called once Wait has returned nil.
func (f *Flight[T]) Outcome() (T, error) { return f.outcome, f.err }

// Done is closed when the flight has ended, which may be long after its outcome was published.
func (f *Flight[T]) Done() <-chan struct{} { return f.done }

// PanicError is the error of every waiter of a flight that panicked.
type PanicError struct{ Value any }

func (e *PanicError) Error() string { return fmt.Sprintf("internal error: %v", e.Value) }

// crash ends a flight that panicked, before or after it published its outcome.
func (f *Flight[T]) crash(err error) {
	select {
	case <-f.published:
		if f.err == nil {
			f.outcome.Abort(err)
		}
	default:
		f.Fail(err)
	}
}

// ErrClosing is why a flight that is to start after Close fails.
var ErrClosing = errors.New("the proxy is stopping")

// Flights holds the present flights, at most one per key. It is safe for concurrent use.
type Flights[T Outcome] struct {
	panics Panics

	mu      sync.Mutex // guards what follows and every flight's counts
	byKey   map[flightKey]*Flight[T]
	running int           // flights that have been started and have not ended, with and without waiters
	idle    chan struct{} // closed when running becomes 0; nil while no caller waits for that
	closed  bool
}

// NewFlights returns an empty set of flights; panics gets what a flight panicked with.
func NewFlights[T Outcome](panics Panics) *Flights[T] {
	return &Flights[T]{panics: panics, byKey: make(map[flightKey]*Flight[T])}
}

// Join returns the flight of key, and whether it is new, so that the caller must call Start. The caller must leave it.
func (fs *Flights[T]) Join(key flightKey) (f *Flight[T], isNew bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f = fs.byKey[key]; f != nil {
		f.waiters++
		f.readers++
		return f, false
	}
	f = fs.Solo()
	f.key, fs.byKey[key] = key, f
	return f, true
}

// Solo returns a new flight with one waiter, which no other caller can join. The caller must call Run, and leave it.
func (fs *Flights[T]) Solo() *Flight[T] {
	ctx, cancel := context.WithCancel(context.Background())
	return &Flight[T]{set: fs, ctx: ctx, cancel: cancel, published: make(chan struct{}), done: make(chan struct{}), waiters: 1, readers: 1}
}

// Leave removes one waiter from f. The last one cancels it, and from then on a newcomer starts a new flight rather than
// join one that is being cancelled.
func (fs *Flights[T]) Leave(f *Flight[T]) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f.waiters--; f.waiters > 0 {
		return
	}
	f.cancel()
	fs.dropLocked(f)
	if f.ended {
		f.release()
	}
}

// release frees the outcome, if there is one.
func (f *Flight[T]) release() {
	select {
	case <-f.published:
		if f.err == nil {
			f.outcome.Release()
		}
	default:
	}
}

// Seal keeps further callers from joining f, and returns how many of its waiters have got its outcome or will get it, since its
// start.
func (fs *Flights[T]) Seal(f *Flight[T]) (readers int) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.dropLocked(f)
	return f.readers
}

// Detach keeps further callers from joining the present flights; those who have joined still get their outcome.
func (fs *Flights[T]) Detach() {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	clear(fs.byKey)
}

func (fs *Flights[T]) dropLocked(f *Flight[T]) {
	if fs.byKey[f.key] == f {
		delete(fs.byKey, f.key)
	}
}

// Run runs f on the caller's goroutine. run reports whether f has ended; one that has not goes on until End or Crash. Every waiter
// gets an outcome whatever run does: a panic becomes the error of all. After Close, f fails with ErrClosing, and run is not called.
// after, if not nil, is dropped when f ends.
func (fs *Flights[T]) Run(f *Flight[T], run func(*Flight[T]) (ended bool), after After) {
	f.after = after
	fs.mu.Lock()
	fs.running++
	closed := fs.closed
	fs.mu.Unlock()
	if closed {
		f.Fail(ErrClosing)
		fs.End(f)
		return
	}
	defer func() {
		if v := recover(); v != nil {
			fs.Crash(f, v)
		}
	}()
	if run(f) {
		fs.End(f)
	}
}

// Crash ends a flight that panicked with v, before or after it published its outcome. A deferred function calls it.
func (fs *Flights[T]) Crash(f *Flight[T], v any) {
	fs.panics.Panicked(v, debug.Stack())
	f.crash(&PanicError{v})
	fs.End(f)
}

// End notes that f has ended; it can be joined no more.
func (fs *Flights[T]) End(f *Flight[T]) {
	if f.after != nil {
		f.after.Drop()
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.dropLocked(f)
	close(f.done)
	if f.ended = true; f.waiters <= 0 {
		f.release()
	}
	if fs.running--; fs.running == 0 && fs.idle != nil {
		close(fs.idle)
		fs.idle = nil
	}
}

// Close keeps further flights from starting. Those that have started go on.
func (fs *Flights[T]) Close() {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.closed = true
}

// Wait returns when no flight runs, or with ctx's error. Flights without a waiter end by themselves. Unless Close was called
// before, another flight may have started when it returns.
func (fs *Flights[T]) Wait(ctx context.Context) error {
	fs.mu.Lock()
	if fs.running == 0 {
		fs.mu.Unlock()
		return nil
	}
	if fs.idle == nil {
		fs.idle = make(chan struct{})
	}
	idle := fs.idle
	fs.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Count returns how many flights can be joined now, and how many wait for them.
func (fs *Flights[T]) Count() (flights, waiters int) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, f := range fs.byKey {
		waiters += f.waiters
	}
	return len(fs.byKey), waiters
}
