package store

import "reprise/policy"

// Apply makes an event that another store has returned happen here, and returns what it changed. It decides nothing: victims
// are those of the log, so a store that follows a log is opened without a limit. The policy goes through the same calls and ends
// in the same state; where it would have chosen another victim, Stats.Faults counts that.
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
		return s.applyInsert(ev)
	case EventUse:
		return one(s.Hit(ev.ID, ev.Parent, ev.At))
	case EventAlias:
		return one(s.Alias(ev.Key, ev.ID))
	case EventAnchor:
		return one(s.Anchor(ev.ID))
	case EventArrive:
		return one(s.Arrive(ev.Topic, ev.At), true)
	case EventEvict:
		return s.applyEvict(ev.ID)
	}
	why, _ := ev.Reason()
	return s.Remove(why, ev.ID)
}

func (s *Store) applyInsert(ev Event) []Event {
	r := &resident{Entry: ev.Entry.own(), last: ev.At.Seq}
	return s.change(func(evs *events) {
		if known := s.table.ids[r.ID]; known != nil && known.Key != r.Key {
			return // an id is never used twice, so this event is of another log
		}
		if ownID(s.opt.Process, r.ID) {
			s.nextID = max(s.nextID, r.ID)
		}
		s.putLocked(r, ev.Vector, ev.At, evs)
	})
}

func (s *Store) applyEvict(id policy.ID) []Event {
	return s.change(func(evs *events) {
		if s.table.ids[id] == nil {
			return
		}
		if !s.keeper.ledger.EvictNamed(id) {
			s.faults++
		}
		s.dropLocked(id, policy.Evicted, evs)
		s.evictions++
	})
}
