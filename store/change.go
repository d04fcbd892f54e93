package store

import (
	"iter"
	"slices"
	"strings"
	"time"

	"reprise/policy"
)

// Weight is the structural importance of an entry (TSI in paper 002 §3.3) after a change.
type Weight struct {
	ID         policy.ID
	Importance float64
}

// PutResult is what a Put did.
type PutResult struct {
	ID   policy.ID
	Size int64 // as Limit.Bytes counts it; a large answer is kept packed
	// Evicted are the entries that are gone: the one of the same key, those whose time had run out, victims of the
	// capacity; the new one itself may be among them, which is the policy's way to refuse it.
	Evicted []policy.ID
	Weights []Weight // changed by the insertion
}

// sweepPerPut is how many entries a Put examines for an end of their time. Every Put adds one, so a few per Put keep the
// expired from filling the capacity, and what is removed is returned like any other victim.
const sweepPerPut = 4

// Arrive tells the policy of a miss on a topic when it arrives.
func (s *Store) Arrive(topic policy.TopicID, at policy.Tick) {
	s.guarded(func() {
		s.topicLocked(topic)
		if a, ok := s.opt.Evictor.(policy.Arriver); ok {
			a.Arrive(topic, at)
		}
	})
}

// Hit tells of a request that id answered. A parent other than 0 is a dependency that was found only now. It returns the
// weights that changed, the entry's and its parent's, where the policy knows any; an unknown id changes nothing.
func (s *Store) Hit(id, parent policy.ID, at policy.Tick) (changed []Weight) {
	s.guarded(func() {
		if r := s.ids[id]; r != nil {
			changed = s.hitLocked(r, parent, at)
		}
	})
	return changed
}

func (s *Store) hitLocked(r *resident, parent policy.ID, at policy.Tick) []Weight {
	if l, ok := s.opt.Evictor.(policy.Linker); ok && parent != r.ID && s.ids[parent] != nil {
		l.Link(r.ID, parent)
	}
	s.ledger.Hit(r.ID, at)
	r.last = max(r.last, at.Seq)
	s.topicLocked(r.Topic)
	return s.weightsLocked(r.ID)
}

// weightsLocked lists the weights of an entry and of its parent, the two that an access changes, and notes that both
// are to be written.
func (s *Store) weightsLocked(id policy.ID) []Weight {
	s.noteLocked(id, changedState)
	l, ok := s.opt.Evictor.(policy.Linker)
	if !ok {
		return nil
	}
	weights := append(make([]Weight, 0, 2), Weight{id, l.Importance(id)})
	if p := s.parentLocked(id); s.ids[p] != nil {
		s.noteLocked(p, changedState)
		weights = append(weights, Weight{p, l.Importance(p)})
	}
	return weights
}

// Expired reports whether the policy lets id answer no more. Whoever finds it so removes it.
func (s *Store) Expired(id policy.ID, at policy.Tick) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.ledger.Expired(id, at)
}

// Importance is the structural importance of an entry as the policy has it now, 0 where it knows none.
func (s *Store) Importance(id policy.ID) float64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if l, ok := s.opt.Evictor.(policy.Linker); ok {
		return l.Importance(id)
	}
	return 0
}

// parentLocked is the parent as the policy has it now, or as it was at Put where the policy does not tell.
func (s *Store) parentLocked(id policy.ID) policy.ID {
	if p, ok := s.opt.Evictor.(policy.Persistent); ok {
		if st, ok := p.ExportEntry(id); ok {
			return st.Parent
		}
	}
	return s.ids[id].Parent
}

// Put stores a copy of e under a new id, which it also writes to e.ID, in place of an entry of the same key. at is the
// Tick of the request's arrival. A large answer is packed first, outside the lock.
func (s *Store) Put(e *Entry, at policy.Tick) (res PutResult) {
	r := &resident{Entry: e.own(), last: at.Seq}
	res.Size = r.Footprint(len(e.Vector))
	now := s.opt.Now()
	lost := s.guarded(func() {
		s.nextID++
		r.ID, e.ID, res.ID = s.nextID, s.nextID, s.nextID
		res.Evicted = s.sweepLocked(now)
		if old := s.keys[r.Key]; old != nil {
			res.Evicted = s.freeKeyLocked(old, r.Key, res.Evicted)
		}
		victims := s.insertLocked(r, e.Vector, at)
		res.Evicted = append(res.Evicted, victims...)
		if s.ids[r.ID] != nil {
			res.Weights = s.weightsLocked(r.ID)
		}
	})
	res.Evicted = append(res.Evicted, lost...)
	if _, ok := s.Get(res.ID); !ok && !slices.Contains(res.Evicted, res.ID) {
		res.Evicted = append(res.Evicted, res.ID) // the policy stopped before it was in
	}
	return res
}

// insertLocked makes r resident and returns the victims that had to make room, in order.
func (s *Store) insertLocked(r *resident, vector []float32, at policy.Tick) []policy.ID {
	s.labelLocked(&r.Entry)
	s.topicLocked(r.Topic)
	s.addLocked(r)
	s.noteNewLocked(r.ID, vector)
	victims := s.ledger.Insert(r.item(len(vector)), at, nil)
	for _, id := range victims {
		s.forgetLocked(id)
	}
	s.evictions += int64(len(victims))
	return victims
}

// freeKeyLocked makes room for a new entry of key k: its former entry goes, or it is an alias no longer.
func (s *Store) freeKeyLocked(old *resident, k Key, gone []policy.ID) []policy.ID {
	if old.Key == k {
		s.removeLocked(old.ID, policy.Expired)
		return append(gone, old.ID)
	}
	s.dropAliasLocked(old, k)
	return gone
}

// Remove drops entries on request and returns those that are gone.
func (s *Store) Remove(ids ...policy.ID) []policy.ID {
	var gone []policy.ID
	lost := s.guarded(func() {
		for _, id := range ids {
			if s.removeLocked(id, policy.Purged) {
				gone = append(gone, id)
			}
		}
	})
	return append(gone, lost...)
}

func (s *Store) removeLocked(id policy.ID, why policy.Reason) bool {
	if s.ids[id] == nil {
		return false
	}
	s.ledger.Remove(id, why)
	s.forgetLocked(id)
	return true
}

// sweepLocked removes entries whose time has run out, looking at a few from a random place on.
func (s *Store) sweepLocked(now time.Time) []policy.ID {
	var gone []policy.ID
	n := 0
	for id, r := range s.ids {
		if n++; n > sweepPerPut {
			break
		}
		if !r.Usable(now) && s.removeLocked(id, policy.Expired) {
			gone = append(gone, id)
		}
	}
	return gone
}

func (s *Store) addLocked(r *resident) {
	s.ids[r.ID] = r
	s.keys[r.Key] = r
}

// forgetLocked drops what the store itself has of an entry that the ledger has let go.
func (s *Store) forgetLocked(id policy.ID) {
	r := s.ids[id]
	delete(s.ids, id)
	delete(s.keys, r.Key)
	for _, k := range r.aliases {
		delete(s.keys, k)
	}
	s.aliases -= len(r.aliases)
	delete(s.restored, id)
	s.noteGoneLocked(id)
	s.topicLocked(r.Topic)
}

// maxLabels bounds the table of labels. Emptying it costs only that entries stored later do not share their copies with
// earlier ones.
const maxLabels = 4096

// labelLocked makes entries share one copy of each label.
func (s *Store) labelLocked(e *Entry) {
	for _, p := range []*string{&e.Tenant, &e.Namespace, &e.Model, &e.Endpoint} {
		v, ok := s.labels[*p]
		if !ok {
			if len(s.labels) >= maxLabels {
				clear(s.labels)
			}
			v = strings.Clone(*p)
			s.labels[v] = v
		}
		*p = v
	}
}

// All yields every entry, oldest first. Entries that come or go meanwhile may or may not be among them.
func (s *Store) All() iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		s.mu.RLock()
		ids := make([]policy.ID, 0, len(s.ids))
		for id := range s.ids {
			ids = append(ids, id)
		}
		s.mu.RUnlock()
		slices.Sort(ids)
		for _, id := range ids {
			if e, ok := s.Get(id); ok && !yield(e) {
				return
			}
		}
	}
}
