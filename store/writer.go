package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"reprise/policy"
)

// writer is the goroutine that writes to the backing, the only one.
type writer struct {
	store *Store // read under its lock
	syncs chan chan error
	stop  chan struct{}
	done  chan struct{}

	// of the goroutine
	written   counters
	reserved  policy.ID
	learned   []byte         // the snapshot of the policy that was last written
	learnedAt time.Time      // when the last snapshot was made
	counted   []byte         // the counts of KeepEvidence that were last written
	maxTopic  policy.TopicID // the highest topic id that the backing can hold
	tidier    Tidier         // the backing; nil if it is none
}

func newWriter(s *Store) *writer {
	w := &writer{store: s, syncs: make(chan chan error), stop: make(chan struct{}), done: make(chan struct{})}
	w.tidier, _ = s.opt.Backing.(Tidier)
	return w
}

func (w *writer) run() {
	defer close(w.done)
	tick := time.NewTicker(w.store.opt.FlushEvery)
	defer tick.Stop()
	tidy := time.NewTimer(tidyPause)
	defer tidy.Stop()
	for {
		select {
		case <-tick.C:
			w.flush(idReserve, w.learnedDue())
		case reply := <-w.syncs:
			reply <- w.flush(idReserve, true)
			tidy.Reset(tidyPause)
		case <-tidy.C:
			tidy.Reset(w.tidy())
		case <-w.stop:
			return
		}
	}
}

// The writer pauses between the steps of a Tidier, so that a flush that is due comes in between. If there is nothing to do it asks again after
// tidyEvery.
const (
	tidyPause = 5 * time.Millisecond
	tidyEvery = time.Second
)

// tidy does one step and returns how long to wait before the next.
func (w *writer) tidy() time.Duration {
	if w.tidier == nil {
		return time.Hour
	}
	more, err := w.tidier.Tidy()
	if err != nil {
		s := w.store
		s.mu.Lock()
		s.core.faults++
		s.mu.Unlock()
		s.opt.OnFault("tidy", err)
	}
	if more {
		return tidyPause
	}
	return tidyEvery
}

// maxStuck bounds the bytes of vectors that could not be written. Only the dirty set holds them, and no limit counts them.
const maxStuck = 64 << 20

// Behind reports whether the backing has lacked a change for longer than Options.MaxUnwritten, or too much to be held in memory. New
// entries should not be put then: a kill would lose them with everything since. With Outside it is never behind: nothing that it writes
// is needed.
func (s *Store) Behind() bool {
	if s.opt.MaxUnwritten <= 0 || s.opt.Outside {
		return false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.core.unwritten() > s.opt.MaxUnwritten || s.core.stuck > maxStuck
}

// Sync writes the dirty set now, and returns the fault if it cannot: ErrPartial where the backing has every removal and lacks other
// changes, ErrReadOnly where nothing can be written. Without a backing it does nothing: nothing is to survive.
func (s *Store) Sync(ctx context.Context) error {
	switch {
	case s.opt.Backing == nil:
		return nil
	case s.writer == nil:
		return fmt.Errorf("%w: %s: %w", ErrReadOnly, s.report.Name, s.report.ReadOnly)
	}
	reply := make(chan error, 1)
	select {
	case s.writer.syncs <- reply:
	case <-s.writer.done:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-reply:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close writes the dirty set and closes the backing. The entries can still be read afterwards; later changes are lost.
func (s *Store) Close() error {
	if s.opt.Backing == nil {
		return nil
	}
	var err error
	s.closing.Do(func() {
		if s.writer != nil {
			close(s.writer.stop)
			<-s.writer.done
			err = s.writer.flush(0, true)
		}
		if cerr := s.opt.Backing.Close(); err == nil {
			err = cerr
		}
	})
	return err
}

// idReserve is how far ahead of the last id the counters are written: ids made between the last write and a kill are not made
// again, and a client that holds one never sees another entry under it.
const idReserve = 1 << 16

// writes reports whether changes are for this process to write.
func (o *Options) writes() bool { return !o.Outside || o.Keeper != nil && o.Keeper.Keeper() }

// flush writes everything that was dirty when it began, in batches: removals first, then, after a purge, the count of purges, then the rest. The first
// batch of the rest has the learned state of the policy and the evidence, if learned requests them. Changes that could not be written are dirty again.
func (w *writer) flush(reserve policy.ID, learned bool) error {
	due := w.take()
	if !w.store.opt.writes() {
		return w.flushed(nil)
	}
	purged := due.purged
	if err := w.flushRemovals(due.cutRemovals(), due); err != nil {
		if w.store.opt.Outside {
			err = fmt.Errorf("%w: %w", ErrPartial, err)
		}
		return w.flushed(err)
	}
	due.sort()
	if purged {
		if err := w.writeCounters(reserve); err != nil {
			w.restore(due)
			return w.flushed(fmt.Errorf("%w: %w", ErrPartial, err))
		}
	}
	for {
		part := due.split()
		b := w.batch(part, reserve, learned)
		if err := w.write(b); err != nil {
			part.tried()
			w.restore(due, part)
			w.written = counters{seq: -1} // differs from every value: the counters are written again
			w.learned, w.learnedAt, w.counted = nil, time.Time{}, nil
			return w.flushed(fmt.Errorf("%w: %w", ErrPartial, err))
		}
		w.maxTopic = max(w.maxTopic, w.written.maxTopic)
		w.store.core.kept.Store(w.written.purges)
		learned = false
		if due.len() == 0 {
			return w.flushed(nil)
		}
	}
}

// writeCounters writes the count of purges, on its own: a purge must not fail because of answers for which the disk has no room.
func (w *writer) writeCounters(reserve policy.ID) error {
	b := &builder{w: w}
	b.addCounters(reserve)
	err := w.write(&b.Batch)
	if err != nil {
		w.written = counters{seq: -1} // differs from every value: the counters are written again
		return err
	}
	w.store.core.kept.Store(w.written.purges)
	return nil
}

// flushRemovals writes the removals. After an error they are dirty again, with rest, the other changes that are due.
func (w *writer) flushRemovals(gone, rest *dirtySet) error {
	for gone.purged || len(gone.entries) > 0 {
		part := gone.split()
		b := &Batch{Purged: part.purged}
		for _, id := range part.order {
			switch {
			case !gone.whole: // the event in the log has removed the other records; the state may have been written since
				b.Delete = append(b.Delete, Record{Kind: KindState, ID: uint64(id)})
			case b.Purged:
				b.Delete = append(b.Delete, RecordsOf(uint64(id))...)
			default:
				b.Evicted = append(b.Evicted, uint64(id))
			}
		}
		if err := w.write(b); err != nil {
			w.restore(rest, part, gone)
			return err
		}
	}
	return nil
}

func (w *writer) write(b *Batch) error {
	if len(b.Put)+len(b.Delete)+len(b.Evicted) == 0 && !b.Purged {
		return nil
	}
	return w.store.opt.Backing.Write(b)
}

func (w *writer) flushed(err error) error {
	s := w.store
	s.mu.Lock()
	s.core.writing = time.Time{}
	if err != nil {
		s.core.faults++
	} else {
		s.lastFlush, s.core.stuck = s.opt.Now(), 0
	}
	s.mu.Unlock()
	if err != nil {
		s.opt.OnFault("write", err)
	}
	return err
}

// maxRoom bounds the room that take makes in advance: while writes fail the dirty set can be as large as the store.
const maxRoom = 1 << 15

// take returns the dirty set and replaces it by an empty one, with room for as many changes so that the table does not grow step by step under the
// lock.
func (w *writer) take() *dirtySet {
	s := w.store
	s.mu.RLock()
	n := min(len(s.core.dirty.entries), maxRoom)
	s.mu.RUnlock()
	next := s.core.newDirtySet(n)
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.core.dirty
	s.core.dirty, s.core.writing = next, d.since
	return d
}

// restore makes changes that could not be written dirty again: due, and the parts that were cut from it. It adds the changes that were made
// meanwhile, which are few, to due and not the other way round, because hits wait for the lock.
func (w *writer) restore(due *dirtySet, parts ...*dirtySet) {
	s := w.store
	for _, part := range parts {
		due.absorb(part)
	}
	due.order = nil
	w.dropUnknown(due.topics)
	_, stuck := due.bytes()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.core.stuck = stuck
	due.absorb(s.core.dirty)
	s.core.dirty = due
}

// dropUnknown drops topics that the policy does not have any more and that were never written.
func (w *writer) dropUnknown(topics map[policy.TopicID]struct{}) {
	s := w.store
	for ids := range slices.Chunk(slices.Collect(maps.Keys(topics)), batchLocked) {
		s.mu.RLock()
		for _, id := range ids {
			if _, known := s.core.keeper.topicState(id); !known && ownID(s.opt.Process, id) && id > w.maxTopic {
				delete(topics, id)
			}
		}
		s.mu.RUnlock()
	}
}

// batchChanges bounds a batch, batchLocked how many changes are read under the lock in one go: a hit waits for some 30 µs at
// most.
const (
	batchChanges = 4096
	batchLocked  = 64
	batchBytes   = 16 << 20 // of answers: a batch is in memory twice, here and in the backing
)
