package choose

var _ Chooser = (*Ring)(nil)

// Ring is consistent hashing with bounded loads: a request goes to the first replica for its key that is below its limit
// (reference/engine-hints.md §5.G). It needs no knowledge of what the replicas hold.
type Ring struct{ turns LeastLoaded }

// ringBalance is the factor c of §5.G.
const ringBalance = 1.25

// Choose implements Chooser.
func (c *Ring) Choose(r *Request, loads []Load) int {
	if r.Key == 0 {
		return c.turns.Choose(r, loads)
	}
	return owner(r.Key, loads, boundOf(loads, ringBalance, 0))
}
