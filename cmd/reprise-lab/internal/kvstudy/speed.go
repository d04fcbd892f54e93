package kvstudy

import (
	"context"
	"fmt"

	"reprise/cmd/reprise-lab/sim/blocks"
)

// sizing chooses how fast a server is, so that queues exist: with LRU at a capacity it computes prompts in a share of the time. Then the
// tokens that miss, not the size of a machine, decide how long they wait.
type sizing struct {
	load   float64
	share  float64 // of the distinct blocks: the capacity
	tokens int64   // the capacity where it is no share
	closed bool    // a turn comes after the answer to the one before
}

// decode is tokens per second of one answer. While an answer is written its blocks are pinned.
const decode = 50

// of is the speed for a trace.
func (s sizing) of(ctx context.Context, t *blocks.Trace) (*blocks.Speed, error) {
	one, err := blocks.Replay(ctx, t, blocks.Options{Policies: []string{"lru"}, Capacities: []blocks.Capacity{{Share: s.share, Tokens: s.tokens}}, Parallel: 1})
	if err != nil {
		return nil, err
	}
	prompts := int64(0)
	for i := range t.Requests {
		prompts += int64(t.Requests[i].Prompt)
	}
	span := sizeOf(t).seconds
	if span <= 0 {
		return nil, fmt.Errorf("trace %s takes no time: want requests at different times", t.Name)
	}
	return &blocks.Speed{Prefill: float64(prompts-one[0].Saved) / span / s.load, Decode: decode, Closed: s.closed}, nil
}

func queued(r *blocks.Result) float64   { return r.Queued.Mean }
func queued90(r *blocks.Result) float64 { return r.Queued.P90 }
func served(r *blocks.Result) float64   { return r.Time.Mean }
