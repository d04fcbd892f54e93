package store

import "reprise/policy"

// Apply repeats an event that another store has returned, and returns what it changed. It makes no decisions: victims are those
// of the log, so a store that applies a log is opened without a limit. The policy gets the same calls and ends in the same
// state; Stats.Faults counts where it would have chosen another victim.
func (s *Store) Apply(ev Event) []Event {
	one := func(ev Event, ok bool) []Event {
		if !ok {
			return nil
		}
		return []Event{ev}
	}
	s.clock.resume(ev.At)
	switch ev.Kind {
	case EventInsert:
		return s.change(func(evs *events) { s.core.apply(ev, evs) })
	case EventUse:
		return one(s.Hit(ev.ID, ev.Parent, ev.At))
	case EventAlias:
		return s.Alias(ev.Key, ev.ID)
	case EventAnchor:
		return one(s.Anchor(ev.ID))
	case EventArrive:
		return one(s.Arrive(ev.Topic, ev.At), true)
	case EventEvict:
		return s.change(func(evs *events) { s.core.evict(ev.ID, evs) })
	}
	why, _ := ev.Reason()
	return s.Remove(why, ev.ID)
}

// apply stores the entry of an event under the id that it has there.
func (c *core) apply(ev Event, evs *events) {
	r := residentOf(ev.Entry, ev.At.Seq)
	if known := c.table.ids[r.ID]; known != nil && known.Key != r.Key {
		return // an id is never used twice, so this event is of another log
	}
	c.sawID(r.ID)
	c.put(r, ev.Vector, ev.At, evs)
}

// evict removes a victim that another process has chosen. A policy that would have chosen another one is a fault.
func (c *core) evict(id policy.ID, evs *events) {
	if c.table.ids[id] == nil {
		return
	}
	if !c.keeper.ledger.EvictNamed(id) {
		c.faults++
	}
	c.drop(id, policy.Evicted, evs)
	c.evictions++
}
