package choose

import "sync/atomic"

var _ Chooser = (*RoundRobin)(nil)

// RoundRobin sends each request to the next replica. One with a share below 1 is left out in so many of its turns.
type RoundRobin struct{ turn atomic.Uint64 }

// Choose implements Chooser.
func (c *RoundRobin) Choose(_ *Request, loads []Load) int {
	n := uint64(len(loads))
	turn := c.turn.Add(1) - 1
	at := int(turn % n)
	for range loads {
		// The multiples of the golden ratio are spread evenly, so a share of them is below the share.
		if round := float64(turn/n) * 0.618033988749895; round-float64(int(round)) < loads[at].Share {
			return at
		}
		at = (at + 1) % len(loads)
	}
	return at
}
