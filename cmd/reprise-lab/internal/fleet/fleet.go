// Package fleet plays a trace through proxies and engines in simulated time. A proxy chooses the engine of each request with the code of
// package prefix; an engine is a model of vLLM: a cache of KV blocks, a queue, and steps in which prompts are prefilled in chunks and
// answers grow by a token each. The same trace, options and seed give the same result, to the last bit.
package fleet

import "reprise/proxy/upstream/prefix"

// Trace is a sequence of requests.
type Trace struct {
	Name     string
	Requests []Request // by the time of arrival; those of a session in its order
	Sessions bool      // a request follows the answer of the one before it in its session
	Unit     int       // the finest blocks that the trace distinguishes, in tokens
	Whole    bool      // all requests are counted, also those that find empty caches
}

// Request is one request of a trace.
type Request struct {
	At     float64 // seconds: after the start of the trace, or after the request before it in the session was sent
	After  int     // the place of the request before it in the session, or none
	Next   int     // the place of the one after it, or none
	Prompt int     // tokens
	Answer int     // tokens, at least 1
	Key    uint64  // equal for requests that a response cache answers with one answer

	content content
}

// none is the place of no request.
const none = -1

// content is what a prompt consists of.
type content interface {
	// blocks appends the chained hashes of the prompt's full blocks of so many tokens, a multiple or a divisor of the trace's unit.
	blocks(dst []uint64, tokens int) []uint64
	// chain sets c to what a proxy computes from the request.
	chain(c *prefix.Chain)
}

// link returns the hash of a block after others: the finalizer of splitmix64.
func link(parent, own uint64) uint64 {
	x := parent ^ own*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Prompts is the sum of the prompts' tokens.
func (t *Trace) Prompts() (n int64) {
	for i := range t.Requests {
		n += int64(t.Requests[i].Prompt)
	}
	return n
}

// Block is the size of an engine's blocks, in tokens: given, or with 0 as small as in vLLM and useful for the trace.
func (t *Trace) Block(given int) int {
	if given > 0 {
		return given
	}
	return max(textUnit, min(commonUnit, t.Unit))
}

// First is the first n requests of a trace, with the rest of the sessions that they begin; 0: all.
func (t *Trace) First(n int) *Trace {
	if n == 0 || n >= len(t.Requests) {
		return t
	}
	for n < len(t.Requests) && t.Requests[n].After != none {
		n++
	}
	first := *t
	first.Requests = t.Requests[:n]
	return &first
}
