// Package mrc computes the hit ratio of LRU at every capacity in one pass over a trace.
//
// LRU has the stack property: a cache of C blocks holds the C blocks that were used last, so that a use is a hit in all caches that are at
// least as large as the block's position in the order of last use (Mattson et al., IBM Systems Journal 9(2), 1970). Exact positions take
// an order statistic of all blocks. Sampling takes it of some blocks, which a hash selects, and stretches the positions
// (SHARDS: Waldspurger et al., FAST 2015): a hundredth of the blocks gives a curve with a mean error of some 0.005 where that is a
// thousand blocks or more.
//
// # Prompts as chains of blocks
//
// A prompt that is looked up is a hit up to its first block that is absent, and a prompt that is used touches its blocks deepest first, as
// package blocks does. Then a block is always nearer to the front than the blocks after it: each use of block i+1 is in a prompt that
// contains block i too, which is touched later in the same request. So at the start of a request the positions p(0) < p(1) < … of its
// blocks rise with their depth, and the blocks before a resident one are resident: the leading run that is resident in a cache of C
// blocks is all blocks with p(i) ≤ C: every block is a hit or a miss on its own, and one pass over the positions is
// exact. The blocks that an answer completes are used with the prompt, as the deepest. The curve is that of requests which end before the next
// one begins, as those of blocks.Replay without a Speed; a prompt that is longer than the cache leaves its first C blocks there.
package mrc

import (
	"fmt"
	"math"

	"reprise/cmd/reprise-lab/sim/blocks"
)

// Options select how a curve is made.
type Options struct {
	// Rate is the share of the blocks that are sampled; 1 is exact.
	Rate float64
	// Least is how many blocks are sampled at least, in the mean: in a trace with few blocks the rate is higher than Rate. With Rate 0 it is
	// the size of the sample. Both 0: all blocks.
	Least int
	// Seed selects the sample. The same seed and trace give the same curve.
	Seed uint64
	// Capacities, in blocks, are those of Windows; in rising order.
	Capacities []int
	// Window is the length of a window in seconds; 0: no windows.
	Window float64
}

// mostWindows bounds the windows of a trace, so that a typing error does not take all memory.
const mostWindows = 1 << 20

// Validate returns what is wrong with the options.
func (o *Options) Validate() error {
	switch {
	case !(o.Rate >= 0 && o.Rate <= 1):
		return fmt.Errorf("rate %v: want a share above 0, up to 1", o.Rate)
	case o.Least < 0:
		return fmt.Errorf("sample of %d blocks: want 1 or more, or 0 for no bound", o.Least)
	case !(o.Window >= 0) || math.IsInf(o.Window, 0):
		return fmt.Errorf("window %v: want a positive length, or 0 for none", o.Window)
	}
	for i, c := range o.Capacities {
		if c < 1 || i > 0 && c <= o.Capacities[i-1] {
			return fmt.Errorf("capacity %d: want positive numbers of blocks in rising order", c)
		}
	}
	return nil
}

// rate is the share of the blocks that are sampled. The number of distinct blocks is known before the pass, so that the rate at which the
// form of SHARDS with a fixed size ends is set from the start.
func (o *Options) rate(distinct int) float64 {
	if o.Rate == 0 && o.Least == 0 || distinct == 0 {
		return 1
	}
	return min(1, max(o.Rate, float64(o.Least)/float64(distinct)))
}

// Blocks is the curve of a block trace. Of long prompts it reads a block access in some 2 ns, and a sampled one in some 30; short prompts cost
// twice that. Memory is 4 bytes per distinct block, and some 30 more per sampled one.
func Blocks(t *blocks.Trace, o Options) (*Curve, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if n := len(t.Requests); n > 0 && o.Window > 0 && (t.Requests[n-1].At-t.Requests[0].At)/o.Window > mostWindows {
		return nil, fmt.Errorf("windows of %g s in %g s: want at most %d windows", o.Window, t.Requests[n-1].At-t.Requests[0].At, mostWindows)
	}
	s := newSample(t.Distinct, o.rate(t.Distinct), o.Seed)
	c := newCurve(t.Distinct, s, &o)
	for i := range t.Requests {
		r := &t.Requests[i]
		c.open(r.At, len(r.Blocks))
		s.request(r.Blocks, r.Filled, c)
	}
	c.finish()
	return c, nil
}
