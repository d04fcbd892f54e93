package store

import (
	"maps"
	"slices"

	"reprise/policy"
)

// Adopt removes every entry, and goes on with another secret and another number of the process: those of a shared store that could not be
// reached when the store was opened. It holds the lock until all are removed: let few be left.
func (s *Store) Adopt(secret [32]byte, process uint16) []Event {
	return s.change(func(evs *events) {
		for _, id := range slices.Sorted(maps.Keys(s.core.table.ids)) {
			if s.core.keeper.ledger.Remove(id, policy.Purged) {
				s.core.drop(id, policy.Purged, evs)
			}
		}
		setSecret(s, secret)
		s.opt.Process, s.core.nextID, s.core.maxTopic = process, firstID(process), policy.TopicID(firstID(process))
	})
}
