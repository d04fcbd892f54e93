package choose

import (
	"math/rand/v2"
	"sync"
)

var _ Chooser = (*Random)(nil)

// Random sends a request to any replica, with a probability in proportion to its share.
type Random struct {
	mu  sync.Mutex // protects rng
	rng *rand.Rand
}

// NewRandom returns a Random. Those with equal seeds choose the same.
func NewRandom(seed uint64) *Random { return &Random{rng: rand.New(rand.NewPCG(seed, 0))} }

// Choose implements Chooser.
func (c *Random) Choose(_ *Request, loads []Load) int {
	c.mu.Lock()
	at := c.rng.Float64()
	c.mu.Unlock()
	shares := 0.0
	for i := range loads {
		shares += loads[i].Share
	}
	at *= shares
	for i := range loads {
		if at -= loads[i].Share; at < 0 {
			return i
		}
	}
	return len(loads) - 1
}
