// Package choose chooses the replica of each request: by the prefix that it should hold, by its load, or by turns. A [Chooser] decides
// from what is known of each replica at the moment; a [Fleet] keeps that knowledge. The package has no clock: time is given to it, so
// that a simulation and the proxy run the same code.
package choose

import "reprise/proxy/upstream/prefix"

// Load is what is known of one replica when a request is to be sent.
type Load struct {
	Member   int     // its place in the fleet
	ID       uint64  // equal in all proxies with the same upstreams: a hash of its name
	InFlight int     // requests that were sent and have not ended
	Pending  int     // tokens that it has to prefill for those of them whose answers have not begun
	Cached   int     // tokens of the present request's prefix that it should hold
	Capacity int     // tokens that its KV cache holds
	Held     int     // tokens that it should hold
	Share    float64 // of a full share of the requests, in (0, 1]: below 1 while it starts slowly
}

// Request is what a choice depends on, besides the loads.
type Request struct {
	Tokens int          // of its prompt
	Key    prefix.Block // of its scaffold: without any other knowledge, requests with equal keys go to the same replica
}

// Chooser chooses one of several replicas. It is safe for concurrent use.
type Chooser interface {
	// Choose returns the place in loads, which is not empty and is valid during the call only, of the replica that gets r.
	Choose(r *Request, loads []Load) int
}
