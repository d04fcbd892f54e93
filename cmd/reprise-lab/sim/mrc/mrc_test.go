package mrc

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"reprise/cmd/reprise-lab/sim/blocks"
)

// chains is a trace of conversations over a few shared beginnings: prompts that grow, with answers that complete blocks in half of them.
func chains(seed uint64, requests int) *blocks.Trace {
	rng := rand.New(rand.NewPCG(seed, 1))
	var n blocks.Numbers
	t := &blocks.Trace{Name: "chains", Generated: true, Tokens: 16, Kinds: []string{"chat"}}
	var open [][]uint64
	at := 0.0
	for i := range requests {
		at += rng.ExpFloat64()
		c := rng.IntN(len(open) + 1)
		if c == len(open) {
			open = append(open, []uint64{uint64(rng.IntN(3)), 7, 7})
		}
		for range rng.IntN(4) {
			open[c] = append(open[c], uint64(i)<<8|uint64(rng.IntN(2)))
		}
		r := blocks.Request{At: at, Prompt: 1, Blocks: n.Chain(nil, open[c])}
		if rng.IntN(2) == 0 {
			open[c] = append(open[c], uint64(i)<<8|3)
			whole := n.Chain(nil, open[c])
			r.Filled = whole[len(r.Blocks):]
		}
		if len(open) > 12 {
			open = slices.Delete(open, 0, 1)
		}
		t.Requests = append(t.Requests, r)
	}
	t.Distinct = n.Len()
	return t
}

func curve(t *testing.T, trace *blocks.Trace, o Options) *Curve {
	t.Helper()
	c, err := Blocks(trace, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestExactIsReplay: the curve has the hits of a replay through LRU at every capacity.
func TestExactIsReplay(t *testing.T) {
	for seed := range uint64(5) {
		trace := chains(seed, 200)
		o := blocks.Options{Policies: []string{"lru"}}
		for n := 1; n <= trace.Distinct+3; n += 1 + n/20 {
			o.Capacities = append(o.Capacities, blocks.Capacity{Blocks: n})
		}
		results, err := blocks.Replay(context.Background(), trace, o)
		if err != nil {
			t.Fatal(err)
		}
		c := curve(t, trace, Options{})
		for _, r := range results {
			if got := c.HitRatio(float64(r.Slots)); math.Abs(got-r.HitRatio) > 1e-12 {
				t.Errorf("seed %d, %d blocks: %v, the replay has %v", seed, r.Slots, got, r.HitRatio)
			}
		}
		if last := results[len(results)-1]; math.Abs(c.HitRatio(math.Inf(1))-last.HitRatio) > 1e-12 || c.Accesses != last.Blocks {
			t.Errorf("seed %d: ideal %v of %d, the replay has %v of %d", seed, c.HitRatio(math.Inf(1)), c.Accesses, last.HitRatio, last.Blocks)
		}
		if c.HitRatio(0.5) != 0 {
			t.Errorf("seed %d: %v below one block", seed, c.HitRatio(0.5))
		}
	}
}

// TestCapacity: it is the least one that reaches the ratio.
func TestCapacity(t *testing.T) {
	c := curve(t, chains(3, 400), Options{})
	for _, share := range []float64{0, 0.1, 0.5, 0.9, 1} {
		want := share * c.HitRatio(math.Inf(1))
		n, ok := c.Capacity(want)
		if !ok || c.HitRatio(float64(n)) < want-1e-9 || n > 1 && c.HitRatio(float64(n-1)) >= want {
			t.Errorf("%v: %d blocks (%v) have %v, one less %v", want, n, ok, c.HitRatio(float64(n)), c.HitRatio(float64(n-1)))
		}
	}
	if _, ok := c.Capacity(c.HitRatio(math.Inf(1)) + 0.01); ok {
		t.Error("a capacity for more than the ideal hit ratio")
	}
}

// TestSample: a tenth of the blocks gives the curve with a small error, whose mean over seeds is near 0, and the same seed gives the same.
func TestSample(t *testing.T) {
	trace := chains(9, 8000)
	exact := curve(t, trace, Options{})
	var errors, bias float64
	const seeds, points = 10, 20
	for seed := range uint64(seeds) {
		c := curve(t, trace, Options{Rate: 0.1, Seed: seed})
		if share := float64(c.Sampled) / float64(trace.Distinct); math.Abs(share-0.1) > 0.002 {
			t.Errorf("seed %d: a share of %v is sampled", seed, share)
		}
		for i := range points {
			n := float64(trace.Distinct) * float64(i+1) / points / 4
			d := c.HitRatio(n) - exact.HitRatio(n)
			errors += math.Abs(d) / seeds / points
			bias += d / seeds / points
		}
		if c.HitRatio(math.Inf(1)) != exact.HitRatio(math.Inf(1)) || c.Accesses != exact.Accesses || c.HitRatio(float64(trace.Distinct)) != exact.HitRatio(math.Inf(1)) {
			t.Errorf("seed %d: ideal %v of %d, want %v of %d", seed, c.HitRatio(math.Inf(1)), c.Accesses, exact.HitRatio(math.Inf(1)), exact.Accesses)
		}
	}
	if errors > 0.01 || math.Abs(bias) > 0.005 {
		t.Errorf("mean absolute error %.4f, mean error %.4f", errors, bias)
	}
	if a, b := curve(t, trace, Options{Rate: 0.1, Seed: 4}), curve(t, trace, Options{Rate: 0.1, Seed: 4}); !reflect.DeepEqual(a, b) {
		t.Error("the same sample gives two curves")
	}
}

// TestEachStratumHasOne: one block of each 1/rate is sampled, whatever the rate.
func TestEachStratumHasOne(t *testing.T) {
	for _, rate := range []float64{1, 0.7, 1.0 / 3, 0.1, 0.01} {
		n := 0
		for b := range uint32(10_000) {
			if sampled(b, rate, 5) {
				n++
			}
		}
		if want := 10_000 * rate; math.Abs(float64(n)-want) > 1 {
			t.Errorf("rate %v: %d of 10000", rate, n)
		}
	}
}

// TestLeast: a small trace is sampled at a higher rate, up to all blocks.
func TestLeast(t *testing.T) {
	trace := chains(2, 1000)
	for _, c := range []struct {
		o    Options
		want float64
	}{
		{Options{}, 1}, {Options{Rate: 0.5}, 0.5}, {Options{Least: 1 << 30}, 1}, {Options{Rate: 0.5, Least: 10}, 0.5},
		{Options{Least: trace.Distinct / 4}, float64(trace.Distinct/4) / float64(trace.Distinct)},
	} {
		if got := curve(t, trace, c.o); got.Rate != c.want || math.Abs(float64(got.Sampled)-c.want*float64(trace.Distinct)) > 1 {
			t.Errorf("%+v: rate %v, %d of %d blocks", c.o, got.Rate, got.Sampled, trace.Distinct)
		}
	}
}

// TestWindows: the windows have all requests, and their hits are those of the curve.
func TestWindows(t *testing.T) {
	trace := chains(4, 1000)
	sizes := []int{5, 40, 1000}
	c := curve(t, trace, Options{Window: 60, Capacities: sizes})
	var accesses int64
	hits := make([]float64, len(sizes))
	for i, w := range c.Windows {
		accesses += w.Accesses
		for k, n := range w.Hits {
			hits[k] += n
		}
		if math.Abs(w.From-trace.Requests[0].At-float64(60*i)) > 1e-9 {
			t.Errorf("window %d begins at %v", i, w.From)
		}
	}
	if accesses != c.Accesses {
		t.Errorf("%d accesses in windows, %d in the trace", accesses, c.Accesses)
	}
	for k, n := range sizes {
		if got, want := hits[k]/float64(accesses), c.HitRatio(float64(n)); math.Abs(got-want) > 1e-12 {
			t.Errorf("%d blocks: %v in windows, %v in the curve", n, got, want)
		}
	}
}

// TestStackCompacts: slots are given again without a change of positions.
func TestStackCompacts(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	s := newStack(150)
	var list []uint32
	for i := range 20_000 {
		b := uint32(rng.IntN(150) * rng.IntN(150) / 150)
		at := slices.Index(list, b)
		if at >= 0 {
			if got := s.position(b); got != at+1 {
				t.Fatalf("use %d: position %d, want %d", i, got, at+1)
			}
			list = slices.Delete(list, at, at+1)
		}
		s.touch(b)
		list = slices.Insert(list, 0, b)
	}
}

func TestValidate(t *testing.T) {
	trace := chains(1, 10)
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Rate: -0.1}, "rate -0.1: want a share"},
		{Options{Rate: 1.5}, "rate 1.5: want a share"},
		{Options{Rate: math.NaN()}, "want a share"},
		{Options{Least: -1}, "sample of -1 blocks: want"},
		{Options{Window: -1}, "window -1: want"},
		{Options{Window: math.Inf(1)}, "want a positive length"},
		{Options{Window: 1e-7}, "want at most 1048576 windows"},
		{Options{Capacities: []int{5, 5}}, "capacity 5: want positive numbers of blocks in rising order"},
		{Options{Capacities: []int{0}}, "capacity 0: want"},
	} {
		if _, err := Blocks(trace, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.want)
		}
	}
	if c := curve(t, &blocks.Trace{Name: "empty"}, Options{Rate: 0.01, Window: 60, Capacities: []int{1}}); c.HitRatio(10) != 0 || c.HitRatio(math.Inf(1)) != 0 || len(c.Windows) != 0 {
		t.Errorf("an empty trace: %+v", c)
	}
}
