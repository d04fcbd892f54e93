package choose

var _ Chooser = (*Prefix)(nil)

// Prefix sends a request where the least has to be prefilled before its first token: its own tokens without those that the replica
// holds, and those that wait there (reference/engine-hints.md §5.H). No replica gets more requests than [balance] allows. A request of
// which no replica holds anything goes to the owner of its key.
type Prefix struct{ turns LeastLoaded }

// inFlightTokens is what a request that is being answered costs the next one, in tokens to be prefilled.
const inFlightTokens = 64

// Choose implements Chooser.
func (p *Prefix) Choose(r *Request, loads []Load) int {
	if r.Key == 0 {
		return p.turns.Choose(r, loads)
	}
	limit, cold := boundOf(loads), true
	for i := range loads {
		cold = cold && loads[i].Cached == 0
	}
	if cold {
		return owner(r.Key, loads, limit)
	}
	best, least := -1, 0
	for i := range loads {
		l := &loads[i]
		if !limit.allows(l) {
			continue
		}
		cost := r.Tokens - l.Cached + l.Pending + inFlightTokens*l.InFlight
		if best < 0 || cost < least || cost == least && rank(r.Conversation, l) > rank(r.Conversation, &loads[best]) {
			best, least = i, cost
		}
	}
	return max(best, 0)
}
