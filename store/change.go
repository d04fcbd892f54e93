package store

import (
	"fmt"
	"iter"
	"slices"

	"reprise/policy"
)

// sweepPerPut is how many entries a Put examines for an end of their time. Every Put adds one at most, so a few per Put keep
// the expired from filling the capacity.
const sweepPerPut = 4

// Put stores a copy of e under a new id, which it also writes to e.ID. Where the key has an entry already, fresh or expired, the
// answer takes its place: the entry keeps its id, topic, chain and aliases, and the policy keeps its importance and links. at is
// the Tick of the request's arrival. A large answer is packed first, outside the lock.
//
// The events are removals of entries whose time was over, one EventInsert, and the victims; the new entry itself may be among
// them, which is how a policy refuses it.
func (s *Store) Put(e *Entry, at policy.Tick) []Event {
	r := &resident{Entry: e.own(), last: at.Seq}
	evs := s.change(func(evs *events) {
		s.sweepLocked(r.Size, evs)
		if old := s.table.keys[r.Key]; old == nil || old.Key != r.Key {
			s.nextID++
			r.ID = s.nextID
		}
		s.putLocked(r, e.Vector, at, evs)
	})
	e.ID, e.Topic, e.Chain, e.Size = r.ID, r.Topic, r.Chain, r.Size
	return evs
}

// events collects what one call changes; what was collected before a panic of the policy is kept.
type events []Event

// putLocked stores r, in the place of the entry that has its key.
func (s *Store) putLocked(r *resident, vector []float32, at policy.Tick, evs *events) {
	old := s.table.keys[r.Key]
	if old != nil && old.Key == r.Key {
		s.replaceLocked(old, r, vector, at, evs)
		return
	}
	if old != nil { // an alias of another entry becomes a key of its own
		s.table.dropAlias(old, r.Key)
		s.emitLocked(&Event{Kind: EventAlias, ID: old.ID, Key: r.Key}, nil)
	}
	s.insertLocked(r, vector, at, evs)
}

// insertLocked makes r resident and evicts what has to make room.
func (s *Store) insertLocked(r *resident, vector []float32, at policy.Tick, evs *events) {
	s.topicLocked(r.Topic)
	s.table.add(r)
	ev := Event{Kind: EventInsert, ID: r.ID, At: at, Entry: &r.Entry, Vector: vector}
	s.emitLocked(&ev, r)
	s.settleLocked(r, ev, s.keeper.ledger.Insert(r.item(), at, nil), evs)
}

// replaceLocked puts the answer r in the place of old. What identifies an entry for topics stays as it was.
func (s *Store) replaceLocked(old, r *resident, vector []float32, at policy.Tick, evs *events) {
	r.ID, r.last = old.ID, max(old.last, at.Seq)
	r.Topic = old.Topic
	if r.Parent == 0 || r.Parent == r.ID {
		r.Parent = old.Parent
	}
	if old.Prompt != "" && r.Prompt != "" {
		r.Chain = old.Chain
	}
	s.table.replace(old, r)
	ev := Event{Kind: EventInsert, ID: r.ID, At: at, Entry: &r.Entry, Vector: vector, Replaced: true}
	s.emitLocked(&ev, r)
	s.keeper.link(r.ID, r.Parent)
	s.settleLocked(r, ev, s.keeper.ledger.Replace(r.item(), at, nil), evs)
}

// settleLocked removes the victims of an insertion, and adds the events of both.
func (s *Store) settleLocked(r *resident, insert Event, victims []policy.ID, evs *events) {
	at := len(*evs)
	*evs = append(*evs, insert)
	for _, id := range victims {
		s.dropLocked(id, policy.Evicted, evs)
	}
	s.evictions += int64(len(victims))
	ev := &(*evs)[at]
	ev.Refused = s.table.ids[r.ID] == nil
	ev.Weights = s.keeper.weights(r) // a refused entry has changed its parent, too
	s.emitLocked(&Event{Weights: ev.Weights}, nil)
}

// Hit counts a request that id answered. A parent other than 0 is a dependency that was found only now. An unknown id changes
// nothing and returns false.
func (s *Store) Hit(id, parent policy.ID, at policy.Tick) (ev Event, ok bool) {
	s.change(func(*events) {
		r := s.table.ids[id]
		if r == nil {
			return
		}
		s.keeper.link(id, parent)
		s.keeper.ledger.Hit(id, at)
		r.last = max(r.last, at.Seq)
		ev, ok = Event{Kind: EventUse, ID: id, At: at, Entry: &r.Entry, Parent: parent, Weights: s.keeper.weights(r)}, true
		s.emitLocked(&ev, r)
	})
	return ev, ok
}

// Arrive announces a miss on a topic to the policy when the request arrives.
func (s *Store) Arrive(topic policy.TopicID, at policy.Tick) Event {
	ev := Event{Kind: EventArrive, Topic: topic, At: at}
	s.change(func(*events) {
		s.topicLocked(topic)
		s.keeper.arrive(topic, at)
		s.emitLocked(&ev, nil)
	})
	return ev
}

// Alias makes k another key of the entry id: a paraphrase that once hit is exact the next time. A key that has an entry of its
// own keeps it; an alias of another entry moves. It returns false where nothing changed.
func (s *Store) Alias(k Key, id policy.ID) (ev Event, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, old := s.table.ids[id], s.table.keys[k]
	if r == nil || old == r || old != nil && old.Key == k {
		return ev, false
	}
	if old != nil {
		s.table.dropAlias(old, k)
		s.emitLocked(&Event{Kind: EventAlias, ID: old.ID, Key: k}, nil)
	}
	if len(r.aliases) >= s.opt.MaxAliases {
		s.table.dropAlias(r, r.aliases[0])
	}
	s.table.addAlias(r, k)
	ev = Event{Kind: EventAlias, ID: id, Key: k}
	s.emitLocked(&ev, nil)
	return ev, true
}

// Anchor records that an entry is the anchor of its topic now, so that a restart makes it the anchor again. It returns false for
// an unknown id.
func (s *Store) Anchor(id policy.ID) (ev Event, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.table.ids[id]
	if r == nil {
		return ev, false
	}
	if former := s.table.setAnchor(r); former != nil {
		s.emitLocked(&Event{Kind: EventAnchor, ID: former.ID}, nil)
	}
	ev = Event{Kind: EventAnchor, ID: id}
	s.emitLocked(&ev, nil)
	return ev, true
}

// Remove drops entries for a reason that is not want of room: policy.Purged or policy.Expired.
func (s *Store) Remove(why policy.Reason, ids ...policy.ID) []Event {
	return s.change(func(evs *events) {
		for _, id := range ids {
			if s.keeper.ledger.Remove(id, why) {
				s.dropLocked(id, why, evs)
			}
		}
	})
}

// sweepLocked removes entries whose time is over, looking at a few from a random place on. An entry whose answer has expired
// stays for one more lifetime while there is room: an answer that is asked for again then takes its place, with its importance,
// links and aliases.
func (s *Store) sweepLocked(size int64, evs *events) {
	now := s.opt.Now()
	full := s.keeper.full(s.opt.Limit, size)
	n := 0
	for id, r := range s.table.ids {
		if n++; n > sweepPerPut {
			break
		}
		over := r.over(now) || full && !r.Usable(now)
		if over && s.keeper.ledger.Remove(id, policy.Expired) {
			s.dropLocked(id, policy.Expired, evs)
		}
	}
}

// dropLocked drops what the store itself has of an entry that the ledger has let go.
func (s *Store) dropLocked(id policy.ID, why policy.Reason, evs *events) {
	r := s.table.drop(id)
	ev := Event{Kind: removal(why), ID: id}
	s.emitLocked(&ev, r)
	if s.restored != nil {
		delete(s.restored.vectors, id)
	}
	*evs = append(*evs, ev)
}

// emitLocked passes an event on to the dirty set. r is the entry's resident where its topic may have changed too.
func (s *Store) emitLocked(ev *Event, r *resident) {
	if s.dirty != nil {
		s.dirty.read(ev, r)
	}
}

func (s *Store) topicLocked(t policy.TopicID) {
	if ownID(s.opt.Process, t) {
		s.maxTopic = max(s.maxTopic, t)
	}
}

// change runs f under the lock. A panic of the policy becomes a fault: whatever the policy has done half, the entries that the
// ledger still has are those of the store, and the others are among the evicted.
func (s *Store) change(f func(evs *events)) []Event {
	evs, err := s.try(f)
	if err != nil {
		s.opt.OnFault("policy", err)
	}
	return evs
}

func (s *Store) try(f func(evs *events)) (evs events, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("run policy: %v", p)
			s.faults++
			s.reconcileLocked(&evs)
		}
	}()
	f(&evs)
	return evs, nil
}

// reconcileLocked drops the entries that the ledger has let go without returning them.
func (s *Store) reconcileLocked(evs *events) {
	var ids []policy.ID
	for id := range s.table.ids {
		if !s.keeper.ledger.Has(id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		s.dropLocked(id, policy.Evicted, evs)
	}
}

// All yields every entry, oldest first. Entries that come or go meanwhile may or may not be among them.
func (s *Store) All() iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		s.mu.RLock()
		ids := make([]policy.ID, 0, len(s.table.ids))
		for id := range s.table.ids {
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
