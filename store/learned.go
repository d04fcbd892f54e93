package store

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"reprise/policy"
)

// learnedEvery is the least time between two writes of the policy's snapshot and of the evidence, except by Sync and Close: some 5 kB that
// change with every request, and up to some 100 kB. A kill may lose the latest half-minute.
const learnedEvery = 30 * time.Second

// learnedDue reports whether it is time for a snapshot, also after the clock jumped back.
func (w *writer) learnedDue() bool {
	since := w.store.opt.Now().Sub(w.learnedAt)
	return since < 0 || since >= learnedEvery
}

// addLearned adds a snapshot of the policy if it has changed. A policy that learns nothing leaves the record of another policy in place, which may
// be used again later.
func (b *builder) addLearned() {
	s := b.w.store
	s.mu.RLock()
	body, ok := s.core.keeper.snapshot()
	s.mu.RUnlock()
	b.w.learnedAt = s.opt.Now()
	if !ok || bytes.Equal(body, b.w.learned) {
		return
	}
	b.w.learned = body
	b.Put = append(b.Put, Record{KindLearned, 0, body})
}

// Counter has counted something that is to survive a restart.
type Counter interface {
	// Counts returns what was counted until now, nil for nothing. The goroutine that writes calls it.
	Counts() []byte
}

// KeepEvidence makes s keep the counts of c in its backing, beside the entries: they are written when they have changed, at most twice a
// minute and by Sync and Close.
func (s *Store) KeepEvidence(c Counter) { s.counter.Store(&c) }

// Evidence returns the counts that the backing had when s was opened, nil if there were none.
func (s *Store) Evidence() []byte { return s.evidence }

// addEvidence adds the counts of KeepEvidence if they have changed.
func (b *builder) addEvidence() {
	c := b.w.store.counter.Load()
	if c == nil {
		return
	}
	if body := (*c).Counts(); body != nil && !bytes.Equal(body, b.w.counted) {
		b.w.counted = body
		b.Put = append(b.Put, Record{KindEvidence, 0, body})
	}
}

// restoreLearned restores the last snapshot of the policy. blank is the snapshot from before the load inserted the entries again: those
// insertions are no requests, and must not rate the experts of the policy, so it is restored if there is no other.
func (l *loader) restoreLearned(p policy.Panel, blank []byte) {
	if p == nil {
		return
	}
	var err error
	if l.learned != nil {
		if err = p.Restore(l.learned); err == nil {
			l.taken = l.learned
			return
		}
	}
	if err = errors.Join(err, p.Restore(blank)); err != nil {
		l.unlearned = fmt.Errorf("restore what the policy had learned, which it now learns again: %w", err)
	}
}
