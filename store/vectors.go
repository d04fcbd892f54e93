package store

import (
	"cmp"
	"iter"
	"slices"

	"reprise/policy"
)

// An entry with a prompt and without a vector answers its key and equal prompts, but is not found by meaning: its vector was of another space,
// another process has stored it with another embedder, its record was damaged, or the embedder failed. The store lists these entries until
// their vectors are computed.

// noteVector notes whether r lacks a vector.
func (t *table) noteVector(r *resident, vector []float32) {
	if r.Prompt != "" && len(vector) == 0 {
		t.lacking[r.ID] = struct{}{}
	} else {
		delete(t.lacking, r.ID)
	}
}

// Lacking yields the entries that have a prompt and no vector at the moment of the call, the last used first. It skips an entry that has got its
// vector when its turn comes.
func (s *Store) Lacking() iter.Seq[Restored] {
	return func(yield func(Restored) bool) {
		for _, id := range s.lacking() {
			if one, ok := s.lacks(id); ok && !yield(one) {
				return
			}
		}
	}
}

// MissingVectors returns how many entries have a prompt and no vector.
func (s *Store) MissingVectors() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.core.table.lacking)
}

// lacking returns the ids for Lacking. It releases the lock after some entries each time; see All.
func (s *Store) lacking() []policy.ID {
	type used struct {
		id   policy.ID
		last int64
	}
	s.mu.RLock()
	all := make([]used, 0, len(s.core.table.lacking))
	for id := range s.core.table.lacking {
		all = append(all, used{id, s.core.table.ids[id].last})
		if len(all)%batchChanges == 0 {
			s.mu.RUnlock()
			s.mu.RLock()
		}
	}
	s.mu.RUnlock()
	slices.SortFunc(all, func(a, b used) int { return cmp.Or(cmp.Compare(b.last, a.last), cmp.Compare(b.id, a.id)) })
	ids := make([]policy.ID, len(all))
	for i := range all {
		ids[i] = all[i].id
	}
	return ids
}

func (s *Store) lacks(id policy.ID) (one Restored, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if _, ok = s.core.table.lacking[id]; ok {
		one = s.core.restored(s.core.table.ids[id])
	}
	return one, ok
}

// SetVector sets the vector of an entry that lacks one, and returns the entry with it. It returns false if the entry is gone or has a vector by now.
// A nil vector means that nothing in the prompt can be compared: Lacking leaves the entry out until the next start, and nothing is written.
//
// The size of the entry does not change: with Options.Dim it has included the vector from the beginning.
func (s *Store) SetVector(id policy.ID, vector []float32) (ev Event, one Restored, ok bool) {
	s.change(func(*events) {
		if _, ok = s.core.table.lacking[id]; !ok {
			return
		}
		delete(s.core.table.lacking, id)
		if ok = len(vector) > 0; !ok {
			return
		}
		one = s.core.restored(s.core.table.ids[id])
		one.Vector = vector
		ev = Event{Kind: EventVector, ID: id, Vector: vector}
		s.core.emit(&ev, nil)
	})
	return ev, one, ok
}

// SetSpace sets the space and the length of its vectors if they were not known at Open. Call it once, before the first vector is put or set.
// Vectors of this space that the backing has are not read again, and the sizes of entries that were put before do not change until the next
// start.
func (s *Store) SetSpace(name string, dim int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := &space{name, dim}
	s.core.space.Store(now)
	if s.core.dirty != nil && !s.opt.Outside {
		s.core.dirty.head = append(s.core.dirty.head, now.record())
	}
}
