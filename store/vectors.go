package store

import (
	"cmp"
	"iter"
	"slices"

	"reprise/policy"
)

// An entry that has a prompt and no vector answers its key and equal prompts, and is not found by meaning: its vector was of another space,
// another process has stored it under an embedder of its own, its record was damaged, or the embedder did not work when it came. The store
// keeps these apart until the vectors are computed.

// noteVector notes whether r lacks a vector.
func (t *table) noteVector(r *resident, vector []float32) {
	if r.Prompt != "" && len(vector) == 0 {
		t.lacking[r.ID] = struct{}{}
	} else {
		delete(t.lacking, r.ID)
	}
}

// Vectors are the vectors of a store: the entries that lack one, and the space that all are of.
type Vectors struct{ s *Store }

// Vectors returns the part of s that keeps count of vectors.
func (s *Store) Vectors() Vectors { return Vectors{s} }

// Lacking yields the entries that have a prompt and no vector, the last used first: those of the moment of the call that still lack one when
// it is their turn.
func (v Vectors) Lacking() iter.Seq[Restored] {
	return func(yield func(Restored) bool) {
		for _, id := range v.lacking() {
			if one, ok := v.lacks(id); ok && !yield(one) {
				return
			}
		}
	}
}

// Missing is how many entries have a prompt and no vector.
func (v Vectors) Missing() int {
	v.s.mu.RLock()
	defer v.s.mu.RUnlock()
	return len(v.s.core.table.lacking)
}

// lacking returns the ids for Lacking. It releases the lock after some entries each time; see All.
func (v Vectors) lacking() []policy.ID {
	type used struct {
		id   policy.ID
		last int64
	}
	s := v.s
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

func (v Vectors) lacks(id policy.ID) (one Restored, ok bool) {
	v.s.mu.RLock()
	defer v.s.mu.RUnlock()
	if _, ok = v.s.core.table.lacking[id]; ok {
		one = v.s.core.restored(v.s.core.table.ids[id])
	}
	return one, ok
}

// Set gives an entry that lacks one the vector of its prompt, which it keeps until it is written. It returns the entry with it, and
// false where the entry is gone or has a vector by now. A nil vector says that nothing in the prompt can be compared: the entry is not
// among Lacking any more until the next start, and nothing is written.
//
// The size of the entry stays what it was: where Options.Dim is set, it has counted the vector from the beginning.
func (v Vectors) Set(id policy.ID, vector []float32) (ev Event, one Restored, ok bool) {
	s := v.s
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

// SetSpace names the space, and the length of its vectors, which were not known when it was opened: vectors may be put and set from now
// on. Call it once, before the first of them. What the backing has in this space is not read again; entries that were put before count with
// the Options.Dim of then until the next start.
func (v Vectors) SetSpace(name string, dim int) {
	s := v.s
	s.mu.Lock()
	defer s.mu.Unlock()
	now := &space{name, dim}
	s.core.space.Store(now)
	if s.core.dirty != nil && !s.opt.Outside {
		s.core.dirty.head = append(s.core.dirty.head, now.record())
	}
}
