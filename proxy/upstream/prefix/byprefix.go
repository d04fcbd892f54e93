package prefix

var _ Chooser = (*ByPrefix)(nil)

// ByPrefix sends a request where it costs the least, in tokens to be prefilled (reference/engine-hints.md §5.H): those that wait there, and
// its own without those that the replica holds. Its own count several times, because what is prefilled twice takes the place of other
// blocks, and delays all requests behind it. What no replica holds of a scaffold, and of a conversation, goes to the owner of that one
// unless the load is against it, so that proxies which share nothing choose the same replica. A proxy that is alone has no need of owners.
type ByPrefix struct{ turns LeastLoaded }

// The weights are in tokens that wait. They are measured, by reprise-lab fleet. With a weight of 1 of the request's own tokens, scaffolds
// spread over all replicas until no cache has room for them. Without owners of conversations, two proxies miss at every turn that the other
// one got before. With few requests in flight the limit is far above the limit of consistent
// hashing, and with many it is near it.
const (
	uncachedWeight     = 6        // a token of the request that the replica does not hold
	ownerWeight        = 3        // a token of a scaffold that no replica holds, elsewhere than at its owner
	conversationWeight = 6        // the same, of the rest of a conversation
	inFlightWeight     = 16       // a request that is being answered
	activeWeight       = 1.0 / 32 // a token of its prompt: it takes room in the cache, and is read for each token of the answer
	prefixBalance      = 1.25     // times its part of the requests in flight is the most that a replica gets
	prefixRoots        = 5        // or so many times the square root of its part above it
)

// Choose implements Chooser.
func (p *ByPrefix) Choose(r *Request, loads []Load) int {
	if r.Key == 0 {
		return p.turns.Choose(r, loads)
	}
	limit := boundOf(loads, prefixBalance, prefixRoots)
	first, worth := preferred(r, loads, limit)
	best, least := -1, 0.0
	for i := range loads {
		l := &loads[i]
		if !limit.allows(l) {
			continue
		}
		cost := uncachedWeight*float64(r.Tokens-l.Cached) + float64(l.Pending) + inFlightWeight*float64(l.InFlight) + activeWeight*float64(l.Active)
		if i != first {
			cost += worth * (1 - r.Alone)
		}
		if best < 0 || cost < least || cost == least && rank(r.Conversation, l) > rank(r.Conversation, &loads[best]) {
			best, least = i, cost
		}
	}
	return max(best, 0)
}

// preferred returns the owner of what no replica holds, and what it is worth to be there: of the scaffold, or else of the conversation, of
// which none holds more than the block that it shares with its scaffold. It is worth nothing where the request goes on from what one holds.
func preferred(r *Request, loads []Load, limit bound) (first int, worth float64) {
	most := 0
	for i := range loads {
		most = max(most, loads[i].Cached)
	}
	switch {
	case most < r.Shared/BlockTokens*BlockTokens:
		return ownerWithRoom(r.Key, r, loads, limit), ownerWeight * float64(r.Shared)
	case most <= r.Shared+BlockTokens:
		return ownerWithRoom(r.Conversation, r, loads, limit), conversationWeight * float64(r.Tokens-r.Shared)
	}
	return -1, 0
}

// ownerWithRoom returns the first replica for a key that has room for a request besides what it holds, and the owner where none has. A
// few long prompts are not spread evenly by their keys: without this, a replica with one more than it can hold would lose and evaluate each
// of them again by turns, beside another one with room. Caches of replicas that run for long are full, so that nothing changes there.
func ownerWithRoom(key Block, r *Request, loads []Load, limit bound) int {
	best, highest := -1, uint64(0)
	for i := range loads {
		l := &loads[i]
		if at := rank(key, l); limit.allows(l) && l.Held+r.Tokens-l.Cached <= l.Capacity && (best < 0 || at > highest) {
			best, highest = i, at
		}
	}
	if best < 0 {
		return owner(key, loads, limit)
	}
	return best
}
