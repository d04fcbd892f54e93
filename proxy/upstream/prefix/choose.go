package prefix

import (
	"fmt"
	"strings"
	"sync/atomic"
)

// Load is what is known of one replica when a request is to be sent.
type Load struct {
	Member   int     // its place in the fleet
	ID       uint64  // equal in all proxies with the same upstreams and secret: a hash of its name
	InFlight int     // requests that were sent and have not ended
	Pending  int     // tokens that it has to prefill for those of them whose answers have not begun
	Active   int     // tokens of the prompts of all of them
	Cached   int     // tokens of the present request's prefix that it should hold
	Capacity int     // tokens that its KV cache holds
	Held     int     // tokens that it should hold
	Share    float64 // of a full share of the requests, in (0, 1]: below 1 while it starts slowly
}

// Request is what a choice depends on, besides the loads.
type Request struct {
	Tokens       int     // of its prompt
	Key          Block   // of what it shares with others: without any other knowledge, requests with equal keys go to the same replica; 0: it has no prefix
	Conversation Block   // of its conversation: the same for all of its turns
	Shared       int     // tokens of its scaffold
	Alone        float64 // in [0, 1]: how sure it is that no other proxy sends requests to the replicas; 0: nothing is known
}

// Chooser chooses one of several replicas. It is safe for concurrent use.
type Chooser interface {
	// Choose returns the place in loads, which is not empty and is valid during the call only, of the replica that gets r.
	Choose(r *Request, loads []Load) int
}

// DefaultChooser is the name of the chooser of a fleet that has not been given one.
const DefaultChooser = "prefix"

// choosers is the registry.
var choosers = []struct {
	name string
	make func() Chooser
}{
	{DefaultChooser, func() Chooser { return &byPrefix{} }},
	{"least-loaded", func() Chooser { return &LeastLoaded{} }},
	{"round-robin", func() Chooser { return &roundRobin{} }},
	{"ring", func() Chooser { return &ring{} }},
}

// NewChooser returns the chooser called name; "" is Default.
func NewChooser(name string) (Chooser, error) {
	if name == "" {
		name = DefaultChooser
	}
	for _, c := range choosers {
		if c.name == name {
			return c.make(), nil
		}
	}
	return nil, fmt.Errorf("chooser %q is not one of %s", name, strings.Join(Choosers(), ", "))
}

// Choosers lists the choosers.
func Choosers() (names []string) {
	for _, c := range choosers {
		names = append(names, c.name)
	}
	return names
}

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

var _ Chooser = (*roundRobin)(nil)

// roundRobin sends each request to the next replica. One with a share below 1 is left out in so many of its turns.
type roundRobin struct{ turn atomic.Uint64 }

// Choose implements Chooser.
func (c *roundRobin) Choose(_ *Request, loads []Load) int {
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

var _ Chooser = (*ring)(nil)

// ring is consistent hashing with bounded loads: a request goes to the first replica for its key that is below its limit
// (reference/engine-hints.md §5.G). It needs no knowledge of what the replicas hold.
type ring struct{ turns LeastLoaded }

// ringBalance is the factor c of §5.G.
const ringBalance = 1.25

// Choose implements Chooser.
func (c *ring) Choose(r *Request, loads []Load) int {
	if r.Key == 0 {
		return c.turns.Choose(r, loads)
	}
	return owner(r.Key, loads, boundOf(loads, ringBalance, 0))
}
