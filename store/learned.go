package store

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"reprise/policy"
)

// learnedEvery is how often at most, but for Sync and Close, what the policy has learned is written: some 5 kB that
// change with every request, and of which a kill may cost the latest half-minute.
const learnedEvery = 30 * time.Second

// lesson is what the backing has of the policy's learning, and when that was last looked at.
type lesson struct {
	body []byte
	at   time.Time
}

// learnedDue reports whether it is time to look. A clock that jumps back makes it so, too.
func (s *Store) learnedDue() bool {
	since := s.opt.Now().Sub(s.learned.at)
	return since < 0 || since >= learnedEvery
}

// addLearned adds what the policy has learned where that has changed. A policy that learns nothing leaves the record of
// another one alone: it is of use again when that one returns.
func (s *Store) addLearned(b *Batch) {
	s.mu.RLock()
	body, ok := s.snapshotLocked()
	s.mu.RUnlock()
	if !ok {
		return
	}
	s.learned.at = s.opt.Now()
	if bytes.Equal(body, s.learned.body) {
		return
	}
	s.learned.body = body
	b.Put = append(b.Put, Record{KindLearned, 0, body})
}

func (s *Store) snapshotLocked() ([]byte, bool) {
	if s.panel == nil {
		return nil, false
	}
	return exported(func(struct{}) ([]byte, bool) { return s.panel.Snapshot(), true }, struct{}{})
}

// restoreLearned brings back what the policy had learned before the restart; blank is what it knew before the entries
// were inserted again. These insertions are no requests, so where there is nothing else to bring back, that is it: else
// experts would be judged by them.
func (s *Store) restoreLearned(l *loader, blank []byte) {
	if s.panel == nil {
		return
	}
	var err error
	if l.learned != nil {
		if err = s.panel.Restore(l.learned); err == nil {
			s.learned.body = l.learned
			return
		}
	}
	if err = errors.Join(err, s.panel.Restore(blank)); err != nil {
		s.faults++
		l.unlearned = fmt.Errorf("restore what the policy had learned, which it now learns anew: %w", err)
	}
}

func (s *Store) panelStatsLocked() *policy.PanelStats {
	if s.panel == nil {
		return nil
	}
	st, ok := exported(func(struct{}) (policy.PanelStats, bool) { return s.panel.Stats(), true }, struct{}{})
	if !ok {
		return nil
	}
	return &st
}
