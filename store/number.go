package store

import "reprise/policy"

// counterBits is the part of an id that counts: the number of the process that made the id is above it. Both together
// have 53 bits, so that every reader of JSON keeps them exact.
const counterBits = 37

// ownID reports whether a process made an id. Package topics makes topic ids in the same way.
func ownID[T ~uint64](process uint16, id T) bool { return uint64(id)>>counterBits == uint64(process) }

// firstID is the id before the first that a process makes.
func firstID(process uint16) policy.ID { return policy.ID(process) << counterBits }
