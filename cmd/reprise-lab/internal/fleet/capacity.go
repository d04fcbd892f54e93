package fleet

import (
	"context"
	"errors"
	"math"
)

// The capacity of a fleet for a trace is the highest rate at which the oracle keeps the 90th percentile of the time to first token below
// kneeFactor times that of idle engines with empty caches, and none is rejected: the knee of the curve, beyond which queues grow.
const (
	kneeFactor = 2
	kneeSteps  = 6 // of bisection: the rate is exact to 2 %
	// mostDoubled is how often a rate is doubled that is at first what the engines could bear without caches. A cache rarely saves more.
	mostDoubled = 8
)

// ErrIdle is the error of a trace whose sessions, all at once, do not bring a fleet to its capacity: each waits for its own answers.
var ErrIdle = errors.New("its sessions are too few to load the fleet: want more copies, smaller engines, or a rate in place of a load")

// Capacity measures the capacity in requests a second. It plays the trace a dozen times.
func Capacity(ctx context.Context, t *Trace, o Options) (float64, error) {
	o.Chooser, o.Proxies, o.Responses = Oracle, 1, false
	p90 := func(rate float64) (float64, error) {
		o.Rate = rate
		r, err := Play(ctx, t, o)
		if err != nil {
			return 0, err
		}
		if r.Rejected > 0 {
			return math.Inf(1), nil
		}
		return r.TTFT.P90, nil
	}
	limit, low, high := kneeFactor*o.idle(t), 0.0, o.estimate(t)
	for doubled := 0; ; doubled++ {
		at, err := p90(high)
		if err != nil {
			return 0, err
		}
		if at > limit {
			break
		}
		if doubled == mostDoubled {
			return 0, ErrIdle
		}
		low, high = high, 2*high
	}
	if low == 0 {
		low = high / 16
	}
	for range kneeSteps {
		middle := math.Sqrt(low * high)
		at, err := p90(middle)
		switch {
		case err != nil:
			return 0, err
		case at > limit:
			high = middle
		default:
			low = middle
		}
	}
	return low, nil
}

// estimate is the rate at which the engines could just compute all prompts without a cache.
func (o *Options) estimate(t *Trace) float64 {
	rate := 0.0
	for i := range o.Engines {
		seconds := 0.0
		for j := range t.Requests {
			seconds += o.Engines[i].cost(t.Requests[j].Prompt, 0, t.Requests[j].Answer)
		}
		rate += float64(len(t.Requests)) / seconds
	}
	return rate
}

// idle is the 90th percentile of the seconds in which an idle engine without any block begins an answer.
func (o *Options) idle(t *Trace) float64 {
	var all []float64
	e := &o.Engines[0]
	for i := range t.Requests {
		n := t.Requests[i].Prompt
		all = append(all, float64((n+e.Budget-1)/e.Budget)*e.Step+e.cost(n, 0, 1))
	}
	return quantiles(all).P90
}
