package store

import (
	"maps"
	"slices"

	"reprise/policy"
)

// batch turns debts into records. Entries are immutable and are encoded outside the lock. Reading the debts in several
// goes is sound: whatever changes in between is owed anew and comes with a later batch.
func (s *Store) batch(d *debts, reserve policy.ID, learned bool) *Batch {
	b := &Batch{Put: d.head}
	if learned {
		s.addLearned(b)
	}
	s.addEntries(b, d)
	s.addTopics(b, d)
	s.addCounters(b, reserve)
	return b
}

func (s *Store) addEntries(b *Batch, d *debts) {
	ids := make([]policy.ID, 0, batchLocked)
	for id := range d.entries {
		if ids = append(ids, id); len(ids) == cap(ids) {
			s.addChanges(b, d, ids)
			ids = ids[:0]
		}
	}
	s.addChanges(b, d, ids)
}

func (s *Store) addChanges(b *Batch, d *debts, ids []policy.ID) {
	var fresh []*Entry
	s.mu.RLock()
	for _, id := range ids {
		if d.entries[id] == changedGone {
			b.Delete = append(b.Delete, entryRecords(id)...)
		} else if r := s.ids[id]; r != nil {
			fresh = s.addResidentLocked(b, r, d.entries[id], fresh)
		}
	}
	s.mu.RUnlock()
	for _, e := range fresh {
		b.Put = append(b.Put, Record{KindEntry, uint64(e.ID), encodeEntry(e)})
		if v := d.fresh[e.ID].vector; len(v) > 0 {
			b.Put = append(b.Put, Record{KindVector, uint64(e.ID), encodeVector(s.opt.Space, v)})
		}
	}
}

func (s *Store) addResidentLocked(b *Batch, r *resident, c change, fresh []*Entry) []*Entry {
	if c&changedNew != 0 {
		fresh = append(fresh, &r.Entry)
	}
	if c&changedState != 0 {
		b.Put = append(b.Put, Record{KindState, uint64(r.ID), encodeState(s.stateLocked(r))})
	}
	if c&changedAliases != 0 {
		b.Put = append(b.Put, Record{KindAliases, uint64(r.ID), encodeAliases(r.aliases)})
	}
	return fresh
}

func (s *Store) stateLocked(r *resident) entryState {
	st := entryState{last: r.last, turn: r.Turn}
	if s.persistent != nil {
		st.policy, _ = exported(s.persistent.ExportEntry, r.ID)
	}
	return st
}

// exported asks the policy for what it knows. One that panics knows nothing: a request that it failed before has told of
// that, and the goroutine that writes must not take the process down.
func exported[I, T any](export func(I) (T, bool), id I) (state T, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return export(id)
}

// entryRecords names everything that is kept of one entry.
func entryRecords(id policy.ID) []Record {
	n := uint64(id)
	return []Record{{Kind: KindEntry, ID: n}, {Kind: KindVector, ID: n}, {Kind: KindAliases, ID: n}, {Kind: KindState, ID: n}}
}

func (s *Store) addTopics(b *Batch, d *debts) {
	for ids := range slices.Chunk(slices.Collect(maps.Keys(d.topics)), batchLocked) {
		s.addStates(b, ids)
	}
}

func (s *Store) addStates(b *Batch, topics []policy.TopicID) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, id := range topics {
		if st, ok := exported(s.persistent.ExportTopic, id); ok {
			b.Put = append(b.Put, Record{KindTopic, uint64(id), encodeTopic(st)})
		} else {
			b.Delete = append(b.Delete, Record{Kind: KindTopic, ID: uint64(id)})
		}
	}
}

// addCounters adds the counters where they have moved since they were last written.
func (s *Store) addCounters(b *Batch, reserve policy.ID) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	c := s.countersLocked()
	if c == s.written && reserve == s.reserved && len(b.Put)+len(b.Delete) == 0 {
		return
	}
	s.written, s.reserved = c, reserve
	c.nextID += reserve
	b.Put = append(b.Put, Record{KindCounters, 0, encodeCounters(c)})
}

func (s *Store) countersLocked() counters {
	return counters{seq: s.seq, at: s.at, nextID: s.nextID, maxTopic: s.maxTopic}
}
