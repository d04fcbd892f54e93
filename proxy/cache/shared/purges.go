package shared

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"reprise/store"
)

const (
	knownMost    = 256         // purges that are remembered
	reassertable = time.Minute // a store that lost changes has lost the latest ones
	pendingMost  = 1024
)

// errNotSent is why a purge is not certain to hold elsewhere.
var errNotSent = errors.New("the shared store has not taken the purge yet; it is sent first when it can be reached")

// purge is one of this process that was not read from the log yet.
type purge struct {
	filter  store.Filter
	serial  uint64        // given when it is appended first, so that serials are appended in order; 0 before
	made    time.Time     // what it repeats was made then
	again   bool          // it repeats one that the shared store has lost, or not finished
	repeats []store.Mark  // those that are unfinished
	tried   chan struct{} // closed after the first attempt to append it, with err set
	err     error
	applied chan struct{} // closed when it was read from the log, with at set
	at      store.Position
}

// purges are those that this process has still to append, and those that were applied: a store that lost changes may have lost the latter.
type purges struct {
	waiting atomic.Int32 // len(pending)
	added   bell         // rings with each that is added

	mu      sync.Mutex // protects the rest
	pending []*purge   // in order
	known   []knownPurge
	made    uint64          // how many were applied, ever
	mark    store.Mark      // the last that Count has returned, or a later one
	left    map[uint64]left // logs in place of which another one was found
	ending  []ending        // in order
}

// ending is a purge of this process that was applied here: it is finished when the own changes up to one of them are in the shared store.
type ending struct {
	marks []store.Mark
	after uint64
}

// left is a log as it was before another took its place.
type left struct{ purges, made uint64 }

type knownPurge struct {
	filter store.Filter
	mark   store.Mark
	made   time.Time
}

func newPurges() *purges { return &purges{added: newBell(), left: map[uint64]left{}} }

// add makes a purge wait to be appended, and returns what is closed when that was tried. Too many become one of everything. One that is repeated
// is for all of its filter that are repeated, and waits once: members that repeat each other's purges would make more of them at every load.
func (p *purges) add(f store.Filter, made time.Time, again bool) (one *purge, tried <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if again {
		if at := slices.IndexFunc(p.pending, func(one *purge) bool { return one.again && one.filter == f }); at >= 0 {
			one = p.pending[at]
			if made.After(one.made) {
				one.made = made
			}
			return one, one.tried
		}
	}
	one = &purge{filter: f, made: made, again: again, tried: make(chan struct{}), applied: make(chan struct{})}
	if len(p.pending) >= pendingMost {
		one = p.pending[len(p.pending)-1]
		if one.sent() {
			one.tried = make(chan struct{})
		}
		one.filter, one.serial, one.again = store.Filter{}, 0, one.again || again // what may be appended by now has another filter
		return one, one.tried
	}
	p.pending = append(p.pending, one)
	p.waiting.Store(int32(len(p.pending)))
	p.added.ring()
	return one, one.tried
}

// next is the first purge that was not appended yet, nil where there is none.
func (p *purges) next(serial func() uint64) (one *purge, given uint64, f store.Filter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.pending {
		if one.sent() {
			continue
		}
		if one.serial == 0 {
			one.serial = serial()
		}
		return one, one.serial, one.filter
	}
	return nil, 0, store.Filter{}
}

func (one *purge) sent() bool {
	select {
	case <-one.tried:
		return one.err == nil
	default:
		return false
	}
}

// attempted notes the outcome of an attempt to append one under a serial.
func (p *purges) attempted(one *purge, serial uint64, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if one.serial != serial { // it is to be appended again: there was a gap in the log meanwhile, or it has another filter now
		return
	}
	one.err = err
	select {
	case <-one.tried:
	default:
		close(one.tried)
	}
}

// names reports whether a purge that other members may not have seen yet selects e. The cache has made it already.
func (p *purges) names(e *store.Entry) bool {
	if p.waiting.Load() == 0 {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.pending, func(one *purge) bool { return one.filter.Matches(e) })
}

// applied notes a purge that was read from the log and made here. own is that of this process with the serial, nil for others, and last the
// number of the last own change.
func (p *purges) applied(l *store.Logged, own *purge, last uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	made := time.Now()
	if own != nil && own.again {
		made = own.made
	}
	p.made++
	p.countLocked(l.Mark)
	p.known = append(p.known, knownPurge{*l.Purge, l.Mark, made})
	if len(p.known) > knownMost {
		p.known = slices.Delete(p.known, 0, len(p.known)-knownMost)
	}
	if own == nil {
		return
	}
	own.at = l.Position
	p.ending = append(p.ending, ending{append(own.repeats, l.Mark), last})
	close(own.applied)
	p.pending = slices.DeleteFunc(p.pending, func(one *purge) bool { return one == own })
	p.waiting.Store(int32(len(p.pending)))
}

// Count is the mark of the shared store with the purges of this process that are not in its log yet: a purge has raised the number before it
// returns, here and in all members that it waits for, and all have the same number again when they have applied the same purges. It continues
// after a restart. Without the server it counts on from the last mark.
func (s *Shared) Count() store.Mark {
	_, at, _, _ := s.view.now()
	p := s.purges
	p.mu.Lock()
	defer p.mu.Unlock()
	at.Purges += uint64(len(p.pending))
	return p.countLocked(at)
}

// countLocked returns the count where the mark is at. It does not decrease while an own purge is in the log and its mark not in force yet.
func (p *purges) countLocked(at store.Mark) store.Mark {
	if at.Log == p.mark.Log {
		at.Purges = max(at.Purges, p.mark.Purges)
	}
	p.mark = at
	return at
}

// finished returns the purges that are finished: has reports whether an own change up to one is still to be appended, and whether removals
// were dropped.
func (p *purges) finished(has func(uint64) (waits, lost bool)) (marks []store.Mark, upTo uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.ending {
		if waits, lost := has(one.after); waits || lost {
			break
		}
		marks, upTo = append(marks, one.marks...), one.after
	}
	return marks, upTo
}

// forget drops those that finished has returned.
func (p *purges) forget(upTo uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ending = slices.DeleteFunc(p.ending, func(one ending) bool { return one.after <= upTo })
}

// own is the pending purge with a serial, nil where there is none.
func (p *purges) own(serial uint64) *purge {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.pending {
		if one.serial == serial {
			return one
		}
	}
	return nil
}

// lost returns what a store may have lost between two marks around a gap in its log: by the count of its purges, or because they are young.
// Purges that it has lost and that are not remembered any more are repeated as one of everything.
func (p *purges) lost(before, after store.Mark) (again []knownPurge) {
	p.mu.Lock()
	defer p.mu.Unlock()
	same := before.Log == after.Log
	counted := uint64(0)
	for _, k := range p.known {
		missing := same && k.mark.Log == after.Log && k.mark.Purges > after.Purges
		if missing {
			counted++
		}
		if missing || time.Since(k.made) < reassertable {
			again = append(again, k)
		}
	}
	p.known = nil  // they come back from the log
	p.ending = nil // they are unfinished in the store
	if p.returnedLocked(before, after) || same && before.Purges > after.Purges && counted < before.Purges-after.Purges {
		again = append(again, knownPurge{made: time.Now()})
	}
	for _, one := range p.pending { // appended before the gap, or not: they are appended again
		if one.serial = 0; one.sent() {
			one.tried = make(chan struct{}) // otherwise a caller may wait for the first attempt
		}
	}
	return again
}

// returnedLocked reports whether a log is back that was left, as from a backup, and lacks purges: its own, or those of the log between.
func (p *purges) returnedLocked(before, after store.Mark) bool {
	if before.Log == after.Log {
		return false
	}
	p.left[before.Log] = left{before.Purges, p.made}
	was, known := p.left[after.Log]
	return known && (was.made != p.made || after.Purges < was.purges)
}

// repeat makes the purges again that others, or this process before a gap in the log, have not finished: what they name may be among the
// entries that are loaded next. Until then nothing of that is served.
func (s *Shared) repeat(p store.Pulse) {
	for _, u := range p.Unfinished {
		one, _ := s.purges.add(u.Filter, time.Now(), true)
		s.purges.mu.Lock()
		one.repeats = append(one.repeats, store.Mark{Log: p.Mark.Log, Purges: u.Purges})
		s.purges.mu.Unlock()
		s.count.repeated.Add(1)
	}
}

// Purge appends a purge that was made in this process, and waits until every member has made it or, since it learns nothing of the log,
// serves nothing that the purge could name, for the grace at most; and until what it names has left the shared store. An error says that
// this is not certain yet.
func (s *Shared) Purge(ctx context.Context, f store.Filter) error {
	one, tried := s.purges.add(f, time.Now(), false)
	s.queue.wake.ring()
	limit, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	select {
	case <-tried:
	case <-limit.Done():
		return errNotSent
	}
	s.purges.mu.Lock()
	err := one.err
	s.purges.mu.Unlock()
	if err != nil {
		return errors.Join(errNotSent, err)
	}
	limit, cancel = context.WithTimeout(ctx, s.opt.grace)
	defer cancel()
	s.everywhere(limit, one)
	if err := ctx.Err(); err != nil { // before the grace has passed
		return err
	}
	return s.removed(ctx, one)
}

// removed waits until the removals of a purge are appended: until then a member that starts loads what was purged. It gives up where nothing
// is appended for some time.
func (s *Shared) removed(ctx context.Context, one *purge) error {
	select {
	case <-one.applied:
	case <-time.After(callTimeout):
		return errNotSent
	}
	last, batches, moved := s.queue.last(), s.count.batches.Load(), time.Now()
	for {
		if waits, _ := s.queue.has(last); !waits {
			return nil
		}
		if now := s.count.batches.Load(); now != batches {
			batches, moved = now, time.Now()
		}
		if time.Since(moved) > callTimeout || !sleep(ctx, 5*time.Millisecond) {
			return errNotSent
		}
	}
}

// everywhere waits until all members have applied a purge, or until ctx ends.
func (s *Shared) everywhere(ctx context.Context, one *purge) {
	select {
	case <-one.applied:
	case <-ctx.Done():
		return
	}
	for {
		beats := s.pulse.changed()
		if s.pulse.appliedBy(one.at.N) {
			return
		}
		s.pulse.wake.ring()
		select {
		case <-beats:
		case <-ctx.Done():
			return
		}
		if !sleep(ctx, 10*time.Millisecond) {
			return
		}
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
