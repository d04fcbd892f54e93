package store

import "reprise/policy"

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

// Full reports whether one more entry of some size would exceed a limit by more than 0.5 %: then the process that evicts has not kept up.
// The next 0.5 % are for entries that other processes add before this one has read of them. Where the limit is not exceeded yet there is
// room for one entry, however large it is.
func (s *Store) Full(limit policy.Limit, size int64) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	l := s.core.keeper.ledger
	if limit.Entries > 0 && l.Entries() > limit.Entries && l.Entries() >= limit.Entries+limit.Entries/200 {
		return true
	}
	return limit.Bytes > 0 && (size > limit.Bytes || l.Bytes() > limit.Bytes && l.Bytes()+size > limit.Bytes+limit.Bytes/200)
}
