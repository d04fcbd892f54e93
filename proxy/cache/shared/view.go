package shared

import (
	"sync"
	"sync/atomic"
	"time"

	"reprise/store"
)

// view is the part of the log that this member has applied, and since when it may have missed something.
type view struct {
	start time.Time
	grace time.Duration
	// seen is when the last pulse began whose end of the log is applied, in nanoseconds since start; negative: none since the last gap.
	seen atomic.Int64
	// breaks is how often this member was not live, and is again.
	breaks atomic.Uint64

	mu      sync.Mutex // protects the rest
	at      store.Position
	mark    store.Mark // after at
	synced  bool       // at continues the log
	pulses  []target   // seen, and not reached yet; oldest first
	changed chan struct{}
}

// target is what a pulse showed: the end of the log at some time between began and ended.
type target struct {
	began, ended time.Duration
	n            uint64
}

func newView(grace time.Duration) *view {
	v := &view{start: time.Now(), grace: grace, changed: make(chan struct{})}
	v.seen.Store(-1)
	return v
}

// live reports whether a purge of another member that is older than the grace must have been applied here.
func (v *view) live() bool {
	seen := v.seen.Load()
	return seen >= 0 && time.Since(v.start)-time.Duration(seen) <= v.grace
}

// behind is for how long this member may have missed something.
func (v *view) behind() time.Duration {
	return time.Since(v.start) - time.Duration(max(v.seen.Load(), 0))
}

// now returns the place and whether it continues the log, and a channel that is closed at the next change.
func (v *view) now() (at store.Position, m store.Mark, synced bool, changed <-chan struct{}) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.at, v.mark, v.synced, v.changed
}

// set makes at the place, behind which the log is followed.
func (v *view) set(at store.Position, m store.Mark) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.at, v.mark, v.synced, v.pulses = at, m, true, nil
	v.broadcastLocked()
}

// lose notes a gap: what was applied is no part of the log any more.
func (v *view) lose() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.synced, v.pulses = false, nil
	v.seen.Store(-1)
	v.broadcastLocked()
}

// advance notes that the log is applied up to at.
func (v *view) advance(at store.Position, m store.Mark) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.at, v.mark = at, m
	v.reachLocked()
	v.broadcastLocked()
}

// pulse notes what a pulse has shown that began when the log was applied up to applied. It reports whether the log has lost that since.
func (v *view) pulse(began time.Time, applied store.Position, p store.Pulse) (lost bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.synced {
		return false
	}
	if p.Mark.Log != v.mark.Log || p.End.N < applied.N || p.End.N == applied.N && p.End.ID != applied.ID {
		return true
	}
	if len(v.pulses) < 64 { // more of them are reached no earlier
		v.pulses = append(v.pulses, target{began.Sub(v.start), time.Since(v.start), p.End.N})
	}
	v.reachLocked()
	return false
}

// stuck reports whether a read that began at some time and found nothing has missed what a pulse before had shown.
func (v *view) stuck(began time.Time) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.pulses) > 0 && v.pulses[0].ended < began.Sub(v.start)
}

// reachLocked takes the pulses whose end is applied.
func (v *view) reachLocked() {
	for len(v.pulses) > 0 && v.pulses[0].n <= v.at.N {
		if !v.live() {
			v.breaks.Add(1) // before it is live again
		}
		v.seen.Store(max(v.seen.Load(), int64(v.pulses[0].began)))
		v.pulses = v.pulses[1:]
		v.broadcastLocked()
	}
}

func (v *view) broadcastLocked() {
	close(v.changed)
	v.changed = make(chan struct{})
}
