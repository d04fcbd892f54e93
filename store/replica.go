package store

import (
	"maps"
	"slices"

	"reprise/policy"
)

// What follows makes a store repeat what others have done: the log of another store, or of several processes that share their entries.

// Apply repeats an event that another store has returned, and returns what it changed. It makes no decisions: victims are those
// of the log, so a store that applies a log is opened without a limit. The policy gets the same calls and ends in the same
// state; Stats.Faults counts where it would have chosen another victim.
//
// With Outside the log is that of several processes, each of which has changes that the others have not read yet. So a later event does
// what it says, whatever it finds: an insertion under a key that has another entry removes that one, an alias moves, one of an entry
// that is gone ends, and a use or a removal of such an entry does nothing. Applied twice, an event changes nothing more. The ticks are
// those of this process: a use and an arrival take the next one, because they count as a request here too, and an insertion the last.
func (s *Store) Apply(ev Event) []Event {
	one := func(ev Event, ok bool) []Event {
		if !ok {
			return nil
		}
		return []Event{ev}
	}
	if s.opt.Outside {
		if ev.At = s.clock.last(); ev.Kind == EventUse || ev.Kind == EventArrive {
			ev.At = s.clock.tick()
		}
	} else {
		s.clock.resume(ev.At)
	}
	switch ev.Kind {
	case EventInsert:
		return s.change(func(evs *events) { s.core.apply(ev, evs) })
	case EventUse:
		return one(s.Hit(ev.ID, ev.Parent, ev.At))
	case EventAlias:
		return s.change(func(evs *events) { s.core.applyAlias(alias{ev.Key, ev.Basis}, ev.ID, evs) })
	case EventAnchor:
		anchor, _, ok := s.Anchor(ev.ID)
		return one(anchor, ok)
	case EventArrive:
		return one(s.Arrive(ev.Topic, ev.At), true)
	case EventVector:
		if len(ev.Vector) == 0 { // it is of another space
			return nil
		}
		set, _, ok := s.SetVector(ev.ID, ev.Vector)
		return one(set, ok)
	case EventEvict:
		return s.change(func(evs *events) { s.core.evict(ev.ID, evs) })
	}
	why, _ := ev.Reason()
	return s.Remove(why, ev.ID)
}

// Unalias ends all aliases of an entry.
func (s *Store) Unalias(id policy.ID) {
	s.change(func(*events) {
		if one := s.core.table.ids[id]; one != nil {
			s.core.keepAliases(one, nil)
		}
	})
}

// Trim evicts entries while a limit is exceeded, most at most, and returns their removals: for the one of several processes that share a
// store which decides for all. The victims are those that a store with that limit would have chosen, if it is called after each change.
// Entries whose time is over go first, where it finds some.
func (s *Store) Trim(limit policy.Limit, most int) []Event {
	return s.change(func(evs *events) {
		for range most {
			if !s.core.over(limit) {
				break
			}
			if s.core.sweep(true, evs); !s.core.over(limit) {
				break
			}
			victims := s.core.keeper.ledger.Trim(limit, 1, nil)
			if s.core.evicted(victims, evs); len(victims) == 0 {
				break
			}
		}
	})
}

func (c *core) over(limit policy.Limit) bool {
	l := c.keeper.ledger
	return limit.Entries > 0 && l.Entries() > limit.Entries || limit.Bytes > 0 && l.Bytes() > limit.Bytes
}

// Full reports whether one more entry of some size would exceed a limit by more than 0.5 %: the process that evicts has not kept up. Other
// processes may add another 0.5 % before this one reads of it. While the limit is not exceeded there is room for one entry of any size.
func (s *Store) Full(limit policy.Limit, size int64) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	l := s.core.keeper.ledger
	if limit.Entries > 0 && l.Entries() > limit.Entries && l.Entries() >= limit.Entries+limit.Entries/200 {
		return true
	}
	return limit.Bytes > 0 && (size > limit.Bytes || l.Bytes() > limit.Bytes && l.Bytes()+size > limit.Bytes+limit.Bytes/200)
}

// Adopt removes every entry and takes over the secret and the process number of a shared store that could not be reached at Open. It holds the lock
// until all entries are removed, so remove most of them before.
func (s *Store) Adopt(secret [32]byte, process uint16) []Event {
	return s.change(func(evs *events) {
		for _, id := range slices.Sorted(maps.Keys(s.core.table.ids)) {
			if s.core.keeper.ledger.Remove(id, policy.Purged) {
				s.core.drop(id, policy.Purged, evs)
			}
		}
		s.secret.Store(&secret)
		s.opt.Process, s.core.nextID, s.core.maxTopic = process, firstID(process), policy.TopicID(firstID(process))
	})
}

// apply stores the entry of an event under the id that it has there.
func (c *core) apply(ev Event, evs *events) {
	if known := c.table.ids[ev.ID]; known != nil {
		switch {
		case known.Key != ev.Entry.Key:
			return // an id is never used twice, so this event is of another log
		case c.opt.Outside && known.entry(known.more).SameAnswer(ev.Entry):
			return
		}
	}
	if other := c.table.keys[ev.Entry.Key]; other != nil && other.Key == ev.Entry.Key && other.ID != ev.ID {
		c.keeper.ledger.Remove(other.ID, policy.Expired)
		c.drop(other.ID, policy.Expired, evs)
	}
	r := residentOf(ev.Entry, ev.At.Seq, c.space.Load().dim)
	r.ID = ev.ID
	c.sawID(r.ID)
	c.put(r, ev.Vector, ev.At, evs)
}

// applyAlias makes a the last alias of an entry. If the entry is gone it ends the alias.
func (c *core) applyAlias(a alias, id policy.ID, evs *events) {
	if r := c.table.ids[id]; r != nil {
		c.alias(r, a, evs)
		return
	}
	if old := c.table.keys[a.key]; old != nil && old.Key != a.key {
		c.dropAlias(old, a.key)
	}
}

// evict removes a victim that the log names. It is a fault if the policy would have chosen another victim, unless several processes have seen the
// requests in different orders.
func (c *core) evict(id policy.ID, evs *events) {
	if c.table.ids[id] == nil {
		return
	}
	if same := c.keeper.ledger.EvictNamed(id); !same && !c.opt.Outside {
		c.faults++
	}
	c.drop(id, policy.Evicted, evs)
	c.evictions++
}
