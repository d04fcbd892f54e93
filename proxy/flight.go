package proxy

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"sync"

	"reprise/proxy/canon"
)

// flight is one key on its way to an answer. It has its own context: it outlives the caller that started it and is
// cancelled when its last waiter has gone.
type flight struct {
	ctx    context.Context
	cancel context.CancelFunc

	landed     chan struct{} // closed when one of served, rec and err is set
	served     *served       // an answer from the cache, or
	rec        *recording    // the upstream's, perhaps still being written, or
	err        error         // neither
	asker      http.Header   // with rec: of the request that the upstream answered
	found      *finding      // with rec: what the search by meaning learned
	addedUsage bool          // with rec: the stream reports its usage because we asked it to
	kept       *keptInfo     // set before rec ends: what became of it
	settled    chan struct{} // closed when nothing more happens

	waiters int // guarded by flights.mu
}

// flights holds the flights under way, one per key.
type flights struct {
	mu sync.Mutex // guards m and every flight's waiters
	m  map[canon.Hash]*flight
}

// errPanic is what every waiter of a flight gets when the flight's own code panics.
type errPanic struct{ value any }

func (e *errPanic) Error() string { return fmt.Sprintf("internal error: %v", e.value) }

// join returns the flight of key, and whether the caller started it and so must call run. Who joins must leave.
func (fs *flights) join(key canon.Hash) (f *flight, started bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f = fs.m[key]; f != nil {
		f.waiters++
		return f, false
	}
	f = newFlight()
	if fs.m == nil {
		fs.m = make(map[canon.Hash]*flight)
	}
	fs.m[key] = f
	return f, true
}

// newFlight returns a flight with one waiter that nobody else can join.
func newFlight() *flight {
	ctx, cancel := context.WithCancel(context.Background())
	return &flight{ctx: ctx, cancel: cancel, landed: make(chan struct{}), settled: make(chan struct{}), waiters: 1}
}

// leave takes one waiter off f. The last one cancels it, and from then on a newcomer starts afresh rather than join a
// flight that is being cancelled.
func (fs *flights) leave(key canon.Hash, f *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f.waiters--; f.waiters > 0 {
		return
	}
	f.cancel()
	fs.dropLocked(key, f)
}

func (fs *flights) drop(key canon.Hash, f *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.dropLocked(key, f)
}

// seal lets nobody else join f, and reports whether one waiter is all that it has.
func (fs *flights) seal(key canon.Hash, f *flight) (sole bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.dropLocked(key, f)
	return f.waiters <= 1
}

// detach lets nobody else join the flights under way; those who have joined still get their outcome.
func (fs *flights) detach() {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.m = nil
}

func (fs *flights) dropLocked(key canon.Hash, f *flight) {
	if fs.m[key] == f {
		delete(fs.m, key)
	}
}

// run carries f from start to end in the calling goroutine. Whatever fly does, every waiter gets an outcome: a panic
// becomes the error of all.
func (fs *flights) run(key canon.Hash, f *flight, fly func(*flight), onPanic func(any, []byte)) {
	defer func() {
		if v := recover(); v != nil {
			onPanic(v, debug.Stack())
			f.crash(&errPanic{v})
		}
		fs.drop(key, f)
		close(f.settled)
	}()
	fly(f)
}

// land publishes the outcome to the waiters, once.
func (f *flight) land(set func()) {
	set()
	close(f.landed)
}

// crash ends a flight that panicked, whether it had landed or not.
func (f *flight) crash(err error) {
	select {
	case <-f.landed:
		if f.rec != nil {
			f.rec.finish(err)
		}
	default:
		f.land(func() { f.err = err })
	}
}

// wait waits until f has landed.
func (f *flight) wait(ctx context.Context) error {
	select {
	case <-f.landed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
