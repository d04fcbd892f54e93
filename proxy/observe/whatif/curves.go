package whatif

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"reprise/policy"
)

// Cache is the one that has answered the requests.
type Cache struct {
	Policy   string // as package registry reads it
	Capacity policy.Limit
}

// beside are the policies that the present one is compared with: the first three others.
var beside = []string{"lru", "w-tinylfu", "s3fifo", "lirs"}

// factors are the capacities of a curve, in present ones.
var factors = []float64{1. / 16, 3. / 32, 1. / 8, 3. / 16, 1. / 4, 3. / 8, 1. / 2, 3. / 4, 1, 3. / 2, 2, 3, 4}

const (
	// least is how many rows there must be.
	least = 1000
	// miniature is how many entries the largest simulated caches have. A larger capacity is simulated with fewer of the identities.
	miniature = 2048
)

// Curves are the hit ratios by capacity.
type Curves struct {
	Policy   string  `json:"policy"`
	Unit     string  `json:"unit"` // of the capacities: entries or bytes, whichever is reached first
	Now      int64   `json:"now"`  // the present capacity
	Variable string  `json:"variable"`
	Window   covered `json:"window"`
	// Measured is what was counted in the requests that the curves count; the point of the present policy and capacity should be near it.
	Measured   float64  `json:"measured_hit_ratio"`
	Infinite   float64  `json:"hit_ratio_infinite"` // of a cache that keeps everything
	Capacities []size   `json:"capacities"`
	Policies   []curve  `json:"policies"`
	Notes      []string `json:"notes"`
}

// covered is the requests that the curves rest on.
type covered struct {
	Requests int64   `json:"requests"`
	Counted  int64   `json:"counted"` // the last third; the others fill the caches
	Seconds  float64 `json:"seconds"`
	Rate     float64 `json:"sampled_share"` // of the identities
	Rows     int     `json:"rows"`
	Distinct int     `json:"distinct"` // identities, an estimate where the share is below 1
	Renewed  float64 `json:"renewed_share"`
	Bytes    int64   `json:"memory_bytes"`
}

// size is a capacity.
type size struct {
	Capacity int64   `json:"capacity"`
	Factor   float64 `json:"factor"`
	// Enough: the window is long enough for it. Where not, the curves have no figure.
	Enough bool   `json:"enough"`
	Set    string `json:"set"` // the variable and its value
}

// curve is the hit ratio of a policy at each of Curves.Capacities; nil where the window is too short.
type curve struct {
	Policy string     `json:"policy"`
	Now    bool       `json:"present"`
	Ratios []*float64 `json:"hit_ratio"`
	Set    string     `json:"set"`
}

// study is one computation.
type study struct {
	Cache
	*sample
	*figures
	bytes    bool    // the capacity is in bytes
	all      float64 // the scale of all rows
	progress func(done, total int)
	pause    func(context.Context)
}

// compute makes the curves.
func (s *study) compute(ctx context.Context) (c *Curves, err error) {
	s.figures = s.sample.survey()
	s.bytes, s.all = s.limitedByBytes(), s.scale(s.rows[s.warm:], s.rate)
	c = &Curves{Policy: s.Policy, Unit: "entries", Variable: "REPRISE_CAPACITY_ENTRIES", Now: int64(s.Capacity.Entries)}
	if s.bytes {
		c.Unit, c.Variable, c.Now = "bytes", "REPRISE_CAPACITY_BYTES", s.Capacity.Bytes
	}
	c.Window = covered{Requests: s.requests, Counted: s.counted, Seconds: s.seconds, Rate: s.rate, Rows: s.sampled,
		Distinct: int(float64(s.distinct)/s.rate + 0.5), Renewed: share(s.renewed, int64(s.sampled-s.warm))}
	c.Measured, c.Infinite = share(s.hits, s.counted), ratio(int64(s.infinite), s.all, s.counted)
	c.Capacities = s.sizes(c)
	names := []string{s.Policy}
	for _, name := range beside {
		if name != s.Policy && len(names) < 4 {
			names = append(names, name)
		}
	}
	for _, name := range names {
		c.Policies = append(c.Policies, curve{Policy: name, Now: name == s.Policy, Ratios: make([]*float64, len(c.Capacities)), Set: "REPRISE_POLICY=" + name})
	}
	if err := s.fill(ctx, c); err != nil {
		return nil, err
	}
	c.Notes = s.notes(c)
	return c, nil
}

func share(n, of int64) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// limitedByBytes reports which limit is reached first, by the mean size of what is asked for.
func (s *study) limitedByBytes() bool {
	l := s.Capacity
	if l.Bytes == 0 || l.Entries == 0 || s.distinct == 0 {
		return l.Bytes > 0
	}
	return float64(l.Bytes)/(float64(s.figures.bytes)/float64(s.distinct)) < float64(l.Entries)
}

// sizes are the capacities of the curve.
func (s *study) sizes(c *Curves) (all []size) {
	filled := float64(s.filled)
	if s.bytes {
		filled = float64(s.filling)
	}
	for _, f := range factors {
		n := max(int64(math.Round(float64(c.Now)*f)), 1)
		if len(all) > 0 && all[len(all)-1].Capacity == n {
			continue
		}
		all = append(all, size{Capacity: n, Factor: f, Enough: s.whole || filled >= 2*float64(n)*s.rate, Set: c.Variable + "=" + strconv.FormatInt(n, 10)})
	}
	return all
}

// fill computes every point that the window is long enough for.
func (s *study) fill(ctx context.Context, c *Curves) error {
	for i, size := range c.Capacities {
		s.progress(i, len(c.Capacities))
		if !size.Enough {
			continue
		}
		ratios, err := s.simulate(ctx, c.Policies, size.Capacity)
		if err != nil {
			return err
		}
		for k := range ratios {
			c.Policies[k].Ratios[i] = &ratios[k]
		}
	}
	return nil
}

// simulate plays the rows of some identities through each policy with a capacity that is smaller by the same factor.
func (s *study) simulate(ctx context.Context, curves []curve, capacity int64) ([]float64, error) {
	entries := float64(capacity)
	if s.bytes {
		entries = float64(capacity) * float64(s.distinct) / float64(max(s.figures.bytes, 1))
	}
	thin := min(1, miniature/(entries*s.rate))
	mini := &sample{rows: thinned(s.rows, thin), rate: s.rate * thin}
	warm := len(thinned(s.rows[:s.warm], thin))
	small := max(int64(math.Round(float64(capacity)*mini.rate)), 1)
	limit := policy.Limit{Entries: int(small)}
	if s.bytes {
		limit = policy.Limit{Bytes: small}
	}
	scale := s.scale(mini.rows[warm:], mini.rate)
	var ratios []float64
	for _, c := range curves {
		misses, err := replay(ctx, mini.rows, warm, scaled(c.Policy, mini.rate, s.bytes), limit, s.pause)
		if err != nil {
			return nil, err
		}
		ratios = append(ratios, ratio(misses, scale, s.counted))
	}
	return ratios, nil
}

// chance is by how many points a hit ratio of n requests moves by chance alone, at most in 95 of 100 cases, if these are independent.
func chance(ratio, n float64) (points float64) { return 196 * math.Sqrt(ratio*(1-ratio)/n) }

// notes say in words what limits the figures.
func (s *study) notes(c *Curves) (notes []string) {
	last := int64(0)
	for _, x := range c.Capacities {
		if x.Enough {
			last = x.Capacity
		}
	}
	switch {
	case last == 0:
		notes = append(notes, "The window is too short for every capacity: no cache of these sizes is filled twice before requests are counted.")
	case last < c.Capacities[len(c.Capacities)-1].Capacity:
		notes = append(notes, fmt.Sprintf("The window is too short for capacities above %d %s: a cache of that size is not filled twice before requests are counted.", last, c.Unit))
	}
	if i := slices.IndexFunc(c.Capacities, func(x size) bool { return x.Factor == 1 }); i >= 0 && c.Policies[0].Ratios[i] != nil {
		if d := *c.Policies[0].Ratios[i] - c.Measured; math.Abs(d) > 0.02 {
			notes = append(notes, fmt.Sprintf("The replay of the present settings has %+.1f points against what was measured: expiry, purges, answers that were there before "+
				"the window and requests that wanted a new answer are not replayed. Compare the curves with each other.", 100*d))
		}
	}
	if n := float64(c.Window.Counted) * c.Window.Rate; n > 0 {
		notes = append(notes, fmt.Sprintf("Chance alone moves a hit ratio of %.0f requests, which the replay counts, by up to %.1f points (95 %%). Policies are compared over the same requests, which differs by less, but a lead below that should be seen "+
			"again in a later window before it is followed.", n, chance(c.Measured, n)))
	}
	notes = append(notes, "A request that was answered by meaning counts as one for the answer that it got: what a larger cache would find beyond that by meaning is not in the curves.")
	return notes
}

// halfTime rests as long as was worked since the last rest, so that a study takes half of one processor.
func halfTime() func(context.Context) {
	woke := time.Now()
	return func(ctx context.Context) {
		rest := time.NewTimer(time.Since(woke))
		defer rest.Stop()
		select {
		case <-ctx.Done():
		case <-rest.C:
		}
		woke = time.Now()
	}
}

// guarded is compute, with a panic as an error: it must not end the process that serves requests.
func (s *study) guarded(ctx context.Context) (c *Curves, err error) {
	defer func() {
		if v := recover(); v != nil {
			c, err = nil, fmt.Errorf("panic: %v", v)
		}
	}()
	return s.compute(ctx)
}
