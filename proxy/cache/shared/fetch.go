package shared

import (
	"context"
	"errors"
	"time"

	"github.com/sony/gobreaker/v2"

	"reprise/policy"
	"reprise/proxy/cache"
	"reprise/store"
)

// Why an answer is not served, though one may be stored. Neither is a fault.
var (
	// errDeaf: this member may have missed a purge.
	errDeaf = errors.New("the log of the shared store could not be followed for too long")
	// errMoved: the store has changed in a way that this member has not applied yet.
	errMoved = errors.New("the shared store has changes that are not applied here yet")
)

// newBreaker leaves the store alone after five faults of fetches in a row, and tries it once a second.
func newBreaker() *gobreaker.CircuitBreaker[store.Fetched] {
	return gobreaker.NewCircuitBreaker[store.Fetched](gobreaker.Settings{
		Timeout:     time.Second,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= 5 },
		// A caller that has left says nothing about the store, neither good nor bad.
		IsExcluded: func(err error) bool { return errors.Is(err, context.Canceled) },
	})
}

// Fetch implements cache.Remote. The answers of next come into the near-cache.
func (s *Shared) Fetch(ctx context.Context, k store.Key, known *store.Entry, next func() []*store.Entry) (*store.Entry, error) {
	own, barred := s.queue.answer(k, known)
	switch {
	case own != nil && (s.view.live() || s.queue.unsent(own)):
		s.count.nearHits.Add(1)
		return own, nil
	case !s.view.live():
		s.count.deaf.Add(1)
		return nil, errDeaf
	case own != nil || barred || known != nil && s.purges.names(known):
		s.count.refusedMark.Add(1)
		return nil, errMoved
	case known != nil:
		if e := s.near.get(known); e != nil {
			s.count.nearHits.Add(1)
			return e, nil
		}
	}
	var more []store.Key
	if known != nil && next != nil {
		more = s.missing(next())
	}
	got, err := s.breaker.Execute(func() (store.Fetched, error) {
		ctx, cancel := context.WithTimeout(ctx, FetchTimeout)
		defer cancel()
		if known != nil {
			return s.opt.Link.Answers.Fetch(ctx, k, more...)
		}
		return s.opt.Link.Answers.FetchOrLease(ctx, k, leadTTL)
	})
	s.count.fetches.Add(1)
	s.leads.fetched(k, got.Leased, err)
	if err != nil {
		s.fetchFault(ctx, err)
		return nil, err
	}
	for _, one := range got.More {
		_, _ = s.judge(one) // which puts it into the near-cache, if it may be served
	}
	return s.judge(got)
}

// missing returns the keys of those of some entries whose answers are not at hand and may be served.
func (s *Shared) missing(of []*store.Entry) (keys []store.Key) {
	for _, e := range of {
		if own, barred := s.queue.answer(e.Key, e); own == nil && !barred && !s.purges.names(e) && s.near.get(e) == nil {
			keys = append(keys, e.Key)
		}
	}
	return keys
}

// fetchFault counts an error of a fetch.
func (s *Shared) fetchFault(ctx context.Context, err error) {
	var timed interface{ Timeout() bool } // context.DeadlineExceeded, or that of a connection
	switch {
	case errors.As(err, &timed) && timed.Timeout() && ctx.Err() == nil:
		s.count.timeouts.Add(1)
	case errors.Is(err, gobreaker.ErrOpenState), errors.Is(err, gobreaker.ErrTooManyRequests):
		s.count.broken.Add(1)
		return
	}
	if ctx.Err() == nil {
		s.fault("fetch", err)
	}
}

// judge returns an answer that was fetched, if it may be served. The mark applied here is read after the fetch: where it is that of the
// fetch, every purge of then has been made here, and an entry that was written before the last of them survived it if it is resident.
func (s *Shared) judge(got store.Fetched) (*store.Entry, error) {
	_, mark, synced, _ := s.view.now()
	if !synced || got.Now != mark || got.Entry != nil && s.purges.names(got.Entry) {
		s.count.refusedMark.Add(1)
		s.pulse.wake.ring()
		return nil, errMoved
	}
	e := got.Entry
	if e == nil {
		return nil, nil
	}
	if got.Written != mark {
		if _, resident := s.cache.Get(e.ID); !resident {
			s.count.refusedMark.Add(1)
			return nil, nil
		}
	}
	s.near.put(e)
	return e, nil
}

// Serves implements cache.Remote.
func (s *Shared) Serves(e *store.Entry) bool {
	return s.view.live() && !s.purges.names(e) || s.queue.unsent(e)
}

// Follows implements cache.Remote.
func (s *Shared) Follows() (breaks uint64, now bool) {
	breaks = s.view.breaks.Load()
	return breaks, s.view.live()
}

// Appended implements cache.Remote: an insertion has a claim until it was read from the log, or dropped.
func (s *Shared) Appended(ctx context.Context, id policy.ID) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	for {
		_, _, _, changed := s.view.now()
		if !s.queue.claimed(id) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Read implements cache.Log.
func (s *Shared) Read(ev *cache.Event, _ *cache.Cause) {
	_, removed := ev.Reason()
	if removed {
		s.near.drop(ev.Key)
	}
	if ev.Applied {
		s.readApplied(ev, removed)
		if !removed || !s.purging.Load() {
			return
		}
	}
	own := *ev
	switch {
	case ev.Kind == store.EventInsert:
		s.near.put(ev.Entry)
	case ev.Kind == store.EventUse || ev.Kind == store.EventArrive:
		own.Entry, own.Vector = nil, nil // the entry is known everywhere
	}
	s.queue.add(&own)
}

// readApplied follows an event that was read from the log.
func (s *Shared) readApplied(ev *cache.Event, removed bool) {
	switch {
	case removed:
		s.queue.cancel(ev.ID)
	case ev.Kind == store.EventInsert:
		s.near.drop(ev.Entry.Key)
		s.leads.stored(ev.Entry.Key)
	}
}

// Overrides implements cache.Log.
func (s *Shared) Overrides(ev *cache.Event) bool { return s.queue.overrides(ev) }
