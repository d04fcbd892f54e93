package fleet

import (
	"context"
	"fmt"
	"math"
)

// The capacity of a fleet for a trace is the highest rate at which the oracle keeps the 90th percentile of the time to first token below
// kneeFactor times that of idle engines with empty caches: the knee of the curve, beyond which queues grow.
const (
	kneeFactor = 2
	kneeSteps  = 6 // of bisection: the rate is exact to 2 %
)

// Capacity measures the capacity in requests a second. It plays the trace a dozen times.
func Capacity(ctx context.Context, t *Trace, o Options) (float64, error) {
	o.Chooser, o.Proxies, o.Responses = Oracle, 1, false
	p90 := func(rate float64) (float64, error) {
		o.Rate = rate
		r, err := Play(ctx, t, o)
		if err != nil {
			return 0, err
		}
		return r.TTFT.P90, nil
	}
	low, limit := o.estimate(t), kneeFactor*o.idle(t)
	high := low
	for range 40 {
		at, err := p90(high)
		if err != nil {
			return 0, err
		}
		if at > limit {
			break
		}
		low, high = high, 2*high
	}
	if low == high {
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
	if low == 0 {
		return 0, fmt.Errorf("trace %s: no rate keeps the time to first token low", t.Name)
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
