package shared

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"reprise/store"
)

// leads are the flights of this process that have the lease of their key, and the requests that wait for those of others. A lease is
// renewed while its flight lasts, and released when its answer is in the shared store; that of a process that died expires.
type leads struct {
	s       *Shared
	wake    chan struct{}
	anyWait atomic.Int32

	mu      sync.Mutex // protects the rest
	held    map[store.Key]struct{}
	ended   map[store.Key]time.Time // to be released; since when
	waiting map[store.Key][]chan struct{}
}

func newLeads(s *Shared) *leads {
	return &leads{s: s, wake: make(chan struct{}, 1), held: map[store.Key]struct{}{}, ended: map[store.Key]time.Time{},
		waiting: map[store.Key][]chan struct{}{}}
}

func (l *leads) kick() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Lead gets the lease of a key for a flight that is to ask the upstream, or waits while another member has it. again reports that the
// caller waited, so that the answer may be stored by now: it looks the key up again. The caller calls done when its flight has ended and
// its answer was kept, whatever again is. The wait ends with the answer, with the lease, with ctx, or after LeadWait; where the shared
// store cannot be asked there is none.
func (s *Shared) Lead(ctx context.Context, k store.Key) (again bool, done func()) {
	l := s.leads
	ctx, cancel := context.WithTimeout(ctx, s.opt.LeadWait)
	defer cancel()
	for {
		stored, leave := l.watch(k)
		mine, err := l.lease(ctx, k)
		if mine || err != nil {
			leave()
			if err == errDeaf {
				return again, func() {}
			}
			return again, func() { l.end(k) }
		}
		again = true
		more := l.wait(ctx, stored)
		leave()
		if !more {
			s.count.followed.Add(1)
			return true, func() {}
		}
	}
}

// wait waits for an answer, and reports whether to ask for the lease again instead.
func (l *leads) wait(ctx context.Context, stored <-chan struct{}) (more bool) {
	t := time.NewTimer(l.s.opt.LeadTTL / 8)
	defer t.Stop()
	select {
	case <-stored:
		return false
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// lease asks for the lease of a key. An error is no fault of the request's. After one the lease counts as taken, because the shared store may have
// given it and the reply was lost or late: nobody would release it otherwise, and others would wait until it expires. To renew or release the
// lease of another member changes nothing.
func (l *leads) lease(ctx context.Context, k store.Key) (mine bool, err error) {
	if !l.s.view.live() {
		return false, errDeaf
	}
	ctx, cancel := context.WithTimeout(ctx, l.s.opt.FetchTimeout)
	defer cancel()
	mine, err = l.s.opt.Link.Leases.Lease(ctx, k, l.s.opt.LeadTTL)
	if err != nil {
		l.s.fault("lease", err)
	}
	if mine || err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.held[k] = struct{}{}
		delete(l.ended, k)
	}
	return mine, err
}

// watch returns a channel that is closed when another member has stored an answer under k.
func (l *leads) watch(k store.Key) (stored <-chan struct{}, leave func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := make(chan struct{})
	l.waiting[k] = append(l.waiting[k], c)
	l.anyWait.Add(1)
	return c, func() { l.leave(k, c) }
}

func (l *leads) leave(k store.Key, c chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.anyWait.Add(-1)
	rest := l.waiting[k][:0]
	for _, other := range l.waiting[k] {
		if other != c {
			rest = append(rest, other)
		}
	}
	if l.waiting[k] = rest; len(rest) == 0 {
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
	for _, c := range l.waiting[k] {
		select {
		case <-c:
		default:
			close(c)
		}
	}
}

func (l *leads) end(k store.Key) {
	l.mu.Lock()
	delete(l.held, k)
	l.ended[k] = time.Now()
	l.mu.Unlock()
	l.kick()
}

// run renews and releases.
func (l *leads) run(ctx context.Context) {
	tick := time.NewTicker(l.s.opt.LeadTTL / 3)
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
	keys := make([]store.Key, 0, len(l.held)+len(l.ended))
	for k := range l.held {
		keys = append(keys, k)
	}
	for k := range l.ended {
		keys = append(keys, k)
	}
	l.mu.Unlock()
	if len(keys) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, l.s.opt.CallTimeout)
	defer cancel()
	if err := l.s.opt.Link.Leases.Renew(ctx, l.s.opt.LeadTTL, keys...); err != nil {
		l.s.fault("lease", err)
	}
}

// release gives back the leases of flights whose answers do not wait in the queue any more: a member that gets the lease then finds the
// answer in the shared store.
func (l *leads) release(ctx context.Context) {
	var keys []store.Key
	l.mu.Lock()
	for k, since := range l.ended {
		late := time.Since(since) > l.s.opt.LeadTTL
		if !l.s.queue.claims.pending(k) || late {
			delete(l.ended, k)
			keys = append(keys, k)
		}
	}
	l.mu.Unlock()
	if len(keys) == 0 || !l.s.view.live() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, l.s.opt.CallTimeout)
	defer cancel()
	if err := l.s.opt.Link.Leases.Release(ctx, keys...); err != nil {
		l.s.fault("lease", err)
	}
}
