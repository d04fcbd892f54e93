package mrc

import (
	"math"
	"sort"
)

// Curve is the hit ratio of LRU by capacity.
type Curve struct {
	// Accesses is the uses: blocks of all prompts. First is how many of them are the first of their block, which miss in every cache; a block
	// that an answer completed was used by it.
	Accesses, First int64
	// Distinct is how many blocks there are.
	Distinct int
	// Rate is the share of the blocks that were sampled, and Sampled their number; 1: the curve is exact.
	Rate    float64
	Sampled int
	// Windows are in the order of time, without gaps. Options.Window is their length.
	Windows []Window

	misses []float64 // by position: estimated uses that miss in a cache that ends there
	counts []int64   // of uses by position, 0: first uses

	capacities []int
	limits     []int // highest position of a hit in each of the capacities
	window     float64
	start      float64
	now        int     // window
	missed     []int64 // of the present window: sampled uses by how many of the capacities they miss in
}

// Window is a part of a trace.
type Window struct {
	// From is its start, on the clock of the trace.
	From float64
	// Accesses are the blocks of its requests.
	Accesses int64
	// Hits are those of LRU at each of Options.Capacities, which was filled by the windows before.
	Hits []float64
}

func newCurve(distinct int, s *sample, o *Options) *Curve {
	c := &Curve{Distinct: distinct, Rate: s.rate, Sampled: len(s.stack.slot), counts: make([]int64, len(s.stack.slot)+1),
		capacities: o.Capacities, window: o.Window, now: -1, missed: make([]int64, len(o.Capacities)+1)}
	for _, capacity := range o.Capacities {
		c.limits = append(c.limits, c.rank(float64(capacity)))
	}
	return c
}

// rank is the last position in the sample that is in a cache of a capacity: a block at sampled position p has p-1 sampled blocks above it,
// so that an estimate of its true position without bias is (p-1)/rate + 1.
func (c *Curve) rank(capacity float64) int {
	if !(capacity >= 1) {
		return 0
	}
	if last := float64(len(c.counts) - 1); capacity >= float64(c.Distinct) || (capacity-1)*c.Rate+1 > last {
		return len(c.counts) - 1
	}
	return int((capacity-1)*c.Rate + 1)
}

func (c *Curve) miss() {
	c.counts[0]++
	c.count(math.MaxInt)
}

func (c *Curve) hit(position int) {
	c.counts[position]++
	c.count(position)
}

// count counts a use of the present window by how many of the capacities it misses in.
func (c *Curve) count(position int) {
	if c.window == 0 {
		return
	}
	n := 0
	for n < len(c.limits) && position > c.limits[n] {
		n++
	}
	c.missed[n]++
}

// open begins a request of so many blocks.
func (c *Curve) open(at float64, blocks int) {
	c.Accesses += int64(blocks)
	if c.window == 0 {
		return
	}
	if c.now < 0 {
		c.start = at
	}
	for w := max(int((at-c.start)/c.window), c.now); c.now < w; {
		c.shut()
		c.now++
		c.Windows = append(c.Windows, Window{From: c.start + float64(c.now)*c.window})
	}
	c.Windows[c.now].Accesses += int64(blocks)
}

// shut ends a window: its Hits are the sampled misses until finish.
func (c *Curve) shut() {
	if c.now < 0 {
		return
	}
	misses := make([]float64, len(c.limits))
	sum := int64(0)
	for i := len(c.limits) - 1; i >= 0; i-- {
		sum += c.missed[i+1]
		misses[i] = float64(sum)
	}
	c.Windows[c.now].Hits = misses
	clear(c.missed)
}

// scale is how many misses a miss in the sample represents. The number of first uses is exact, and calibrates the others better than the
// rate.
func (c *Curve) scale() float64 {
	if c.counts[0] == 0 {
		return 1 / c.Rate
	}
	return float64(c.First) / float64(c.counts[0])
}

// finish ends the trace. Misses are what is estimated, and hits are the rest: the few blocks that are in most prompts make most of the hits,
// and whether one of them is in the sample would decide an estimate of hits. They have few misses. This is the adjustment of SHARDS, which
// gives the difference between the expected uses of the sample and those seen to the least distance.
func (c *Curve) finish() {
	if c.window > 0 {
		c.shut()
	}
	scale := c.scale()
	for _, w := range c.Windows {
		for i := range w.Hits {
			w.Hits[i] = max(0, float64(w.Accesses)-w.Hits[i]*scale)
		}
	}
	c.misses = make([]float64, len(c.counts))
	sum := c.counts[0]
	for p := len(c.counts) - 1; p > 0; p-- {
		c.misses[p] = float64(sum) * scale
		sum += c.counts[p]
	}
	c.misses[0] = float64(c.Accesses)
}

// HitRatio is the share of the uses that are hits in a cache of so many blocks. Of a sample, caches below 1/Rate blocks have the figure of one
// block.
func (c *Curve) HitRatio(capacity float64) float64 {
	if c.Accesses == 0 {
		return 0
	}
	return max(0, 1-c.misses[c.rank(capacity)]/float64(c.Accesses))
}

// Capacity is the least number of blocks with at least a hit ratio, and whether there is one. Of a sample it is a multiple of 1/Rate.
func (c *Curve) Capacity(ratio float64) (blocks int64, ok bool) {
	most := (1-ratio)*float64(c.Accesses) + 1e-9*float64(c.Accesses)
	p := sort.Search(len(c.misses), func(p int) bool { return c.misses[p] <= most })
	if p == len(c.misses) {
		return 0, false
	}
	return int64(math.Ceil(float64(p-1)/c.Rate)) + 1, true
}
