package store

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"reprise/policy"
)

// Put stores a copy of e under a new id, which it also writes to e.ID. Where the key has an entry already, fresh or expired,
// the answer replaces that of the entry, which keeps its id, topic, chain and aliases, and the policy keeps its importance
// and links. at is the Tick of the request's arrival. A large answer is packed first, outside the lock.
//
// The events are removals of entries whose time was over, one EventInsert, and the victims; the new entry itself may be among
// them, which is how a policy refuses it.
func (s *Store) Put(e *Entry, at policy.Tick) []Event {
	r := residentOf(e, at.Seq, s.core.space.Load().dim)
	var chain [32]byte
	evs := s.change(func(evs *events) {
		defer func() { chain = r.chain() }() // an alias may change r as soon as the lock is free
		if old := s.core.table.keys[r.Key]; old == nil || old.Key != r.Key {
			s.core.sweep(!s.core.keeper.ledger.Fits(r.Size), evs)
			s.core.nextID++
			r.ID = s.core.nextID
		}
		s.core.put(r, e.Vector, at, evs)
	})
	e.ID, e.Topic, e.Chain, e.Size = r.ID, r.Topic, chain, r.Size
	return evs
}

// Move puts the entry id under another scope, conversation and topic, with the vector that it has there. All else stays, its state in the policy too.
// It returns no event for an unknown entry, else an EventInsert that replaces it.
func (s *Store) Move(id policy.ID, to Entry) []Event {
	return s.change(func(evs *events) {
		old := s.core.table.ids[id]
		if old == nil {
			return
		}
		e := old.entry(old.more)
		e.Scope, e.Chain, e.Topic = to.Scope, to.Chain, to.Topic
		r := compact(e)
		r.last = old.last
		r.use.Store(old.use.Load())
		*evs = append(*evs, s.core.changed(old, r, to.Vector, s.clock.last()))
	})
}

// Hit counts a request that id answered. A parent other than 0 is a dependency that was found only now. An unknown id changes
// nothing and returns false.
func (s *Store) Hit(id, parent policy.ID, at policy.Tick) (ev Event, ok bool) {
	s.change(func(*events) {
		r := s.core.table.ids[id]
		if r == nil {
			return
		}
		s.core.hits++
		s.core.keeper.link(id, parent)
		s.core.keeper.ledger.Hit(id, at)
		r.last = max(r.last, at.Seq)
		r.used(at.At)
		ev, ok = Event{Kind: EventUse, ID: id, At: at, Parent: parent, Weights: s.core.keeper.weights(r)}, true
		s.core.emit(&ev, r)
	})
	return ev, ok
}

// Arrive announces a miss on a topic to the policy when the request arrives.
func (s *Store) Arrive(topic policy.TopicID, at policy.Tick) Event {
	ev := Event{Kind: EventArrive, Topic: topic, At: at}
	s.change(func(*events) {
		s.core.sawTopic(topic)
		s.core.keeper.arrive(topic, at)
		s.core.emit(&ev, nil)
	})
	return ev
}

// Refused is the basis of an alias that the caller does not follow.
const Refused = math.MaxUint64

// Alias makes k another key of the entry id: a paraphrase that once hit is exact the next time. A key that has an entry of its
// own keeps it; an alias of another entry moves. basis is why k leads there, in a form that only the caller reads: see Basis. An alias
// takes room, so entries may be evicted for it, and where the entry has too many, the oldest one that is not Refused ends. It returns no event where nothing changed, and otherwise one EventAlias and the victims.
func (s *Store) Alias(k Key, id policy.ID, basis uint64) []Event {
	return s.change(func(evs *events) {
		r, a := s.core.table.ids[id], alias{k, basis}
		if r != nil && !slices.Contains(r.aliases(), a) {
			s.core.alias(r, a, evs)
		}
	})
}

// Has reports whether the store has an entry.
func (s *Store) Has(id policy.ID) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.core.table.ids[id] != nil
}

// Basis returns the basis with which k was made an alias of the entry id; false if it is no alias of it. Aliases from files that have no basis yet
// have 0.
func (s *Store) Basis(k Key, id policy.ID) (basis uint64, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	r := s.core.table.ids[id]
	if r == nil {
		return 0, false
	}
	if at := r.alias(k); at >= 0 {
		return r.aliases()[at].basis, true
	}
	return 0, false
}

// Refusals returns the aliases of the entry id that have the basis Refused.
func (s *Store) Refusals(id policy.ID) (keys []Key) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	r := s.core.table.ids[id]
	if r == nil {
		return nil
	}
	for _, a := range r.aliases() {
		if a.basis == Refused {
			keys = append(keys, a.key)
		}
	}
	return keys
}

// Anchor records an entry as the anchor of its topic, for the next restart, and returns the former anchor, 0 if none is recorded. It returns false
// for an unknown id.
func (s *Store) Anchor(id policy.ID) (ev Event, former policy.ID, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.core.table.ids[id]
	if r == nil {
		return ev, 0, false
	}
	return Event{Kind: EventAnchor, ID: id}, s.core.anchor(r), true
}

// Remove drops entries for a reason other than eviction: policy.Purged or policy.Expired. A purge is announced to the backing
// without ids too, because the backing may hold the bytes of entries that left before.
func (s *Store) Remove(why policy.Reason, ids ...policy.ID) []Event {
	return s.change(func(evs *events) {
		if why == policy.Purged {
			s.core.purges.Add(1)
			if s.core.dirty != nil && s.core.dirty.whole {
				s.core.dirty.purged = true
			}
		}
		for _, id := range ids {
			if s.core.keeper.ledger.Remove(id, why) {
				s.core.drop(id, why, evs)
			}
		}
	})
}

// Purges is a number that every purge raises, and whether it continues after a restart: a backing of this process alone has it after a
// successful Sync. Without a backing nothing is to survive.
func (s *Store) Purges() (n uint64, durable bool) {
	n = s.core.purges.Load()
	return n, s.opt.Backing == nil || s.core.kept.Load() >= n
}

// change runs f under the lock. A panic of the policy becomes a fault: the store then keeps exactly the entries that are still
// in the ledger, and the others are among the evicted.
func (s *Store) change(f func(evs *events)) []Event {
	evs, err := s.try(f)
	if err != nil {
		s.opt.OnFault("policy", err)
	}
	return evs
}

// try is change, but returns the panic as an error.
func (s *Store) try(f func(evs *events)) (evs events, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("run policy: %v", p)
			s.core.faults++
			s.core.reconcile(&evs)
		}
		s.bytes.Store(s.core.residentBytes())
	}()
	f(&evs)
	return evs, nil
}

// All yields every entry, oldest first. Entries that are stored or removed meanwhile may be among them or not. It releases the lock
// after some entries each time, which a range over a map allows as long as nothing changes during a step of it.
func (s *Store) All() iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		s.mu.RLock()
		ids := make([]policy.ID, 0, len(s.core.table.ids))
		for id := range s.core.table.ids {
			if ids = append(ids, id); len(ids)%batchChanges == 0 {
				s.mu.RUnlock()
				s.mu.RLock()
			}
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
