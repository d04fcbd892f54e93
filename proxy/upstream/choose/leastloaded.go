package choose

import "sync/atomic"

var _ Chooser = (*LeastLoaded)(nil)

// LeastLoaded sends a request to the replica with the fewest requests in flight for its share, to each of several in turn.
type LeastLoaded struct{ turn atomic.Uint64 }

// Choose implements Chooser.
func (c *LeastLoaded) Choose(_ *Request, loads []Load) int {
	first := int(c.turn.Add(1) % uint64(len(loads)))
	best := first
	for i := range loads {
		i = (first + i) % len(loads)
		if l, b := &loads[i], &loads[best]; float64(l.InFlight+1)*b.Share < float64(b.InFlight+1)*l.Share {
			best = i
		}
	}
	return best
}
