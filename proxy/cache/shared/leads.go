package shared

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"

	"reprise/store"
)

// leads are the flights of this process that have the lease of their key, and the requests that wait for flights of others. A lease is
// renewed while its flight lasts, and released when its answer is in the shared store; the lease of a process that died expires.
type leads struct {
	s       *Shared
	wake    bell
	anyWait atomic.Int32

	mu      sync.Mutex // protects the rest
	fetches map[store.Key]leased
	held    map[store.Key]struct{}
	ended   map[store.Key]time.Time // to be released; since when
	waiting map[store.Key][]*waiter
}

// waiter is a request that waits for the flight of another member.
type waiter struct {
	stored chan struct{} // closed when an answer is stored
	leased bell          // rings when the fetch of another request has brought the lease: its reply came later than the question of this one
}

// fetchedLease is how long a lease that a fetch has brought waits for a flight. Other members wait that much longer for a request that makes none.
const fetchedLease = leadTTL / 8

// leased is what the fetch of a request has brought of the lease of its key, for the flight that the request may make: a miss asks the store once
// for both, and a store that answers late delays it once.
type leased struct {
	at    time.Time
	taken bool  // the lease, or it may be: the reply was lost or late
	err   error // of the fetch
}

func newLeads(s *Shared) *leads {
	return &leads{s: s, wake: newBell(), fetches: map[store.Key]leased{}, held: map[store.Key]struct{}{},
		ended: map[store.Key]time.Time{}, waiting: map[store.Key][]*waiter{}}
}

// Lead gets the lease of a key for a flight that is to ask the upstream, or waits while another member has it. again reports that the
// caller waited, so that the answer may be stored by now: it looks the key up again. The caller calls done when its flight has ended and
// its answer was kept, whatever again is. The wait ends with the answer, with the lease, with ctx, or after leadWait; where the shared
// store cannot be asked there is none.
func (s *Shared) Lead(ctx context.Context, k store.Key) (again bool, done func()) {
	l := s.leads
	ctx, cancel := context.WithTimeout(ctx, leadWait)
	defer cancel()
	for {
		w, leave := l.watch(k)
		mine, taken, err := l.lease(ctx, k)
		if mine || err != nil {
			leave()
			if !taken {
				return again, func() {}
			}
			return again, func() { l.end(k) }
		}
		again = true
		more := w.wait(ctx)
		leave()
		if !more {
			s.count.followed.Add(1)
			return true, func() {}
		}
	}
}

// wait waits for an answer, and reports whether to ask for the lease again instead.
func (w *waiter) wait(ctx context.Context) (more bool) {
	t := time.NewTimer(leadTTL / 8)
	defer t.Stop()
	select {
	case <-w.stored:
		return false
	case <-ctx.Done():
		return false
	case <-w.leased:
		return true
	case <-t.C:
		return true
	}
}

// fetched notes what a fetch has brought of the lease of k. An error with which the store was not asked has brought none.
func (l *leads) fetched(k store.Key, mine bool, err error) {
	asked := !errors.Is(err, gobreaker.ErrOpenState) && !errors.Is(err, gobreaker.ErrTooManyRequests)
	l.mu.Lock()
	defer l.mu.Unlock()
	before, known := l.fetches[k]
	switch _, held := l.held[k]; {
	case !mine && err == nil:
		if known && before.err != nil { // of another request: the store answers again, and is asked
			l.abandonLocked(k, before)
			l.wake.ring()
		}
	case !held:
		l.fetches[k] = leased{at: time.Now(), taken: mine || asked, err: err}
		time.AfterFunc(fetchedLease, l.wake.ring)
		for _, w := range l.waiting[k] {
			if mine {
				w.leased.ring()
			}
		}
	}
}

func (l *leads) abandonLocked(k store.Key, one leased) {
	delete(l.fetches, k)
	if one.taken {
		l.ended[k] = time.Now()
	}
}

// lease returns the lease of a key that the fetch of a request has brought, or asks for it. An error is no fault of the request's. After one the
// lease counts as taken, because the shared store may have given it and the reply was lost or late: nobody would release it otherwise, and others
// would wait until it expires. To renew or release the lease of another member changes nothing.
func (l *leads) lease(ctx context.Context, k store.Key) (mine, taken bool, err error) {
	if !l.s.view.live() {
		return false, false, errDeaf
	}
	l.mu.Lock()
	one, known := l.fetches[k]
	delete(l.fetches, k)
	l.mu.Unlock()
	if !known {
		ctx, cancel := context.WithTimeout(ctx, FetchTimeout)
		defer cancel()
		mine, err := l.s.opt.Link.Leases.Lease(ctx, k, leadTTL)
		if err != nil {
			l.s.fault("lease", err)
		}
		one = leased{taken: mine || err != nil, err: err}
	}
	if one.taken {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.held[k] = struct{}{}
		delete(l.ended, k)
	}
	return one.taken && one.err == nil, one.taken, one.err
}

// watch begins to wait for what happens to k.
func (l *leads) watch(k store.Key) (w *waiter, leave func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w = &waiter{make(chan struct{}), newBell()}
	l.waiting[k] = append(l.waiting[k], w)
	l.anyWait.Add(1)
	return w, func() { l.leave(k, w) }
}

func (l *leads) leave(k store.Key, w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.anyWait.Add(-1)
	l.waiting[k] = slices.DeleteFunc(l.waiting[k], func(other *waiter) bool { return other == w })
	if len(l.waiting[k]) == 0 {
		delete(l.waiting, k)
	}
}

// stored ends the waits for a key. It is called under the lock of the cache.
func (l *leads) stored(k store.Key) {
	if l.anyWait.Load() == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.waiting[k] {
		select {
		case <-w.stored:
		default:
			close(w.stored)
		}
	}
}

func (l *leads) end(k store.Key) {
	l.mu.Lock()
	delete(l.held, k)
	l.ended[k] = time.Now()
	l.mu.Unlock()
	l.wake.ring()
}

// run renews and releases.
func (l *leads) run(ctx context.Context) {
	tick := time.NewTicker(leadTTL / 3)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			l.s.guarded(ctx, "lease", l.renew)
		case <-l.wake:
		case <-ctx.Done():
			return
		}
		l.s.guarded(ctx, "lease", l.release)
	}
}

func (l *leads) renew(ctx context.Context) {
	l.mu.Lock()
	keys := slices.AppendSeq(slices.Collect(maps.Keys(l.held)), maps.Keys(l.ended))
	l.mu.Unlock()
	if len(keys) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if err := l.s.opt.Link.Leases.Renew(ctx, leadTTL, keys...); err != nil {
		l.s.fault("lease", err)
	}
}

// release gives back the leases of flights whose answers do not wait in the queue any more: a member that gets the lease then finds the
// answer in the shared store.
func (l *leads) release(ctx context.Context) {
	var keys []store.Key
	l.mu.Lock()
	for k, one := range l.fetches {
		if time.Since(one.at) >= fetchedLease { // of a request that has made no flight; one that searches for longer asks again
			l.abandonLocked(k, one)
		}
	}
	for k, since := range l.ended {
		late := time.Since(since) > leadTTL
		if !l.s.queue.pending(k) || late {
			delete(l.ended, k)
			keys = append(keys, k)
		}
	}
	l.mu.Unlock()
	if len(keys) == 0 || !l.s.view.live() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if err := l.s.opt.Link.Leases.Release(ctx, keys...); err != nil {
		l.s.fault("lease", err)
	}
}
