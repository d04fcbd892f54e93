// Package sim plays request traces through eviction policies, beside the bounds that no policy can beat.
//
// A Trace yields Requests in order; a replay requires only that it yields the same ones each time. Traces come from other
// packages: sim/trace reads files, sim/workload generates them.
package sim

import "iter"

// Request is one request of a trace. Everything but ID may be zero: unknown.
type Request struct {
	ID           uint64  // semantic identity: requests of equal ID have one answer; never 0
	At           float64 // seconds from any fixed start
	Topic        uint64  // given label; 0: none
	Conversation uint64
	Parent       uint64   // ID of the earlier request that this one depends on
	Scope        uint64   // requests of different scopes never share an answer
	Chain        uint64   // requests after different earlier turns never share one by meaning
	Turn         int32    // position in the conversation, from 0
	Size         int64    // bytes of the answer; 0 counts as 1
	Cost         float64  // tokens that a hit saves; 0 counts as 1
	Content      *Content // nil where the trace has only identities
}

// Content is the text of a request and its vector, for replays by similarity.
type Content struct {
	Text   string
	Vector []float32 // of length 1
}

// Trace is a sequence of requests that can be read again and again.
type Trace interface {
	// Name is for people: of a file, or of a generator with its parameters.
	Name() string
	// Requests yields the requests in order. An error ends the sequence, with a zero Request.
	Requests() iter.Seq2[Request, error]
}

// Slice is a Trace in memory.
type Slice struct {
	Title string
	All   []Request
}

// Name returns the title.
func (s *Slice) Name() string { return s.Title }

// Requests yields all of them.
func (s *Slice) Requests() iter.Seq2[Request, error] {
	return func(yield func(Request, error) bool) {
		for i := range s.All {
			if !yield(s.All[i], nil) {
				return
			}
		}
	}
}
