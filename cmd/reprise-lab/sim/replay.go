package sim

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Options of a replay.
type Options struct {
	Policies   []string   // names with their parameters, as from ParsePolicies
	Capacities []Capacity // each is played with each policy
	Seed       uint64     // of the random numbers of those policies that draw any
	Warmup     int        // so many requests are played and not counted; >= 0
	Windows    int        // into how many equal parts the counted requests are divided for Result.Windows, at most MostWindows; 0 is none
	Parallel   int        // how many cells are played at a time; 0 is one for each processor
	// Progress, if not nil, is called with the number of requests played, summed over the cells, and their total, which is 0
	// during the first reading of the trace.
	Progress func(done, total int64)
	Now      func() time.Time // for Result.Seconds; nil is time.Now
	// Model decides which requests are hits; nil: those whose ID and Scope have a resident answer.
	Model Model
}

// Validate returns an error that names the first field out of range.
func (o *Options) Validate() error {
	switch {
	case len(o.Policies) == 0:
		return errors.New("replay: no policy")
	case len(o.Capacities) == 0:
		return errors.New("replay: no capacity")
	case o.Warmup < 0:
		return fmt.Errorf("replay: warm-up of %d requests: want 0 or more", o.Warmup)
	case o.Windows < 0 || o.Windows > MostWindows:
		return fmt.Errorf("replay: %d windows: want 0 to %d", o.Windows, MostWindows)
	case o.Parallel < 0:
		return fmt.Errorf("replay: %d in parallel: want 0 or more", o.Parallel)
	}
	for _, name := range o.Policies {
		if err := checkPolicy(name); err != nil {
			return err
		}
	}
	for _, c := range o.Capacities {
		if err := c.Validate(); err != nil {
			return err
		}
	}
	return nil
}

func (o *Options) progress(done, total int64) {
	if o.Progress != nil {
		o.Progress(done, total)
	}
}

// Replay plays t through every policy at every capacity, policy by policy. The results do not depend on Parallel, except
// Seconds.
//
// The trace is read twice: first to count its identities, then a batch at a time through all cells. It
// takes some 30 bytes for each distinct identity, 4 more for each in every cell, and 4 to 12 for each request if a
// policy is Clairvoyant.
//
// When the trace ends in an error or ctx is done, the results up to then are returned with that error. When the accounting of a
// policy does not balance, the error names the policy.
func Replay(ctx context.Context, t Trace, o Options) ([]Result, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	p, err := survey(ctx, t, &o)
	if err != nil {
		return nil, err
	}
	cells, err := newCells(p, &o)
	if err != nil {
		return nil, err
	}
	last, err := playAll(ctx, newFeed(t, p, &o), cells, &o)
	results := make([]Result, len(cells))
	errs, full := []error{err}, fullHits(cells, &last)
	for i, c := range cells {
		results[i], err = c.finish(last.asked, full)
		results[i].Trace = t.Name()
		errs = append(errs, err)
	}
	results = results[:len(o.Policies)*len(o.Capacities)]
	setRegrets(results, len(o.Capacities))
	return results, errors.Join(errs...)
}

func newCells(p *plan, o *Options) ([]runner, error) {
	var cells []runner
	policies := o.Policies
	if o.Model != nil {
		policies = withInfinite(policies)
	}
	for _, name := range policies {
		for _, c := range o.Capacities {
			x, err := o.runner(name, c, p)
			if err != nil {
				return nil, fmt.Errorf("policy %s at %s: %w", name, c, err)
			}
			cells = append(cells, x)
		}
	}
	return cells, nil
}

func (o *Options) runner(name string, c Capacity, p *plan) (runner, error) {
	if o.Model != nil {
		return newModelled(name, c, o, p)
	}
	return newCell(name, c, o, p)
}

// playAll plays the batches of f. It returns the last batch, without its events, and the error that ended the trace early.
func playAll(ctx context.Context, f *feed, cells []runner, o *Options) (last batch, err error) {
	reading, stop := context.WithCancel(ctx)
	var reader sync.WaitGroup
	reader.Go(func() { f.run(reading) })
	defer reader.Wait()
	defer stop()
	var played int64
	for b := range f.out {
		if ctx.Err() != nil {
			return last, ctx.Err()
		}
		playBatch(b, cells, o)
		played += int64(len(b.events))
		last = batch{asked: b.asked, full: b.full}
		f.spare <- b
		o.progress(played*int64(len(cells)), f.plan.requests*int64(len(cells)))
	}
	switch {
	case ctx.Err() != nil && played < f.plan.requests:
		return last, ctx.Err()
	case played < f.plan.requests:
		return last, fmt.Errorf("read %s again: request %d differs from the first reading", f.trace.Name(), played+1)
	}
	return last, f.plan.err
}

// playBatch plays b through every cell, o.Parallel of them at a time.
func playBatch(b *batch, cells []runner, o *Options) {
	now, workers := o.Now, o.Parallel
	if now == nil {
		now = time.Now
	}
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	work := func() {
		for i := next.Add(1) - 1; i < int64(len(cells)); i = next.Add(1) - 1 {
			cells[i].play(b, now)
		}
	}
	var others sync.WaitGroup
	for range min(workers, len(cells)) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
}
