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
}

// Work of Revive. Requests come first: it asks the embedder for one batch at a time, and then pauses three times as long as that took.
const (
	reviveFirst, reviveMost = 8, 32 // prompts in a batch
	revivePauses            = 3
	reviveLook              = time.Second // how often it looks for new ones
	reviveRetry             = time.Second // after a fault, doubled up to reviveRetryMost
	reviveRetryMost         = time.Minute
)

// Revive computes the vectors that entries lack, as after a change of the embedder, until ctx ends: from their prompts, the last used
// first. It may be stopped at any time and goes on after a restart: what is left is found in the store. An embedder that fails is tried
// again. report is called before the first vector is set, when the fault of the embedder changes, and when nothing is left.
func Revive(ctx context.Context, c *Cache, report func(Revival)) {
	r := &reviver{Cache: c, report: report, size: reviveFirst}
	for c.opt.Meaning && c.opt.Embedder != nil && ctx.Err() == nil {
		if store.LackingCount(c.store) > 0 {
			r.pass(ctx)
			if r.begun && store.LackingCount(c.store) == 0 && ctx.Err() == nil {
				r.note()
				r.begun = false
			}
		}
		sleep(ctx, max(reviveLook, r.backoff))
	}
}

// reviver is a Revive in progress.
type reviver struct {
	*Cache
	report  func(Revival)
	size    int // of the next batch
	done    int
	begun   bool // there was a vector to set since nothing was left; prompts without one are passed over
	fault   error
	backoff time.Duration
}

func (r *reviver) note() { r.report(Revival{store.LackingCount(r.store), r.done, r.fault}) }

// pass tries every entry that lacks a vector once. A batch that fails is left to the next pass, and smaller ones follow: one prompt that
// the embedder refuses keeps no others from their vectors.
func (r *reviver) pass(ctx context.Context) {
	var batch []store.Restored
	for e := range store.Lacking(r.store) {
		if batch = append(batch, e); len(batch) < r.size {
			continue
		}
		r.batch(ctx, batch)
		if batch = batch[:0]; ctx.Err() != nil {
			return
		}
	}
	if len(batch) > 0 {
		r.batch(ctx, batch)
	}
}

// batch gives some entries their vectors, and pauses.
func (r *reviver) batch(ctx context.Context, batch []store.Restored) {
	began := time.Now()
	fault := guard("embed", func() error { return r.embedAll(ctx, batch) })
	if ctx.Err() != nil {
		return
	}
	took := time.Since(began)
	if (fault == nil) != (r.fault == nil) {
		r.fault = fault
		r.note()
	}
	if fault != nil {
		r.size = max(r.size/2, 1)
		r.backoff = min(max(2*r.backoff, reviveRetry), reviveRetryMost)
		sleep(ctx, r.backoff)
		return
	}
	r.backoff, r.size = 0, min(r.size+1, reviveMost)
	sleep(ctx, revivePauses*took)
}

func (r *reviver) embedAll(ctx context.Context, batch []store.Restored) error {
	if r.embedder.open() {
		return errors.New("the embedder is left alone after repeated faults")
	}
	prompts := make([]string, len(batch))
	for i := range batch {
		prompts[i] = batch[i].Prompt
	}
	vectors, err := r.opt.Embedder.Embed(ctx, prompts)
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
	r.lock()
	defer r.mu.Unlock()
	return guard("topics", func() error { return reviveLocked(&r.state, id, vector) })
}

func reviveLocked(s *state, id policy.ID, vector []float32) error {
	ev, e, ok := store.SetVector(s.store, id, vector)
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
