package store

import (
	"context"
	"time"

	"reprise/policy"
)

// change is what of an entry is not yet in the backing.
type change uint8

const (
	changedNew change = 1 << iota // never written
	changedState
	changedAliases
	changedGone // excludes the others
)

// debts are the changes that the backing has not seen. They stay bounded however long it is unwell: an entry or a topic
// that comes and goes in between leaves nothing behind, so there are at most those in memory and those in the backing.
type debts struct {
	head    []Record // format and secret, of a backing that lacks them
	entries map[policy.ID]change
	fresh   map[policy.ID]pending // of new entries
	topics  map[policy.TopicID]struct{}
}

// pending is what only the debts know of a new entry.
type pending struct {
	vector []float32
	size   int
}

// newDebts has room for n changes.
func newDebts(n int) *debts {
	return &debts{entries: make(map[policy.ID]change, n), fresh: map[policy.ID]pending{}, topics: map[policy.TopicID]struct{}{}}
}

func (d *debts) len() int { return len(d.head) + len(d.entries) + len(d.topics) }

func (s *Store) noteLocked(id policy.ID, c change) {
	if s.debts != nil {
		s.debts.entries[id] |= c
	}
}

func (s *Store) noteNewLocked(id policy.ID, vector []float32) {
	if s.debts == nil {
		return
	}
	s.debts.entries[id] = changedNew | changedState
	s.debts.fresh[id] = pending{vector, len(s.ids[id].Answer)}
}

func (s *Store) noteGoneLocked(id policy.ID) {
	switch {
	case s.debts == nil:
	case s.debts.entries[id]&changedNew != 0:
		delete(s.debts.entries, id)
		delete(s.debts.fresh, id)
	default:
		s.debts.entries[id] = changedGone
	}
}

// topicLocked notes that a topic was heard of and that what the policy knows of it may have changed.
func (s *Store) topicLocked(t policy.TopicID) {
	s.maxTopic = max(s.maxTopic, t)
	if s.debts != nil && t != 0 && s.persistent != nil {
		s.debts.topics[t] = struct{}{}
	}
}

// flusher is the goroutine that alone writes to the backing.
type flusher struct {
	syncs chan chan error
	stop  chan struct{}
	done  chan struct{}
}

func (s *Store) run() {
	defer close(s.flusher.done)
	tick := time.NewTicker(s.opt.FlushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.flush(idReserve, s.learnedDue())
		case reply := <-s.flusher.syncs:
			reply <- s.flush(idReserve, true)
		case <-s.flusher.stop:
			return
		}
	}
}

// Sync writes what is owed now, and returns the fault that kept it from doing so. In memory only it does nothing.
func (s *Store) Sync(ctx context.Context) error {
	if s.flusher == nil {
		return nil
	}
	reply := make(chan error, 1)
	select {
	case s.flusher.syncs <- reply:
	case <-s.flusher.done:
		return nil
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

// Close writes what is owed and closes the backing. The entries can still be read afterwards; what is changed is lost.
func (s *Store) Close() error {
	if s.opt.Backing == nil {
		return nil
	}
	var err error
	s.closing.Do(func() {
		if s.flusher != nil {
			close(s.flusher.stop)
			<-s.flusher.done
			err = s.flush(0, true)
		}
		if cerr := s.opt.Backing.Close(); err == nil {
			err = cerr
		}
	})
	return err
}

// idReserve is how far ahead of the last id the counters are written: ids given out between the last write and a kill
// are not given out again, and a client that holds one never sees another entry under it.
const idReserve = 1 << 16

// flush writes everything that was owed when it began, in batches, the first of them with what the policy has learned if
// that is asked for. What could not be written is owed again.
func (s *Store) flush(reserve policy.ID, learned bool) error {
	due := s.takeDebts()
	for {
		part := due.split()
		b := s.batch(part, reserve, learned)
		if err := s.write(b); err != nil {
			s.oweAgain(part)
			s.oweAgain(due)
			s.written = counters{seq: -1} // no value of a counter: to be written again
			s.learned = lesson{}
			return s.flushed(err)
		}
		s.toldTopic = max(s.toldTopic, s.written.maxTopic)
		learned = false
		if due.len() == 0 {
			return s.flushed(nil)
		}
	}
}

func (s *Store) write(b *Batch) error {
	if len(b.Put)+len(b.Delete) == 0 {
		return nil
	}
	return s.opt.Backing.Write(b)
}

func (s *Store) flushed(err error) error {
	s.mu.Lock()
	if err != nil {
		s.faults++
	} else {
		s.lastFlush = s.opt.Now()
	}
	s.mu.Unlock()
	if err != nil {
		s.opt.OnFault("write", err)
	}
	return err
}

// takeDebts leaves room for as many new ones, lest the table grow step by step under the lock.
func (s *Store) takeDebts() *debts {
	s.mu.RLock()
	n := len(s.debts.entries)
	s.mu.RUnlock()
	next := newDebts(n)
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.debts
	s.debts = next
	return d
}

func (s *Store) oweAgain(d *debts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.debts.head = append(s.debts.head, d.head...)
	for id, c := range d.entries {
		if c == changedGone || s.ids[id] != nil {
			s.debts.entries[id] |= c
		}
	}
	for id, p := range d.fresh {
		if s.ids[id] != nil {
			s.debts.fresh[id] = p
		}
	}
	for id := range d.topics {
		if _, known := exported(s.persistent.ExportTopic, id); known || id <= s.toldTopic {
			s.debts.topics[id] = struct{}{}
		}
	}
}

// batchChanges bounds a batch, batchLocked how many changes are read under the lock in one go: a hit waits for some
// 100 µs at most.
const (
	batchChanges = 4096
	batchLocked  = 256
	batchBytes   = 16 << 20 // of answers: a batch is in memory twice, here and in the backing
)

// split takes some of the debts out for one batch.
func (d *debts) split() *debts {
	part, bytes := newDebts(0), 0
	part.head, d.head = d.head, nil
	for id, c := range d.entries {
		if len(part.entries) == batchChanges || bytes > batchBytes {
			return part
		}
		part.entries[id] = c
		delete(d.entries, id)
		if p, ok := d.fresh[id]; ok {
			part.fresh[id] = p
			bytes += p.size
			delete(d.fresh, id)
		}
	}
	part.topics, d.topics = d.topics, part.topics
	return part
}
