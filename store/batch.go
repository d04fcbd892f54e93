package store

import (
	"maps"
	"slices"

	"reprise/policy"
)

// batch turns changes into records. Entries are immutable and are encoded outside the lock. Reading the changes in several
// steps is safe: an entry that changes in between is dirty again and comes with a later batch.
func (w *writer) batch(d *dirtySet, reserve policy.ID, learned bool) *Batch {
	bytes, _ := d.bytes()
	w.scratch.reset(bytes)
	b := &Batch{Put: append(w.scratch.records, d.head...)}
	if learned {
		w.addLearned(b)
		w.addEvidence(b)
	}
	w.addEntries(b, d)
	w.addTopics(b, d)
	w.addCounters(b, reserve)
	w.scratch.records = b.Put
	return b
}

// scratch is the memory of a batch. The next one uses it again, unless it is much smaller.
type scratch struct {
	codec
	added   int // bytes of bodies that are in the batch
	records []Record
}

// reset makes room for bodies of so many bytes.
func (s *scratch) reset(bytes int) {
	s.b, s.added, s.records = slices.Grow(again(s.b, 64<<10), bytes), 0, again(s.records, 1<<10)
}

// again returns s without elements, or nil if less than a quarter of its memory was used.
func again[T any](s []T, small int) []T {
	if cap(s) > small && len(s) < cap(s)/4 {
		return nil
	}
	clear(s)
	return s[:0]
}

// add adds a record whose body was written since the one before.
func (s *scratch) add(b *Batch, k Kind, id uint64) {
	b.Put = append(b.Put, Record{k, id, s.b[s.added:len(s.b):len(s.b)]})
	s.added = len(s.b)
}

func (s *scratch) addVector(b *Batch, id policy.ID, mark uint64, v []float32) {
	s.b = appendVector(s.b, mark, v)
	s.add(b, KindVector, uint64(id))
}

func (w *writer) addEntries(b *Batch, d *dirtySet) {
	for ids := range slices.Chunk(d.order, batchLocked) {
		w.addChanges(b, d, ids)
	}
}

func (w *writer) addChanges(b *Batch, d *dirtySet, ids []policy.ID) {
	s := w.store
	var fresh []*Entry
	s.mu.RLock()
	var vectors []policy.ID
	for _, id := range ids {
		if r := s.core.table.ids[id]; r != nil {
			change := d.entries[id].change
			fresh = w.addResidentLocked(b, r, change, fresh)
			if change&changedVector != 0 {
				vectors = append(vectors, id)
			}
		}
	}
	s.mu.RUnlock()
	mark := spaceMark(s.core.space.Load().name)
	for _, id := range vectors {
		w.scratch.addVector(b, id, mark, d.entries[id].vector)
	}
	for _, e := range fresh {
		w.addFresh(b, e, d.entries[e.ID], mark)
	}
}

func (w *writer) addFresh(b *Batch, e *Entry, p pending, mark uint64) {
	w.scratch.entry(e)
	w.scratch.add(b, KindEntry, uint64(e.ID))
	switch {
	case len(p.vector) > 0:
		w.scratch.addVector(b, e.ID, mark, p.vector)
	case p.stored: // the older answer may have had one
		b.Delete = append(b.Delete, Record{Kind: KindVector, ID: uint64(e.ID)})
	}
}

func (w *writer) addResidentLocked(b *Batch, r *resident, c change, fresh []*Entry) []*Entry {
	if c&changedNew != 0 {
		fresh = append(fresh, r.entry(r.more))
	}
	if c&changedState != 0 {
		st := w.stateLocked(r)
		w.scratch.state(&st)
		w.scratch.add(b, KindState, uint64(r.ID))
	}
	if c&changedAliases != 0 {
		all := r.aliases()
		w.scratch.aliases(&all)
		w.scratch.add(b, KindAliases, uint64(r.ID))
	}
	return fresh
}

func (w *writer) stateLocked(r *resident) entryState {
	st := entryState{last: r.last, turn: r.Turn, anchor: w.store.core.table.isAnchor(r)}
	st.policy, _ = w.store.core.keeper.entryState(r.ID)
	return st
}

func (w *writer) addTopics(b *Batch, d *dirtySet) {
	for ids := range slices.Chunk(slices.Collect(maps.Keys(d.topics)), batchLocked) {
		w.addStates(b, ids)
	}
}

func (w *writer) addStates(b *Batch, topics []policy.TopicID) {
	s := w.store
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, id := range topics {
		if st, ok := s.core.keeper.topicState(id); ok {
			w.scratch.topic(&st)
			w.scratch.add(b, KindTopic, uint64(id))
		} else {
			b.Delete = append(b.Delete, Record{Kind: KindTopic, ID: uint64(id)})
		}
	}
}

// addCounters adds the counters if they have changed since they were last written.
func (w *writer) addCounters(b *Batch, reserve policy.ID) {
	s := w.store
	s.mu.RLock()
	defer s.mu.RUnlock()
	c := s.core.counters(s.clock.last())
	if c == w.written && reserve == w.reserved && len(b.Put)+len(b.Delete) == 0 {
		return
	}
	w.written, w.reserved = c, reserve
	c.nextID += reserve
	w.scratch.counters(&c)
	w.scratch.add(b, KindCounters, 0)
}
