package cache

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"reprise/policy"
	"reprise/store"
	"reprise/topics"
)

// Revival is the state of Revive.
type Revival struct {
	Left, Done int   // entries that still lack a vector, and vectors that were computed since the start
	Fault      error // of the embedder, which is tried again; nil in the next report if it works again

	Embedder EmbedderState // as EmbedderOf returns it; Fault is the error of the last check, or of the last batch
	// Space is set in one report: the embedder has answered for the first time, and its vectors are taken from the end of that report on.
	Space string
}

// Work of Revive. Requests come first: it asks the embedder for one batch at a time, and then pauses three times as long as that took.
const (
	reviveFirst, reviveMost = 8, 32 // prompts in a batch
	revivePauses            = 3
	reviveLook              = time.Second // how often it looks for new ones, and whether a call of a request has failed
	reviveRetry             = time.Second // after a fault, doubled up to reviveRetryMost
	reviveRetryMost         = time.Minute
	probeMost               = 15 * time.Second // between two checks of an embedder that does not work
)

// Revive computes the vectors that entries lack, as after a change of the embedder, until ctx ends: from their prompts, the last used
// first. It may be stopped at any time and goes on after a restart: what is left is found in the store. An embedder that fails is tried
// again, and one that calls a server is checked with a call of its own: at the start unless it has answered, and after a request's call has
// failed, until it works. Once it has answered for the first time its space is known, and prompts are compared from then on. report is called
// before the first vector is set, or at the start where the embedder does not work, when its state or its fault changes, and when nothing is
// left.
func (c *Cache) Revive(ctx context.Context, report func(Revival)) {
	r := &reviver{c: c, report: report, size: reviveFirst}
	if r.shown, r.fault = c.embedder.state(); c.opt.Meaning && r.fault != nil && c.state.store.MissingVectors() > 0 {
		r.note()
	}
	for c.opt.Meaning && c.opt.Embedder != nil && ctx.Err() == nil {
		works := r.check(ctx)
		if works && !time.Now().Before(r.movesFrom) {
			began, pause := time.Now(), time.Duration(0)
			if r.move(ctx) != nil {
				pause = reviveRetryMost
			}
			r.movesFrom = time.Now().Add(max(pause, movePauses*time.Since(began)))
		}
		if works && c.state.store.MissingVectors() > 0 {
			r.pass(ctx)
			if r.begun && c.state.store.MissingVectors() == 0 && ctx.Err() == nil {
				r.note()
				r.begun = false
			}
		}
		sleep(ctx, max(reviveLook, r.backoff, r.probing))
	}
}

// reviver is a Revive in progress.
type reviver struct {
	c       *Cache
	report  func(Revival)
	size    int // of the next batch
	done    int
	begun   bool // there was a vector to set since nothing was left; prompts without one are passed over
	fault   error
	backoff time.Duration

	movesFrom time.Time // when entries are moved next

	shown   EmbedderState // that was reported
	probing time.Duration // between two checks
}

func (r *reviver) note() {
	r.report(Revival{Left: r.c.state.store.MissingVectors(), Done: r.done, Fault: r.fault, Embedder: r.shown})
}

// check asks the embedder for a vector where it does not work or may not, and reports whether it works.
func (r *reviver) check(ctx context.Context) (works bool) {
	if r.c.embedder.doubtful() {
		r.c.embedder.probe(ctx)
	}
	if e := r.c.embedder; !e.ready.Load() && e.remote.Answered() && ctx.Err() == nil {
		if err := r.adopt(); err != nil {
			e.fault.Store(&embedderFault{EmbedderOtherDim, err})
		}
	}
	state, fault := r.c.embedder.state()
	if works = state == "" || state == EmbedderWorks; works {
		r.probing = 0
	} else {
		r.probing = min(max(2*r.probing, reviveRetry), probeMost)
	}
	if state != r.shown && ctx.Err() == nil {
		r.shown, r.fault = state, fault
		r.note()
	}
	return works
}

// adopt makes topics and store take the vectors of the embedder, whose space has become known.
func (r *reviver) adopt() error {
	if err := r.c.learner.adopt(r.c.opt.Embedder); err != nil {
		return err
	}
	if err := guard("topics", func() error { return r.adoptSpace() }); err != nil {
		return err
	}
	r.report(Revival{Left: r.c.state.store.MissingVectors(), Done: r.done, Embedder: r.shown, Space: r.c.opt.Embedder.Space()})
	r.c.embedder.ready.Store(true)
	return nil
}

func (r *reviver) adoptSpace() error {
	r.c.state.lock()
	defer r.c.state.mu.Unlock()
	e := r.c.opt.Embedder
	if err := r.c.state.topics.SetDim(e.Dim()); err != nil {
		return err
	}
	r.c.state.store.SetSpace(e.Space(), e.Dim())
	return nil
}

// pass tries every entry that lacks a vector once, while the embedder works. A batch that fails is left to the next pass, and smaller ones
// follow: one prompt that the embedder refuses keeps no others from their vectors.
func (r *reviver) pass(ctx context.Context) {
	var batch []store.Restored
	for e := range r.c.state.store.Lacking() {
		if batch = append(batch, e); len(batch) < r.size {
			continue
		}
		works := r.batch(ctx, batch)
		if batch = batch[:0]; !works || ctx.Err() != nil {
			return
		}
	}
	if len(batch) > 0 {
		r.batch(ctx, batch)
	}
}

// batch gives some entries their vectors, and pauses. It reports whether the embedder works.
func (r *reviver) batch(ctx context.Context, batch []store.Restored) (works bool) {
	began := time.Now()
	fault := guard("embed", func() error { return r.embedAll(ctx, batch) })
	if ctx.Err() != nil {
		return false
	}
	took := time.Since(began)
	r.c.embedder.note(fault)
	if r.c.embedder.doubtful() && !r.check(ctx) {
		return false
	}
	if (fault == nil) != (r.fault == nil) {
		r.fault = fault
		r.note()
	}
	if fault != nil {
		r.size = max(r.size/2, 1)
		r.backoff = min(max(2*r.backoff, reviveRetry), reviveRetryMost)
		sleep(ctx, r.backoff)
		return true
	}
	r.backoff, r.size = 0, min(r.size+1, reviveMost)
	sleep(ctx, revivePauses*took)
	return true
}

func (r *reviver) embedAll(ctx context.Context, batch []store.Restored) error {
	if r.c.embedder.open() {
		return errors.New("the embedder is left alone after repeated faults")
	}
	prompts := make([]string, len(batch))
	for i := range batch {
		a := r.c.state.templates.asks(batch[i].Entry)
		prompts[i] = a.vectorText()
	}
	vectors, err := r.c.opt.Embedder.Embed(ctx, prompts)
	if err == nil && len(vectors) != len(batch) {
		err = fmt.Errorf("the embedder returned %d vectors for %d texts", len(vectors), len(batch))
	}
	if err != nil {
		return err
	}
	if !r.begun && slices.ContainsFunc(vectors, func(v []float32) bool { return v != nil }) {
		r.begun = true
		r.note()
	}
	for i := range batch {
		if vectors[i] != nil {
			r.done++
		}
		if err := r.revive(batch[i].ID, vectors[i]); err != nil {
			return err
		}
		runtime.Gosched() // those who wait for the lock come first
	}
	return nil
}

// revive gives an entry that lacks one its vector, unless it has left or got one meanwhile. The anchor that its topic had before is its
// anchor again.
func (r *reviver) revive(id policy.ID, vector []float32) error {
	r.c.state.lock()
	defer r.c.state.mu.Unlock()
	return guard("topics", func() error { return r.c.state.reviveLocked(id, vector) })
}

func (s *state) reviveLocked(id policy.ID, vector []float32) error {
	ev, e, ok := s.store.SetVector(id, vector)
	if !ok {
		return nil
	}
	s.publishLocked(&ev, nil)
	err := s.restoreEntry(e)
	if err == nil && e.Anchor {
		s.topics.RestoreAnchor(topics.EntryID(id))
	}
	return err
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
