package upstream

import (
	"sync/atomic"

	"reprise/proxy/upstream/prefix"
	"reprise/proxy/upstream/usage"
)

// Counts are what happened at one upstream since the client was made. They only increase. Tokens are counted for
// requests with a prefix chain whose answer reports them.
type Counts struct {
	Passed    int64 // requests that it refused before it had worked on them, and that went to another one
	Instead   int64 // requests that it got as a fallback
	Ejections int64
	Followers int64 // requests that waited here for another one with the same cold prefix

	Prompt  int64 // tokens of prompts, of answers that report how many of them were cached
	Cached  int64 // of these
	Written int64 // tokens that were written to a cache at a price of their own

	Foreseen  int64 // tokens of those prompts of Prompt for which it was predicted how much is cached
	Predicted int64 // of these, predicted to be cached
	Real      int64 // of these, cached
}

// counts are Counts while they are counted.
type counts struct{ passed, instead, ejections, followers, prompt, cached, written, foreseen, predicted, real atomic.Int64 }

func (c *counts) now() Counts {
	return Counts{c.passed.Load(), c.instead.Load(), c.ejections.Load(), c.followers.Load(), c.prompt.Load(), c.cached.Load(), c.written.Load(),
		c.foreseen.Load(), c.predicted.Load(), c.real.Load()}
}

// measured counts the tokens of an answer, and reports how far the share of the prompt that was cached is from the share that was predicted.
func (r *Replica) measured(t *prefix.Ticket, u usage.Usage, to Measure) {
	r.Reported(u)
	if !u.Known || u.Prompt <= 0 {
		return
	}
	if t.Tokens > 0 {
		r.counts.foreseen.Add(int64(u.Prompt))
		r.counts.predicted.Add(int64(float64(u.Prompt) * float64(t.Cached) / float64(t.Tokens)))
		r.counts.real.Add(int64(u.Cached))
	}
	if to != nil && t.Tokens > 0 {
		to.Observe(float64(u.Cached)/float64(u.Prompt) - float64(t.Cached)/float64(t.Tokens))
	}
}

// Reported counts the tokens of an answer that is not Measured: its reader has them.
func (r *Replica) Reported(u usage.Usage) {
	r.counts.written.Add(int64(u.Written))
	if u.Known && u.Prompt > 0 {
		r.counts.prompt.Add(int64(u.Prompt))
		r.counts.cached.Add(int64(u.Cached))
	}
}
