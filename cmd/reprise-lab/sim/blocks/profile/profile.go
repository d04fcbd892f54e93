// Package profile describes a block trace as paper 001 (KVCache Cache in the Wild) §3 does: how much can be hit, who hits what, when blocks
// return, where in a prompt they are, how long they live, and what cache that takes.
//
// A use of a block is its place in a prompt, or the first time that an answer completes it. A use in a prompt is a hit when the block was used
// before: the cache keeps everything and each request ends before the next one begins. Since a block's number is that of the block and all
// before it, the hits of a prompt are its leading run. What a hit is counted for is the request that used the block last, before it.
package profile

import (
	"fmt"
	"math"

	"reprise/cmd/reprise-lab/sim/blocks"
)

// Options select what is measured. The zero value is ready.
type Options struct {
	// Window is the length of the windows over time in seconds; 0: a round length that gives 30 to 60 of them.
	Window float64
	// Sample is the share of the blocks whose LRU positions are followed, but at least a thousand blocks; 0: all, and the curve is exact.
	Sample float64
	// Seed selects the sample.
	Seed uint64
}

const (
	mostWindows = 10_000
	leastSample = 1000 // blocks
	mostColumns = 60   // of a map over time
	topUsers    = 20   // of the map of hits between users
)

// Validate returns what is wrong with the options.
func (o *Options) Validate() error {
	switch {
	case !(o.Window >= 0) || math.IsInf(o.Window, 0):
		return fmt.Errorf("window of %g s: want a positive number of seconds, or 0 for a round one", o.Window)
	case !(o.Sample >= 0 && o.Sample <= 1):
		return fmt.Errorf("sample of %g: want a share above 0, up to 1, or 0 for all blocks", o.Sample)
	}
	return nil
}

// Profile is the description of a trace. Fields about conversations and users are nil where the trace has none.
type Profile struct {
	Trace     string `json:"trace"`
	Generated bool   `json:"generated,omitempty"`
	Note      string `json:"note,omitempty"` // what of the trace was generated or inferred, where that is a part
	Tokens    int    `json:"block_size"`     // of a block
	Totals
	Distinct int     `json:"distinct_blocks"` // that are used
	Seconds  float64 `json:"seconds"`         // from the first request to the last

	Window   float64  `json:"window_seconds"`
	Windows  []Window `json:"windows"` // without gaps
	Arrivals Arrivals `json:"arrivals"`

	Kinds      []Group  `json:"kinds"`                // in the order of the trace (figure 5)
	Categories []Group  `json:"categories,omitempty"` // kind and turn, those with the most requests first; of traces with conversations
	Sources    *Sources `json:"sources,omitempty"`    // of traces with conversations
	Turns      *Turns   `json:"turns,omitempty"`      // of traces with conversations (figures 9 to 11)
	Users      *Users   `json:"users,omitempty"`      // of traces with users (figures 6 to 8 and 10)
	Skew       Skew     `json:"block_skew"`           // share of the hits that a share of the blocks has

	Reuse     []Reuse   `json:"reuse"`     // all, single-turn, multi-turn, kinds, categories (figures 12 to 15)
	Spatial   []Spatial `json:"spatial"`   // all, single-turn, multi-turn, single-turn requests of each kind (figures 16 to 18)
	Lifespans []Life    `json:"lifespans"` // all, kinds (figure 19)
	LifeMap   *Map      `json:"lifespan_map"`
	Sizes     []Size    `json:"sizes"` // all, single-turn, multi-turn, kinds (figure 21)

	Needed Needed `json:"needed"` // capacity for the ideal hit ratio (figure 22)
	LRU    LRU    `json:"lru"`
}

// Totals are counts of requests and the blocks of their prompts.
type Totals struct {
	Requests int     `json:"requests"`
	Blocks   int64   `json:"blocks"`
	Hits     int64   `json:"block_hits"`
	HitRatio float64 `json:"block_hit_ratio"` // ideal: of a cache that keeps everything
}

func (t *Totals) add(o Totals) {
	t.Requests += o.Requests
	t.Blocks += o.Blocks
	t.Hits += o.Hits
	t.HitRatio = ratio(t.Hits, t.Blocks)
}

func ratio[N int | int64](part, all N) float64 {
	if all == 0 {
		return 0
	}
	return float64(part) / float64(all)
}

// Window is a part of the time (figure 4).
type Window struct {
	From float64 `json:"from"` // seconds since the first request
	Totals
	Needed int64     `json:"needed_blocks"` // at most in it: Needed
	LRU    []float64 `json:"lru_hit_ratio"` // at LRU.Capacities
}

// Arrivals are the requests over time. Those of each window are in Windows.
type Arrivals struct {
	Rate float64 `json:"per_second"`
	Peak float64 `json:"peak_per_second"` // of the window with the most
	CV   float64 `json:"gap_cv"`          // standard deviation by mean of the times between requests: 1 is Poisson's, more is in bursts
}

// Group is the requests of a kind, or of a category: a kind at a turn, where the last turn, policy.MostTurns, is that one and all later ones.
type Group struct {
	Name string `json:"name"`
	Totals
	Multi float64 `json:"multi_turn_share"` // of its requests
	Next  float64 `json:"goes_on_share"`    // of its requests: followed by a next turn
}

// Sources says whose blocks are hit: shares of all hits.
type Sources struct {
	Single Totals `json:"single_turn"` // requests at turn 1
	Multi  Totals `json:"multi_turn"`
	// SingleShare and MultiShare are of the hits.
	SingleShare float64 `json:"single_turn_share"`
	MultiShare  float64 `json:"multi_turn_share"`
	// Same and Other are of the hits: blocks that the same conversation used last, or another one.
	Same  float64 `json:"same_session_share"`
	Other float64 `json:"other_session_share"`
}

// Point is a point of a curve.
type Point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// Skew is how unequal a sum is shared: over shares X of the members, those with the most first, the share Y of the sum.
type Skew struct {
	Curve []Point `json:"curve"`
	// Half and Most are the least shares of the members that have 50 % and 90 % of the sum.
	Half float64 `json:"share_for_50"`
	Most float64 `json:"share_for_90"`
}

// Map has a figure for each category and each part of the time. Counts says of how many it is the mean: of 0 there is none.
type Map struct {
	Step   float64     `json:"step_seconds"` // a column; the first begins with the trace
	Rows   []string    `json:"rows"`
	Values [][]float64 `json:"values"`
	Counts [][]int64   `json:"counts"`
}

// Of describes a trace. It costs some 3 µs for each request, 30 ns for each block of long prompts and 20 more for the exact curve; and some
// 50 bytes for each distinct block.
func Of(t *blocks.Trace, o Options) (*Profile, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if err := t.Check(); err != nil {
		return nil, err
	}
	p, err := newPass(t, &o)
	if err != nil {
		return nil, err
	}
	for i := range t.Requests {
		p.request(i)
	}
	return (&summary{p}).profile(&o)
}
