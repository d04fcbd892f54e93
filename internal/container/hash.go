// Package container has the data structures of policies, once each: an index of numbers by key, entries in linked queues, a heap
// with an index of its items, the history of entries that have left. No order depends on memory or on chance, as that of a map
// does: the same calls lead to the same state.
package container

// Mix spreads the bits of x over all of them (the finaliser of SplitMix64).
func Mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}
