package store

import "reprise/policy"

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
		ev.At = s.clock.again(ev.Kind == EventUse || ev.Kind == EventArrive)
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
		set, _, ok := SetVector(s, ev.ID, ev.Vector)
		return one(set, ok)
	case EventEvict:
		return s.change(func(evs *events) { s.core.evict(ev.ID, evs) })
	}
	why, _ := ev.Reason()
	return s.Remove(why, ev.ID)
}

// Unalias ends all aliases of an entry of s.
func Unalias(s *Store, id policy.ID) {
	s.change(func(*events) {
		if r := s.core.table.ids[id]; r != nil {
			s.core.keepAliases(r, nil)
		}
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
	if other := c.table.keys.get(ev.Entry.Key); other != nil && other.Key == ev.Entry.Key && other.ID != ev.ID {
		c.keeper.ledger.Remove(other.ID, policy.Expired)
		c.drop(other.ID, policy.Expired, evs)
	}
	r := residentOf(ev.Entry, ev.At.Seq, c.space.Load().dim)
	r.ID = ev.ID
	c.sawID(r.ID)
	c.put(r, ev.Vector, ev.At, evs)
}

// applyAlias makes a the last alias of an entry. Where that is gone the alias ends.
func (c *core) applyAlias(a alias, id policy.ID, evs *events) {
	if r := c.table.ids[id]; r != nil {
		c.alias(r, a, evs)
		return
	}
	if old := c.table.keys.get(a.key); old != nil && old.Key != a.key {
		c.dropAlias(old, a.key)
	}
}

// evict removes a victim that another process has chosen. A policy that would have chosen another one is a fault, unless it has seen the
// requests in another order.
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
