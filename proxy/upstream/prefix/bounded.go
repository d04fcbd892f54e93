package prefix

import (
	"math"
)

// bound is the limit of requests in flight of replicas with bounded loads (Mirrokni, Thorup and Zadimoghaddam, Consistent Hashing with
// Bounded Loads, 2018): none gets more than a factor times its part of them.
type bound struct{ perShare float64 }

// boundOf returns the bound of replicas with these loads. The factor is above 1. A part of a few requests varies at random by its square
// root, so that a factor alone would move requests from replicas that are not overloaded: so many times the square root are allowed too.
func boundOf(loads []Load, factor, roots float64) bound {
	inFlight, shares := 1, 0.0
	for i := range loads {
		inFlight += loads[i].InFlight
		shares += loads[i].Share
	}
	part := float64(inFlight) / shares
	return bound{max(factor*part, part+roots*math.Sqrt(part))}
}

// allows reports whether a replica may get one more request. At least one of all replicas may: their limits add up to more than their
// requests.
func (b bound) allows(l *Load) bool { return float64(l.InFlight) < math.Ceil(b.perShare*l.Share) }

// rank orders replicas for a key: the first is its owner, the second its owner without that one. This is rendezvous hashing: a ring
// with as many points as there are keys, so that a replica that is added or lost changes the owners of its own keys alone, and proxies
// with the same replicas agree without exchanging anything.
func rank(key Block, l *Load) uint64 {
	x := uint64(key) ^ l.ID // splitmix64
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Owner returns the first replica for a key whose requests in flight stay below its part of them times balance, as consistent hashing with
// bounded loads has it.
func Owner(key Block, loads []Load, balance float64) int {
	return owner(key, loads, boundOf(loads, balance, 0))
}

// owner returns the first replica for a key that allowed does not exclude.
func owner(key Block, loads []Load, b bound) int {
	best, highest := -1, uint64(0)
	for i := range loads {
		if at := rank(key, &loads[i]); b.allows(&loads[i]) && (best < 0 || at > highest) {
			best, highest = i, at
		}
	}
	return max(best, 0)
}
