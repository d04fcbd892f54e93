package prefix

import "sync/atomic"

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
