// Package choose chooses the replica of each request: by the prefix that it should hold, by its load, or by turns. A [Chooser] decides
// from what is known of each replica at the moment; a [Fleet] keeps that knowledge. The package has no clock and no goroutine, so that
// a simulation and the proxy run the same code.
package choose

import (
	"fmt"
	"strings"

	"reprise/proxy/upstream/prefix"
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
	Tokens       int          // of its prompt
	Key          prefix.Block // of what it shares with others: without any other knowledge, requests with equal keys go to the same replica; 0: it has no prefix
	Conversation prefix.Block // of its conversation: the same for all of its turns
	Shared       int          // tokens of its scaffold
	Alone        float64      // in [0, 1]: how sure it is that no other proxy sends requests to the replicas; 0: nothing is known
}

// Chooser chooses one of several replicas. It is safe for concurrent use.
type Chooser interface {
	// Choose returns the place in loads, which is not empty and is valid during the call only, of the replica that gets r.
	Choose(r *Request, loads []Load) int
}

// Default is the name of the chooser of a fleet that has not been given one.
const Default = "prefix"

// choosers is the registry.
var choosers = []struct {
	name string
	make func() Chooser
}{
	{Default, func() Chooser { return &Prefix{} }},
	{"least-loaded", func() Chooser { return &LeastLoaded{} }},
	{"round-robin", func() Chooser { return &RoundRobin{} }},
	{"ring", func() Chooser { return &Ring{} }},
}

// New returns the chooser called name; "" is Default.
func New(name string) (Chooser, error) {
	if name == "" {
		name = Default
	}
	for _, c := range choosers {
		if c.name == name {
			return c.make(), nil
		}
	}
	return nil, fmt.Errorf("chooser %q is not one of %s", name, strings.Join(Names(), ", "))
}

// Names lists the choosers.
func Names() (names []string) {
	for _, c := range choosers {
		names = append(names, c.name)
	}
	return names
}
