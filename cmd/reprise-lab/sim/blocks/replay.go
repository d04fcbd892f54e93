package blocks

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"reprise/cmd/reprise-lab/policies"
	"reprise/cmd/reprise-lab/sim"
	"reprise/policy"
	"reprise/policy/classic"
)

// Options of a replay.
type Options struct {
	Policies      []string   // names with their parameters, and the bounds
	Capacities    []Capacity // each is played with each policy
	Second        Capacity   // of a second tier under the same policy; zero: none
	BytesPerToken int64      // of KV cache, for capacities in bytes; 0 is DefaultBytesPerToken
	Speed         *Speed     // nil: requests take no time, and no times are measured
	Seed          uint64     // of the random numbers of policies that draw any
	Warmup        int        // so many requests are played and not counted
	Parallel      int        // how many cells are played at a time; 0 is one for each processor
	// Progress, if not nil, is called with the requests played, summed over the cells, and their total. Calls are made from several
	// goroutines.
	Progress func(done, total int64)
	Now      func() time.Time // for Result.Seconds; nil is time.Now
}

// Validate returns an error that names the first field out of range.
func (o *Options) Validate() error {
	switch {
	case len(o.Policies) == 0:
		return errors.New("replay: no policy")
	case len(o.Capacities) == 0:
		return errors.New("replay: no capacity")
	case o.Warmup < 0 || o.Parallel < 0 || o.BytesPerToken < 0:
		return fmt.Errorf("replay: warm-up of %d requests, %d in parallel, %d bytes per token: want 0 or more", o.Warmup, o.Parallel, o.BytesPerToken)
	}
	for _, name := range o.Policies {
		if err := CheckPolicy(name); err != nil {
			return err
		}
	}
	all := o.Capacities
	if o.Second != (Capacity{}) {
		all = append(all[:len(all):len(all)], o.Second)
	}
	for _, c := range all {
		if err := c.Validate(); err != nil {
			return err
		}
	}
	if o.Speed != nil {
		return o.Speed.Validate()
	}
	return nil
}

// Bounds are the names of what no policy can do in practice.
func Bounds() []string { return []string{Oracle, Belady, Infinite} }

// CheckPolicy reports what is wrong with the name of a policy or bound and its parameters.
func CheckPolicy(name string) error {
	base, _, parameters := strings.Cut(name, ":")
	switch {
	case !slices.Contains(Bounds(), base):
		return policies.Check(name)
	case parameters:
		return fmt.Errorf("policy %q: %s has no parameters", name, base)
	}
	return nil
}

// Replay plays t through every policy at every capacity, policy by policy. The results do not depend on Parallel, except Seconds. It holds
// the trace in memory once, and for each cell while it is played 8 bytes for each distinct block and what the policy takes for each resident one.
//
// When ctx is done, the results of the requests played so far are returned with its error: Requests counts them.
func Replay(ctx context.Context, t *Trace, o Options) ([]Result, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if err := t.Check(); err != nil {
		return nil, err
	}
	cells, err := o.cells(t)
	if err != nil {
		return nil, err
	}
	var done, next atomic.Int64
	total := int64(len(cells)) * int64(len(t.Requests))
	play := func() {
		for i := int(next.Add(1)) - 1; i < len(cells); i = int(next.Add(1)) - 1 {
			cells[i].measure(ctx, o.Now, func(n int) {
				if sum := done.Add(int64(n)); o.Progress != nil {
					o.Progress(sum, total)
				}
			})
		}
	}
	workers := o.Parallel
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var group sync.WaitGroup
	for range min(workers, len(cells)) {
		group.Go(play)
	}
	group.Wait()
	return o.results(cells), ctx.Err()
}

// results are those of the cells, in the order of policies and capacities. The infinite cache is played once.
func (o *Options) results(cells []*player) (all []Result) {
	for _, name := range o.Policies {
		for i, c := range o.Capacities {
			if name != Infinite || i == 0 {
				all = append(all, cells[0].result)
				cells = cells[1:]
				continue
			}
			r := all[len(all)-1]
			r.Capacity = c.String()
			all = append(all, r)
		}
	}
	return all
}

func (o *Options) cells(t *Trace) (all []*player, err error) {
	var future *future
	for _, name := range o.Policies {
		for i, c := range o.Capacities {
			if name == Infinite && i > 0 {
				break // keeps everything at each of them
			}
			if name == Belady && future == nil {
				future = foresight(t)
			}
			p, err := o.cell(t, name, c, future)
			if err != nil {
				return nil, fmt.Errorf("policy %s at %s: %w", name, c, err)
			}
			all = append(all, p)
		}
	}
	return all, nil
}

// cell is one policy at one capacity.
func (o *Options) cell(t *Trace, name string, c Capacity, f *future) (*player, error) {
	per := o.BytesPerToken
	if per == 0 {
		per = DefaultBytesPerToken
	}
	slots := c.In(t, per)
	if name == Infinite {
		slots = t.Distinct
	}
	p := &player{trace: t, speed: o.Speed, warmup: o.Warmup, oracle: name == Oracle,
		result: Result{Trace: t.Name, Generated: t.Generated, Policy: name, Capacity: c.String(), Slots: slots, Seed: o.Seed,
			Bound: slices.Contains(Bounds(), name)}}
	first, err := o.evictor(name, slots)
	if err != nil {
		return nil, err
	}
	p.tiers.first = NewCache(slots, first)
	if o.Second != (Capacity{}) {
		slots := o.Second.In(t, per)
		second, err := o.evictor(name, slots)
		if err != nil {
			return nil, err
		}
		p.tiers.second = NewCache(slots, second)
		p.tiers.seer, _ = second.(sim.Clairvoyant)
	}
	if seer, ok := first.(sim.Clairvoyant); ok {
		p.seer, p.future = seer, f
	}
	return p, nil
}

func (o *Options) evictor(name string, slots int) (policy.Evictor, error) {
	switch name {
	case Infinite:
		return classic.NewLRU(), nil
	case Belady:
		return &belady{}, nil
	case Oracle:
		name = "lpc"
	}
	return policies.New(name, policy.Options{Capacity: slots, Seed: o.Seed})
}

// measure plays the cell, until ctx is done, and completes its result.
func (p *player) measure(ctx context.Context, now func() time.Time, progress func(int)) {
	if now == nil {
		now = time.Now
	}
	start := now()
	p.play(ctx, progress)
	r := &p.result
	r.Seconds = now().Sub(start).Seconds()
	r.Evictions = p.tiers.evictions()
	p.tiers, p.seer, p.future = tiers{}, nil, nil // a cell that was played takes no memory
	if r.Blocks > 0 {
		r.HitRatio = float64(r.Hits) / float64(r.Blocks)
	}
	if r.Requests > 0 {
		r.MeanRatio = p.ratios / float64(r.Requests)
	}
	if p.speed != nil {
		time, queued := timesOf(p.time), timesOf(p.queued)
		r.Time, r.Queued = &time, &queued
	}
}
