package shared

import (
	"context"
	"errors"
	"time"

	"reprise/store"
)

const (
	backoffFirst = 20 * time.Millisecond
	backoffMost  = time.Second
)

// sender appends own events to the log: purges first, and others while this member is live. It waits for one call at a time: what is added
// meanwhile is the next batch.
type sender struct {
	*Shared
	backoff time.Duration
	purged  store.Mark // after the last purge that was appended
	full    bool       // the server took no insertions at the last attempt
}

func (s *sender) run(ctx context.Context) {
	for ctx.Err() == nil {
		s.guarded(ctx, "drop", s.dropOrphans)
		_, _, _, changed := s.view.now()
		var wait time.Duration
		err := guard(func() (err error) {
			wait, err = s.step(ctx)
			return err
		})
		switch {
		case errors.Is(err, store.ErrPurged): // the follower reads the purge
			s.count.refused.Add(1)
			s.pulse.kick()
			wait = backoffFirst
		case err != nil && ctx.Err() == nil:
			s.fault("append", err)
			s.backoff = min(max(2*s.backoff, backoffFirst), backoffMost)
			s.pause(ctx)
			continue
		default:
			s.backoff = 0
		}
		if wait != 0 {
			s.await(ctx, wait, changed)
		}
	}
}

// step appends one purge or batch, and returns how long to wait for the next: 0 is not at all, negative is until something changes.
func (s *sender) step(ctx context.Context) (wait time.Duration, err error) {
	if !s.joined.Load() {
		return -1, nil
	}
	limit, cancel := context.WithTimeout(ctx, s.opt.CallTimeout)
	defer cancel()
	_, mark, synced, _ := s.view.now() // before the purge or the batch is taken: the mark does not have the purge then, see take for the batch
	if one, serial, filter := s.purges.next(s.queue.nextSerial); one != nil {
		return 0, s.purge(limit, one, serial, filter, mark, synced)
	}
	if !synced || !s.view.live() || mark.Log == s.purged.Log && mark.Purges < s.purged.Purges {
		return -1, nil // before an own purge is applied the store takes nothing, and to repeat a batch of before it would show nothing: its serial is used
	}
	if err := s.finish(limit); err != nil {
		return 0, err
	}
	if wait := s.queue.ready(time.Now()); wait != 0 {
		return wait, nil
	}
	return 0, s.append(ctx, mark)
}

// append appends what waits: after an attempt that found the server full, only the removals, if there are any.
func (s *sender) append(ctx context.Context, mark store.Mark) error {
	b := s.queue.take(mark, s.full)
	if s.full = false; b == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.opt.CallTimeout+b.transfer)
	defer cancel()
	end, err := s.opt.Link.Log.Append(ctx, b.mark, b.serial, b.events)
	at, now, _, _ := s.view.now()
	switch {
	case errors.Is(err, store.ErrGap) && now == b.mark:
		s.view.lose()
		fallthrough
	case errors.Is(err, store.ErrPurged), errors.Is(err, store.ErrGap):
		s.queue.refused()
		return store.ErrPurged
	case errors.Is(err, store.ErrFull):
		s.queue.refused()
		s.full = true
		return err
	case err != nil:
		return err
	}
	if s.queue.appended(b.serial, end.N, at.N) {
		s.view.lose()
	}
	s.count.batches.Add(1)
	s.leads.kick()
	return nil
}

// pause waits for the next attempt; a purge does not wait.
func (s *sender) pause(ctx context.Context) {
	t := time.NewTimer(s.backoff)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.purges.added:
	case <-ctx.Done():
	}
}

// purge appends a purge that is not applied under before, the mark applied here when synced.
func (s *sender) purge(ctx context.Context, one *purge, serial uint64, f store.Filter, before store.Mark, synced bool) error {
	after, err := s.opt.Link.Log.Purge(ctx, serial, f)
	s.purges.attempted(one, serial, err)
	if err != nil {
		return err
	}
	s.purged = after
	if synced && after.Log == before.Log && after.Purges <= before.Purges {
		s.view.lose() // it has lost purges that were applied here
	}
	return nil
}

// finish notes the purges that are finished. Where removals were dropped, none is: what they removed is loaded, and leaves again.
func (s *sender) finish(ctx context.Context) error {
	lost, empty := s.queue.lacks()
	if lost && empty {
		s.view.lose()
	}
	done, upTo := s.purges.finished(s.queue.has)
	if len(done) == 0 {
		return nil
	}
	if err := s.opt.Link.Log.Finish(ctx, done...); err != nil {
		return err
	}
	s.purges.forget(upTo)
	return nil
}

// await waits until there is more to append, the view changes, or some time has passed; negative is for ever.
func (s *sender) await(ctx context.Context, wait time.Duration, changed <-chan struct{}) {
	var timer <-chan time.Time
	if wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		timer = t.C
	}
	select {
	case <-s.queue.wake:
	case <-changed:
	case <-timer:
	case <-ctx.Done():
	}
}

// dropOrphans removes entries from the cache whose insertion was dropped: no other member will have them.
func (s *sender) dropOrphans(ctx context.Context) {
	for _, e := range s.queue.takeOrphans() {
		if err := s.cache.Drop(ctx, e); err != nil {
			s.fault("drop", err)
		}
	}
}
