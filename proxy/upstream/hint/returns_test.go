package hint

import (
	"math"
	"testing"
)

// TestProbabilities holds the formulas to their limits and to a direct sum.
func TestProbabilities(t *testing.T) {
	f := Fit{P: 0.6, Rate: 0.01}
	for _, tc := range []struct {
		name      string
		got, want float64
	}{
		{"at once", f.still(0), 0.6},
		{"after 100 s (0.6 / e) / (0.4 + 0.6 / e)", f.still(100), 0.2207277 / 0.6207277},
		{"after a year", f.still(3e7), 0},
		{"within any time", f.Within(0, 1e9), 0.6},
		{"within 100 s", f.Within(0, 100), 0.6 * (1 - 1/math.E)},
		{"within no time", f.Within(50, 0), 0},
	} {
		if math.Abs(tc.got-tc.want) > 1e-6 {
			t.Errorf("%s: %v, want %v", tc.name, tc.got, tc.want)
		}
	}
	// What returns within 50 s, and what then still returns, is all that returns.
	if whole, parts := f.still(0), f.Within(0, 50)+(1-f.Within(0, 50))*f.still(50); math.Abs(whole-parts) > 1e-12 {
		t.Errorf("%v is not %v", parts, whole)
	}
}

// TestFewUsesFollowThePrior: a category with little evidence has nearly the model of the wider one.
func TestFewUsesFollowThePrior(t *testing.T) {
	prior := Fit{P: 0.7, Rate: 0.02}
	var s Sample
	if got := s.Fit(prior); got != prior {
		t.Errorf("an empty sample gives %+v", got)
	}
	s.Again(10_000, 1)
	if got := s.Fit(prior); math.Abs(got.P-0.7) > 0.05 || got.Rate > prior.Rate || got.Rate < prior.Rate/15 {
		t.Errorf("one use gives %+v", got)
	}
	for range 10 {
		s.fade(0.5)
	}
	if got := s.Fit(prior); math.Abs(got.Rate/prior.Rate-1) > 0.1 {
		t.Errorf("a use that faded gives %+v", got)
	}
}

// TestFitIsFinite: no sample makes a fit outside of its bounds.
func TestFitIsFinite(t *testing.T) {
	for _, fill := range []func(*Sample){
		func(s *Sample) { s.Again(0, 1) },
		func(s *Sample) { s.Silent(0, 1) },
		func(s *Sample) { s.Silent(math.Inf(1), 1) },
		func(s *Sample) {
			for range 1000 {
				s.Again(0, 1)
			}
		},
		func(s *Sample) {
			for range 1000 {
				s.Again(1e12, 1)
			}
		},
	} {
		var s Sample
		fill(&s)
		if f := s.Fit(Fit{P: 0.5, Rate: 0.01}); f != f.clamped() {
			t.Errorf("fitted %+v", f)
		}
	}
}
