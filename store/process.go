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

// counterBits is the part of an id that counts: the number of the process that made the id is above it. Both together
// have 53 bits, so that every reader of JSON keeps them exact.
const counterBits = 37

// ownID reports whether a process made an id. Package topics makes topic ids in the same way.
func ownID[T ~uint64](process uint16, id T) bool { return uint64(id)>>counterBits == uint64(process) }

// firstID is the id before the first that a process makes.
func firstID(process uint16) policy.ID { return policy.ID(process) << counterBits }
