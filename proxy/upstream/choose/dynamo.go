package choose

import "reprise/proxy/upstream/prefix"

var _ Chooser = (*Dynamo)(nil)

// Dynamo is the KV router of NVIDIA Dynamo (reference/engine-hints.md §5.E): the lowest sum, in blocks, of what is to be prefilled with
// the request and of what is in use with it.
type Dynamo struct{ turns LeastLoaded }

// Choose implements Chooser. Of replicas with equal costs it takes the least loaded.
func (c *Dynamo) Choose(r *Request, loads []Load) int {
	cost := func(l *Load) float64 {
		uncached := max(0, r.Tokens-l.Cached)
		return float64(l.Pending+uncached+l.Active+uncached) / prefix.BlockTokens
	}
	best := c.turns.Choose(r, loads)
	least := cost(&loads[best])
	for i := range loads {
		if at := cost(&loads[i]); at < least {
			best, least = i, at
		}
	}
	return best
}
