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
	s       *Shared
	backoff time.Duration
	purged  store.Mark // after the last purge that was appended
	full    bool       // the server took no insertions at the last attempt
}

func (w *sender) run(ctx context.Context) {
	for ctx.Err() == nil {
		w.s.guarded(ctx, "drop", w.dropOrphans)
		_, _, _, changed := w.s.view.now()
		var wait time.Duration
		err := guard(func() (err error) {
			wait, err = w.step(ctx)
			return err
		})
		switch {
		case errors.Is(err, store.ErrPurged): // the follower reads the purge
			w.s.count.refused.Add(1)
			w.s.pulse.wake.ring()
			wait = backoffFirst
		case err != nil && ctx.Err() == nil:
			w.s.fault("append", err)
			w.backoff = min(max(2*w.backoff, backoffFirst), backoffMost)
			w.pause(ctx)
			continue
		default:
			w.backoff = 0
		}
		if wait != 0 {
			w.await(ctx, wait, changed)
		}
	}
}

// step appends one purge or batch, and returns how long to wait for the next: 0 is not at all, negative is until something changes.
func (w *sender) step(ctx context.Context) (wait time.Duration, err error) {
	if !w.s.joined.Load() {
		return -1, nil
	}
	limit, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, mark, synced, _ := w.s.view.now() // before the purge or the batch is taken: the mark does not have the purge then, see take for the batch
	if one, serial, filter := w.s.purges.next(w.s.queue.nextSerial); one != nil {
		return 0, w.purge(limit, one, serial, filter, mark, synced)
	}
	if !synced || !w.s.view.live() || mark.Log == w.purged.Log && mark.Purges < w.purged.Purges {
		return -1, nil // before an own purge is applied the store takes nothing, and to repeat a batch of before it would show nothing: its serial is used
	}
	if err := w.finish(limit); err != nil {
		return 0, err
	}
	if wait := w.s.queue.ready(time.Now()); wait != 0 {
		return wait, nil
	}
	return 0, w.append(ctx, mark)
}

// append appends what waits: after an attempt that found the server full, only the removals, if there are any.
func (w *sender) append(ctx context.Context, mark store.Mark) error {
	b := w.s.queue.take(mark, w.full)
	if w.full = false; b == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout+b.transfer)
	defer cancel()
	end, err := w.s.opt.Link.Log.Append(ctx, b.mark, b.serial, b.events)
	at, now, _, _ := w.s.view.now()
	switch {
	case errors.Is(err, store.ErrGap) && now == b.mark:
		w.s.view.lose()
		fallthrough
	case errors.Is(err, store.ErrPurged), errors.Is(err, store.ErrGap):
		w.s.queue.refused()
		return store.ErrPurged
	case errors.Is(err, store.ErrFull):
		w.s.queue.refused()
		w.full = true
		return err
	case err != nil:
		return err
	}
	if w.s.queue.appended(b.serial, end.N, at.N) {
		w.s.view.lose()
	}
	w.s.count.batches.Add(1)
	w.s.leads.wake.ring()
	return nil
}

// pause waits for the next attempt; a purge does not wait.
func (w *sender) pause(ctx context.Context) {
	t := time.NewTimer(w.backoff)
	defer t.Stop()
	select {
	case <-t.C:
	case <-w.s.purges.added:
	case <-ctx.Done():
	}
}

// purge appends a purge that is not applied under before, the mark applied here when synced.
func (w *sender) purge(ctx context.Context, one *purge, serial uint64, f store.Filter, before store.Mark, synced bool) error {
	after, err := w.s.opt.Link.Log.Purge(ctx, serial, f)
	w.s.purges.attempted(one, serial, err)
	if err != nil {
		return err
	}
	w.purged = after
	if synced && after.Log == before.Log && after.Purges <= before.Purges {
		w.s.view.lose() // it has lost purges that were applied here
	}
	return nil
}

// finish notes the purges that are finished. Where removals were dropped, none is: what they removed is loaded, and leaves again.
func (w *sender) finish(ctx context.Context) error {
	lost, empty := w.s.queue.lacks()
	if lost && empty {
		w.s.view.lose()
	}
	done, upTo := w.s.purges.finished(w.s.queue.has)
	if len(done) == 0 {
		return nil
	}
	if err := w.s.opt.Link.Log.Finish(ctx, done...); err != nil {
		return err
	}
	w.s.purges.forget(upTo)
	return nil
}

// await waits until there is more to append, the view changes, or some time has passed; negative is for ever.
func (w *sender) await(ctx context.Context, wait time.Duration, changed <-chan struct{}) {
	var timer <-chan time.Time
	if wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		timer = t.C
	}
	select {
	case <-w.s.queue.wake:
	case <-changed:
	case <-timer:
	case <-ctx.Done():
	}
}

// dropOrphans removes entries from the cache whose insertion was dropped: no other member will have them.
func (w *sender) dropOrphans(ctx context.Context) {
	for _, e := range w.s.queue.takeOrphans() {
		if err := w.s.cache.Drop(ctx, e); err != nil {
			w.s.fault("drop", err)
		}
	}
}
