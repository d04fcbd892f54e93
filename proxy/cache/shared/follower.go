package shared

import (
	"cmp"
	"context"
	"errors"
	"time"

	"reprise/policy"
	"reprise/proxy/cache"
	"reprise/store"
)

// readWait is how long a read waits for something new.
const readWait = 500 * time.Millisecond

// follower reads the log and applies it.
type follower struct {
	s       *Shared
	secret  [32]byte // of the cache
	process uint16
	least   int // entries that stay while the server is full; 0: it is not
}

func (f *follower) run(ctx context.Context) {
	backoff := time.Duration(0)
	for ctx.Err() == nil {
		step := "follow"
		err := guard(func() (err error) {
			if step, err = f.step(ctx); ctx.Err() == nil {
				f.trim()
			}
			return err
		})
		if err == nil || ctx.Err() != nil {
			backoff = 0
			continue
		}
		f.s.fault(step, err)
		backoff = min(max(2*backoff, backoffFirst), backoffMost)
		sleep(ctx, backoff)
	}
}

// step does what is next, and returns its name with an error.
func (f *follower) step(ctx context.Context) (step string, err error) {
	at, _, synced, _ := f.s.view.now()
	if !synced {
		return "load", f.load(ctx)
	}
	err = f.read(ctx, at)
	if errors.Is(err, store.ErrGap) {
		f.s.count.gaps.Add(1)
		f.s.view.lose()
		return "", nil
	}
	return "read", err
}

// load makes the entries those of the store, and continues with the log from where it ended before. Own insertions that wait stay, unless a
// purge was missed that may name them.
func (f *follower) load(ctx context.Context) error {
	limit, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if err := f.join(limit); err != nil {
		return err
	}
	began := time.Now()
	got, err := f.s.opt.Link.Group.Beat(limit, store.Position{}, false)
	f.s.pulse.note(got, err)
	if err != nil {
		return err
	}
	f.s.pulse.clock(got, began, time.Since(began))
	_, before, _, _ := f.s.view.now()
	for _, k := range f.s.purges.lost(before, got.Mark) {
		f.s.purges.add(k.filter, k.made, true)
		f.s.count.repeated.Add(1)
	}
	keep := got.Mark == before || got.Mark.Log != before.Log && got.Mark.Purges == 0
	if !keep {
		f.s.cache.Follower().Missed()
		f.s.opt.Purged(store.Filter{})
	}
	f.s.repeat(got)
	f.s.queue.restart(got.Mark, keep)
	return f.reconcile(ctx, got)
}

func (f *follower) reconcile(ctx context.Context, at store.Pulse) error {
	f.s.near.clear()
	err := f.s.cache.Follower().Reconcile(ctx, f.s.opt.Link.Records, f.s.queue.unsentID)
	if fault := (*cache.Fault)(nil); err != nil && !errors.As(err, &fault) {
		return err
	}
	f.s.count.loads.Add(1)
	f.s.loaded.Store(true)
	f.s.view.set(at.End, at.Mark)
	f.s.pulse.wake.ring()
	return err
}

// join takes secret and process number from the store. They are new where the store could not be reached at the start, where another process
// has the number by now, or where others have begun the store again. What was kept before is dropped then: its ids and digests are of another
// process.
func (f *follower) join(ctx context.Context) error {
	g := f.s.opt.Link.Group
	if err := g.Agree(ctx); err != nil {
		f.s.pulse.note(store.Pulse{}, err)
		return err
	}
	if secret, process := g.Secret(), g.Process(); secret != f.secret || process != f.process {
		if err := f.s.cache.Follower().Adopt(secret, process); err != nil {
			f.s.fault("adopt", err)
		}
		f.secret, f.process = secret, process
		f.s.queue.clear()
	}
	f.s.joined.Store(true)
	return nil
}

// read applies what follows at.
func (f *follower) read(ctx context.Context, at store.Position) error {
	ctx, cancel := context.WithTimeout(ctx, readWait+callTimeout)
	defer cancel()
	defer f.cancelAtGap(cancel)()
	began := time.Now()
	all, err := f.s.opt.Link.Log.Read(ctx, at, readWait)
	if err != nil {
		if _, _, synced, _ := f.s.view.now(); !synced {
			return nil // the read was ended: see cancelAtGap
		}
		return err
	}
	if len(all) == 0 && f.s.view.stuck(began) {
		return store.ErrGap
	}
	for i := range all {
		if ctx.Err() != nil {
			return nil
		}
		f.apply(&all[i])
	}
	return nil
}

// cancelAtGap ends a read where a beat finds that the log has another history. The function that it returns ends the watch.
func (f *follower) cancelAtGap(cancel context.CancelFunc) (stop func()) {
	done := make(chan struct{})
	go func() {
		for {
			_, _, synced, changed := f.s.view.now()
			if !synced {
				cancel()
				return
			}
			select {
			case <-changed:
			case <-done:
				return
			}
		}
	}()
	return func() { close(done) }
}

// apply makes one batch happen here. The place advances last: what a purge names is gone when its mark is in force.
func (f *follower) apply(l *store.Logged) {
	ctx := context.Background() // a batch is applied whole
	own := l.Process == f.process
	evs := l.Events
	switch {
	case l.Purge != nil:
		f.applyPurge(ctx, l, own)
		evs = nil
	case own:
		if again, ok := f.s.queue.confirm(l.Serial, l.N); ok {
			evs = again
		}
	}
	for i := range evs {
		f.applyEvent(ctx, evs[i])
	}
	f.s.queue.passed(l.N)
	f.s.view.advance(l.Position, l.Mark)
	if l.Purge != nil {
		f.s.pulse.wake.ring() // not before: a beat that begins earlier does not report that it is applied, and the purge waits for the next
	}
}

func (f *follower) applyEvent(ctx context.Context, ev cache.Event) {
	if err := f.s.cache.Follower().Apply(ctx, ev); err != nil {
		f.s.fault("apply", err)
	}
}

// applyPurge makes a purge happen here. Own insertions that are not in the log yet: those of another process's purge were made before it,
// because the store takes none under the mark before it any more. After a purge of this process they were made later: what was there
// before left when the purge was made.
func (f *follower) applyPurge(ctx context.Context, l *store.Logged, own bool) {
	var mine *purge
	var keep func(policy.ID) bool
	if own {
		mine = f.s.purges.own(l.Serial)
	}
	made := mine != nil && !mine.again
	if made {
		keep = f.s.queue.claimed
	}
	f.s.purging.Store(own || f.s.pulse.keeps() || f.s.purges.waiting.Load() > 0)
	defer f.s.purging.Store(false)
	if err := f.s.cache.Follower().ApplyPurge(ctx, *l.Purge, made, keep); err != nil {
		f.s.fault("purge", err)
	}
	f.s.near.clear()
	f.s.opt.Purged(*l.Purge)
	f.s.purges.applied(l, mine, f.s.queue.last())
	if own {
		f.s.pulse.purged(l.Position)
		f.s.queue.wake.ring() // it may be finished already
	}
}

// trim evicts what exceeds the capacity, if this process is the keeper. The log has its decisions like those of any other.
func (f *follower) trim() {
	if !f.s.pulse.keeps() || !f.s.view.live() {
		return
	}
	if err := f.s.cache.Follower().Trim(f.room(f.s.opt.Fit(f.s.opt.Limit))); err != nil {
		f.s.fault("trim", err)
	}
}

// room lowers the limit where the server is full before that is reached: by a hundredth of the entries at each pulse that says so, and to half of
// them at most until one says that it is not: what does not help then is the memory that others use.
func (f *follower) room(limit policy.Limit) policy.Limit {
	if f.s.pulse.full.Load() == notFull {
		f.least = 0
	}
	if f.s.queue.removes() || !f.s.pulse.full.CompareAndSwap(full, madeRoom) {
		return limit
	}
	n := f.s.cache.Stats().Store.Entries
	if f.least == 0 {
		f.least = max(n/2, 1)
	}
	limit.Entries = min(cmp.Or(limit.Entries, n), max(n-n/100-1, f.least))
	return limit
}
