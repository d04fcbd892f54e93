package hint

import (
	"iter"
	"math"
	"math/rand/v2"
	"testing"

	"reprise/policy"
)

// TestFitIsWithinThreeSD repeats the fit on many synthetic samples, each seen from uses at all times of ten minutes until their end, so that
// every age is censored. The standard deviation is that of the repetitions.
func TestFitIsWithinThreeSD(t *testing.T) {
	const samples, uses, window = 200, 1000, 600.0
	for _, truth := range []Fit{{P: 0.5, Rate: 1.0 / 120}, {P: 0.8, Rate: 1.0 / 30}, {P: 0.25, Rate: 1.0 / 60}} {
		rng := rand.New(rand.NewPCG(5, 6))
		var p, rate [samples]float64
		for i := range samples {
			var s Sample
			for range uses {
				seen := window * rng.Float64()
				if gap := rng.ExpFloat64() / truth.Rate; rng.Float64() < truth.P && gap < seen {
					s.Again(gap, 1)
				} else {
					s.Silent(seen, 1)
				}
			}
			f := s.Fit(Fit{P: 0.5, Rate: 0.01})
			p[i], rate[i] = f.P, f.Rate
		}
		within(t, "P", p[:], truth.P)
		within(t, "Rate", rate[:], truth.Rate)
	}
}

// within fails unless nearly all estimates are within 3 sd of the truth, and their mean is within a third of one.
func within(t *testing.T, name string, all []float64, truth float64) {
	t.Helper()
	mean, square := 0.0, 0.0
	for _, v := range all {
		mean += v / float64(len(all))
	}
	for _, v := range all {
		square += (v - mean) * (v - mean) / float64(len(all)-1)
	}
	sd, outside := math.Sqrt(square), 0
	for _, v := range all {
		if math.Abs(v-truth) > 3*sd {
			outside++
		}
	}
	t.Logf("%s: truth %.5f, mean %.5f, sd %.5f, %d of %d further than 3 sd", name, truth, mean, sd, outside, len(all))
	if math.Abs(mean-truth) > sd/3 || outside > len(all)/50 || sd > 0.25*truth {
		t.Errorf("%s: mean %v, sd %v, %d outside of 3 sd of %v", name, mean, sd, outside, truth)
	}
}

// none is no open use.
func none(func(uint32, float64) bool) {}

// TestModelDrawsToTheWider: 2000 returns after 1000 s have the weight of 1650 now, with 1000 after 10 s the mean is 627 s.
// A category with few returns has nearly the fit of its type, a new one exactly that, one of a new type that of all.
func TestModelDrawsToTheWider(t *testing.T) {
	var m Returns
	first, second, other := policy.CategoryOf(0, 1), policy.CategoryOf(0, 2), policy.CategoryOf(1, 1)
	for range 1000 {
		m.Again(first, 10)
		m.Again(other, 1000)
		m.Again(other, 1000)
	}
	m.Again(second, 12)
	if got := m.Of(first); got != priorFit {
		t.Errorf("before the first Refit: %+v", got)
	}
	m.Refit(0, none)
	if got := m.Of(first); math.Abs(got.Rate*10-1) > 0.01 || got.P < 0.99 {
		t.Errorf("fit %+v, want one return after 10 s", got)
	}
	if got := m.Of(second); math.Abs(got.Rate*10-1) > 0.02 {
		t.Errorf("a category with one return: %+v, want that of its type", got)
	}
	if got := m.Of(policy.CategoryOf(1, 5)); math.Abs(got.Rate*1000-1) > 0.01 {
		t.Errorf("a new category: %+v, want that of its type", got)
	}
	if got := m.Of(policy.CategoryOf(9, 1)); got != m.overall() || math.Abs(got.Rate*627-1) > 0.01 {
		t.Errorf("a new type: %+v, want that of all, %+v", got, m.overall())
	}
}

// TestModelCountsOpenUses: what has not returned so far is no part of the sample after it has.
func TestModelCountsOpenUses(t *testing.T) {
	var m Returns
	for range 500 {
		m.Again(0, 10)
	}
	open := func(n int) iter.Seq2[uint32, float64] {
		return func(yield func(uint32, float64) bool) {
			for range n {
				if !yield(0, 300) {
					return
				}
			}
		}
	}
	for _, c := range []struct {
		open int
		want float64
	}{{500, 0.5}, {0, 1}, {1500, 0.25}} {
		m.ready = false
		m.Refit(0, open(c.open))
		if got := m.Of(0).P; math.Abs(got-c.want) > 0.03 {
			t.Errorf("%d open uses: P %v, want %v", c.open, got, c.want)
		}
	}
}
