package study

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"reprise/cmd/reprise-lab/sim"
	"reprise/cmd/reprise-lab/sim/workload"
)

// Setup has the options of a study.
type Setup struct {
	Seeds    []uint64    // of the generated traces, and of the policies that draw random numbers
	Parallel int         // traces played at a time; 0 is one for each processor. The figures do not depend on it
	Given    []sim.Trace // played besides the generated ones
	Data     string      // the folder with recorded texts and traces, see CheckData; "" is none
	Designs  []string    // policies that "regimes" compares too, with their parameters
	Only     []string    // of Parts, for "regimes"; none is all for which there is data
	Shrink   int         // factor by which generated traces and their caches are smaller; there are fewer of them too. For tests
	// Progress is called with the number of traces of a part that were played, and their total; nil: not called.
	Progress func(part string, done, total int)
}

// setting is a workload with the policies, capacities and model that play it.
type setting struct {
	name       string
	trace      func(seed uint64) (sim.Trace, error)
	capacities []sim.Capacity
	policies   []string
	model      func(seed uint64) sim.Model // nil: hits by identity
	once       bool                        // the trace does not depend on the seed: all but the first play only policies that draw random numbers
	bytes      bool                        // sizes and costs are needed, and a share is one of the bytes
	known      string                      // settings with the same value are played once; "" is always played
}

// drawing are the policies that draw random numbers.
var drawing = []string{"random", "lhd", "lecar", "cacheus", "w-tinylfu", "haz", panelOf}

// of returns the policies that are played with the seed of a number.
func (s *setting) of(seed int) []string {
	if !s.once || seed == 0 {
		return s.policies
	}
	return slices.DeleteFunc(slices.Clone(s.policies), func(p string) bool { return !slices.Contains(drawing, nameOf(p)) })
}

// outcome has the results of a setting: for each seed, capacity by capacity within each policy.
type outcome struct {
	setting
	seeds [][]sim.Result
}

// lab plays settings and keeps their results.
type lab struct {
	Setup
	ctx    context.Context
	played map[string]outcome
	all    []sim.Result // in the order of the settings
}

func newLab(ctx context.Context, s Setup) *lab {
	if s.Parallel == 0 {
		s.Parallel = runtime.GOMAXPROCS(0)
	}
	return &lab{Setup: s, ctx: ctx, played: map[string]outcome{}}
}

// job is one trace of a setting.
type job struct{ setting, seed int }

// play plays all settings with all seeds. If the context ends it returns the complete ones, and the error of the context.
func (l *lab) play(part string, settings []setting) ([]outcome, error) {
	out := make([]outcome, len(settings))
	left := make([]int, len(settings)) // seeds not played yet
	var jobs []job
	for i, s := range settings {
		if o, ok := l.played[s.known]; ok && s.known != "" {
			o.name = s.name
			out[i] = o
			continue
		}
		n := len(l.Seeds)
		if len(s.of(1)) == 0 {
			n = 1
		}
		out[i], left[i] = outcome{s, make([][]sim.Result, n)}, n
		for k := range n {
			jobs = append(jobs, job{i, k})
		}
	}
	err := l.work(part, jobs, out, left)
	var complete []outcome
	for i, o := range out {
		if left[i] == 0 {
			complete = append(complete, o)
			l.keep(o)
		}
	}
	return complete, err
}

// keep adds the results of an outcome, once for each value of known.
func (l *lab) keep(o outcome) {
	if _, ok := l.played[o.known]; ok && o.known != "" {
		return
	}
	l.played[o.known] = o
	for _, results := range o.seeds {
		l.all = append(l.all, results...)
	}
}

// work plays the jobs in order, Parallel at a time, and stops at the first error.
func (l *lab) work(part string, jobs []job, out []outcome, left []int) error {
	ctx, stop := context.WithCancelCause(l.ctx)
	defer stop(nil)
	var mu sync.Mutex // next, done and left
	next, done := 0, 0
	take := func() (j job, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		if next == len(jobs) || ctx.Err() != nil {
			return j, false
		}
		next++
		return jobs[next-1], true
	}
	note := func(j job) {
		mu.Lock()
		defer mu.Unlock()
		left[j.setting]--
		if done++; l.Progress != nil {
			l.Progress(part, done, len(jobs))
		}
	}
	var workers sync.WaitGroup
	for range l.Parallel {
		workers.Go(func() {
			for j, ok := take(); ok; j, ok = take() {
				results, err := l.one(ctx, out[j.setting].setting, j.seed)
				if err != nil {
					stop(err)
					return
				}
				out[j.setting].seeds[j.seed] = results
				note(j)
			}
		})
	}
	workers.Wait()
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return fmt.Errorf("%s: %w", part, cause)
	}
	return l.ctx.Err()
}

// one plays one trace of a setting.
func (l *lab) one(ctx context.Context, s setting, k int) ([]sim.Result, error) {
	seed := l.Seeds[k]
	t, err := s.trace(seed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	o := sim.Options{Policies: s.of(k), Capacities: s.capacities, Seed: seed, Parallel: 1}
	if s.model != nil {
		o.Model = s.model(seed)
	}
	if s.bytes {
		t = sizes(t)
		if o.Capacities, err = inBytes(t, s.capacities); err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	results, err := sim.Replay(ctx, t, o)
	if err != nil {
		return nil, fmt.Errorf("%s, seed %d: %w", s.name, seed, err)
	}
	for i := range results { // policy by policy, each at all capacities
		results[i].Capacity = s.label(s.capacities[i%len(s.capacities)])
	}
	return results, nil
}

// label is a capacity as tables show it.
func (s *setting) label(c sim.Capacity) string {
	if s.bytes && c.Share > 0 {
		return c.String() + " of the bytes"
	}
	return c.String()
}

// inBytes returns capacities in bytes: a share is one of the bytes of the distinct requests of t.
func inBytes(t sim.Trace, capacities []sim.Capacity) ([]sim.Capacity, error) {
	all := slices.Clone(capacities)
	if !slices.ContainsFunc(all, func(c sim.Capacity) bool { return c.Share > 0 }) {
		return all, nil
	}
	seen, bytes := map[uint64]bool{}, int64(0)
	for r, err := range t.Requests() {
		if err != nil {
			return nil, err
		}
		if !seen[r.ID] {
			seen[r.ID] = true
			bytes += max(r.Size, 1)
		}
	}
	for i, c := range all {
		if c.Share > 0 {
			all[i] = sim.Capacity{Bytes: max(1, int64(c.Share*float64(bytes)))}
		}
	}
	return all, nil
}

// rows returns a row for each capacity, with a figure of each policy and seed.
func (o outcome) rows(figure func(sim.Result) float64) (rows []Row) {
	for _, c := range o.capacities {
		row := Row{Case: o.name, Capacity: o.label(c), Values: map[string][]float64{}, Fixed: o.once}
		for _, results := range o.seeds {
			for _, r := range results {
				if r.Capacity == row.Capacity {
					row.Values[r.Policy] = append(row.Values[r.Policy], figure(r))
					row.Entries = max(r.CapacityEntries, int(r.CapacityBytes/meanSize))
				}
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// allRows returns the rows of all outcomes.
func allRows(all []outcome, figure func(sim.Result) float64) (rows []Row) {
	for _, o := range all {
		rows = append(rows, o.rows(figure)...)
	}
	return rows
}

// generated returns the setting of a workload. Its known value has everything that its results depend on.
func (l *lab) generated(name, spec string, policies []string, capacities ...sim.Capacity) setting {
	if l.Shrink > 1 {
		spec, capacities = l.shrunk(spec), slices.Clone(capacities)
		for i := range capacities {
			capacities[i].Entries /= l.Shrink
			capacities[i].Bytes /= int64(l.Shrink)
		}
	}
	return setting{
		name:       name,
		trace:      func(seed uint64) (sim.Trace, error) { return workload.Generate(spec, seed) },
		capacities: capacities, policies: policies, known: fmt.Sprint(spec, capacities, policies),
	}
}
