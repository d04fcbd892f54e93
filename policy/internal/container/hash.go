// Package container has what policies are made of, once each: a hash table of numbers, entries in linked queues, a heap
// that knows the place of its items, what is remembered of entries that have left. Nothing here has an order that depends on
// memory or on chance, as a map's does: the same calls lead to the same state.
package container

// Mix spreads the bits of x over all of them (the finaliser of SplitMix64).
func Mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}
