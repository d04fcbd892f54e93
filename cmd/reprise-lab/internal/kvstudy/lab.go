package kvstudy

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise-lab/internal/study"
	"reprise/cmd/reprise-lab/sim/blocks"
)

// lab plays sweeps and keeps their results.
type lab struct {
	Setup
	ctx context.Context
	all []blocks.Result
}

func newLab(ctx context.Context, s Setup) *lab {
	if s.Now == nil {
		s.Now = time.Now
	}
	return &lab{Setup: s, ctx: ctx}
}

// sweep is a workload with the policies and capacities that play it.
type sweep struct {
	workload
	policies []string
	at       []place
	base     func() int64 // distinct tokens that shares are of; nil: the distinct blocks of the trace
	speed    *sizing      // nil: requests take no time
}

// place is a capacity: a share, or tokens.
type place struct {
	share  float64
	tokens int64
}

func (p place) text() string {
	if p.tokens > 0 {
		return cli.Thousands(p.tokens) + " tokens"
	}
	return fmt.Sprintf("%.4g %%", 100*p.share)
}

// shares are places.
func shares(of ...float64) (all []place) {
	for _, s := range of {
		all = append(all, place{share: s})
	}
	return all
}

func (s *sweep) capacities() (all []blocks.Capacity) {
	for _, p := range s.at {
		switch {
		case p.tokens > 0:
			all = append(all, blocks.Capacity{Tokens: p.tokens})
		case s.base != nil:
			all = append(all, blocks.Capacity{Tokens: max(1, int64(math.Round(p.share*float64(s.base()))))})
		default:
			all = append(all, blocks.Capacity{Share: p.share})
		}
	}
	return all
}

// played is a sweep with its results.
type played struct {
	sweep
	title string // of the trace, with what of it is generated
	size
	seeds  [][]blocks.Result // policy by policy, each at all capacities
	speeds []*blocks.Speed   // of each seed; nil without one
}

// size is what tables say about a trace.
type size struct {
	requests, distinct, tokens int
	accesses, prompts          int64 // blocks of prompts, and their tokens
	seconds                    float64
}

func sizeOf(t *blocks.Trace) size {
	s := size{requests: len(t.Requests), distinct: t.Distinct, tokens: t.Tokens}
	for i := range t.Requests {
		s.accesses += int64(len(t.Requests[i].Blocks))
		s.prompts += int64(t.Requests[i].Prompt)
	}
	if n := len(t.Requests); n > 0 {
		s.seconds = t.Requests[n-1].At - t.Requests[0].At
	}
	return s
}

func (s size) text() string {
	return fmt.Sprintf("%s requests in %.0f min, %s uses of %s distinct blocks of %d tokens",
		cli.Thousands(int64(s.requests)), s.seconds/60, cli.Thousands(s.accesses), cli.Thousands(int64(s.distinct)), s.tokens)
}

// play plays all sweeps with all seeds. If the context ends it returns the complete ones, and its error.
func (l *lab) play(part string, sweeps []sweep) (complete []played, err error) {
	total, done := 0, 0
	for i := range sweeps {
		total += l.count(&sweeps[i])
	}
	for i := range sweeps {
		p := played{sweep: sweeps[i]}
		for k := range l.count(&sweeps[i]) {
			if err := l.one(&p, k); err != nil {
				if l.ctx.Err() != nil {
					return complete, l.ctx.Err()
				}
				return complete, fmt.Errorf("%s: %s: %w", part, sweeps[i].name, err)
			}
			if done++; l.Progress != nil {
				l.Progress(part, done, total)
			}
		}
		complete = append(complete, p)
		l.all = append(l.all, slices.Concat(p.seeds...)...)
	}
	return complete, nil
}

// count is with how many seeds a sweep is played.
func (l *lab) count(s *sweep) int {
	if s.fixed {
		return 1
	}
	return len(l.Seeds)
}

// one plays a sweep with one seed.
func (l *lab) one(p *played, k int) error {
	t, err := p.open(l.Seeds[k], 1)
	if err != nil {
		return err
	}
	o := blocks.Options{Policies: p.policies, Capacities: p.capacities(), Seed: l.Seeds[k], Parallel: l.Parallel, Now: l.Now}
	if p.speed != nil {
		if o.Speed, err = p.speed.of(l.ctx, t); err != nil {
			return err
		}
		p.speeds = append(p.speeds, o.Speed)
	}
	if k == 0 {
		p.title, p.size = titleOf(p.name, t), sizeOf(t)
	}
	results, err := blocks.Replay(l.ctx, t, o)
	if err == nil {
		p.seeds = append(p.seeds, results)
	}
	return err
}

// titleOf is the name of a workload, with what of it is generated.
func titleOf(name string, t *blocks.Trace) string {
	switch {
	case t.Generated && t.Note == "":
		return name + " (generated)"
	case t.Note != "":
		return name + " (" + t.Note + ")"
	}
	return name
}

// values are a figure of a policy at the capacity of a number, for each seed.
func (p *played) values(policy string, at int, figure func(*blocks.Result) float64) (all []float64) {
	k := slices.Index(p.policies, policy)
	for _, results := range p.seeds {
		if i := k*len(p.at) + at; k >= 0 && i < len(results) {
			all = append(all, figure(&results[i]))
		}
	}
	return all
}

// mean is the mean of values.
func (p *played) mean(policy string, at int, figure func(*blocks.Result) float64) float64 {
	mean, _ := study.Mean(p.values(policy, at, figure))
	return mean
}

// row has a figure of all policies at a capacity.
func (p *played) row(at int, figure func(*blocks.Result) float64) *study.Row {
	row := &study.Row{Case: p.title, Capacity: p.at[at].text(), Values: map[string][]float64{}}
	for _, name := range p.policies {
		row.Values[name] = p.values(name, at, figure)
	}
	return row
}

// less are the differences of two policies, seed by seed.
func (p *played) less(policy, other string, at int, figure func(*blocks.Result) float64) []float64 {
	all, b := p.values(policy, at, figure), p.values(other, at, figure)
	all = all[:min(len(all), len(b))]
	for i := range all {
		all[i] -= b[i]
	}
	return all
}

// hits is the figure of most tables, byRequest the one of the paper on prefix sharing.
func hits(r *blocks.Result) float64      { return r.HitRatio }
func byRequest(r *blocks.Result) float64 { return r.MeanRatio }

// saved is the share of the prompts' tokens that hit, of a sweep with one seed.
func saved(p *played) func(*blocks.Result) float64 {
	return func(r *blocks.Result) float64 { return float64(r.Saved) / float64(max(1, p.prompts)) }
}
