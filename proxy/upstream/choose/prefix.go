package choose

var _ Chooser = (*Prefix)(nil)

// Prefix sends a request where it costs the least, in tokens to be prefilled (reference/engine-hints.md §5.H): those that wait there, and
// its own without those that the replica holds. Its own count several times, because what is prefilled twice takes the place of other
// blocks, and delays all requests behind it. The first request of a scaffold goes to the scaffold's owner unless the load is against it, so
// that proxies which share nothing choose the same replica.
type Prefix struct{ turns LeastLoaded }

// The weights are in tokens that wait. They are measured, by reprise-lab fleet: with a weight of 1 of the request's own tokens, scaffolds
// spread over all replicas until no cache has room for them; the limit of consistent hashing, 1.25 instead of 2, has the same effect.
const (
	uncachedWeight = 6  // a token of the request that the replica does not hold
	ownerWeight    = 3  // a token of a scaffold that no replica holds, elsewhere than at its owner
	inFlightWeight = 64 // a request that is being answered
	prefixBalance  = 2  // times its part of the requests in flight is the most that a replica gets
)

// Choose implements Chooser.
func (p *Prefix) Choose(r *Request, loads []Load) int {
	if r.Key == 0 {
		return p.turns.Choose(r, loads)
	}
	limit, most := boundOf(loads, prefixBalance), 0
	for i := range loads {
		most = max(most, loads[i].Cached)
	}
	first := -1
	if most < r.Shared {
		first = ownerWithRoom(r, loads, limit)
	}
	best, least := -1, 0
	for i := range loads {
		l := &loads[i]
		if !limit.allows(l) {
			continue
		}
		cost := uncachedWeight*(r.Tokens-l.Cached) + l.Pending + inFlightWeight*l.InFlight
		if i != first {
			cost += ownerWeight * r.Shared
		}
		if best < 0 || cost < least || cost == least && rank(r.Conversation, l) > rank(r.Conversation, &loads[best]) {
			best, least = i, cost
		}
	}
	return max(best, 0)
}

// ownerWithRoom returns the first replica for the key of a request that has room for it besides what it holds, and the owner where none has. A
// few long prompts are not spread evenly by their keys: without this, a replica with one more than it can hold would lose and evaluate each
// of them again by turns, beside another one with room. Caches of replicas that run for long are full, so that nothing changes there.
func ownerWithRoom(r *Request, loads []Load, limit bound) int {
	best, highest := -1, uint64(0)
	for i := range loads {
		l := &loads[i]
		if at := rank(r.Key, l); limit.allows(l) && l.Held+r.Tokens-l.Cached <= l.Capacity && (best < 0 || at > highest) {
			best, highest = i, at
		}
	}
	if best < 0 {
		return owner(r.Key, loads, limit)
	}
	return best
}
