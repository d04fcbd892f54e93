package returns

import (
	"math"
	"math/rand/v2"
	"testing"
)

// draw is a sample of a mixture whose observation ends after some seconds.
func draw(truth Mixture, uses int, window float64, seed uint64) *Sample {
	rng := rand.New(rand.NewPCG(seed, 7))
	s := &Sample{}
	for range uses {
		rate := truth.Rates[0]
		if rng.Float64() < truth.Late {
			rate = truth.Rates[1]
		}
		if gap := rng.ExpFloat64() / rate; rng.Float64() < truth.P && gap < window {
			s.Again(gap, 1)
		} else {
			s.Silent(window, 1)
		}
	}
	return s
}

// TestMixtureFindsTheTruth: the mean of forty estimates from censored samples is within three standard deviations of a mean, as their spread
// gives it, of each parameter. The prior differs from the truth and counts for little.
func TestMixtureFindsTheTruth(t *testing.T) {
	for _, truth := range []Mixture{
		{P: 0.5, Late: 0.3, Rates: [2]float64{1.0 / 30, 1.0 / 600}},
		{P: 0.8, Late: 0.5, Rates: [2]float64{1.0 / 10, 1.0 / 300}},
		{P: 0.3, Late: 0.2, Rates: [2]float64{1.0 / 100, 1.0 / 1500}},
	} {
		const n = 40
		var sum, squares [4]float64
		for seed := range uint64(n) {
			s := draw(truth, 20_000, 3600, seed)
			m := s.Mix(MixturePrior, s.guess(), 0)
			for i, v := range []float64{m.P, m.Late, math.Log(m.Rates[0]), math.Log(m.Rates[1])} {
				sum[i] += v / n
				squares[i] += v * v / n
			}
		}
		for i, want := range []float64{truth.P, truth.Late, math.Log(truth.Rates[0]), math.Log(truth.Rates[1])} {
			sd := math.Sqrt((squares[i] - sum[i]*sum[i]) / n)
			if math.Abs(sum[i]-want) > 3*sd || sd*math.Sqrt(n) > 0.15 {
				t.Errorf("%+v, parameter %d: mean %.5f of the estimates, %.5f is the truth, the sd of a mean is %.5f", truth, i, sum[i], want, sd)
			}
		}
	}
}

// TestMixtureLeavesASingleTime: an estimate that was one exponential time departs from it when there are two.
func TestMixtureLeavesASingleTime(t *testing.T) {
	truth := Mixture{P: 0.5, Late: 0.3, Rates: [2]float64{1.0 / 30, 1.0 / 1000}}
	s := draw(truth, 20_000, 3600, 1)
	for _, start := range []Mixture{Prior.Mixture(), {P: 0.5, Late: 1, Rates: [2]float64{1, 0.01}}, MixturePrior} {
		if m := s.Mix(MixturePrior, start, weak); math.Abs(m.Rates[1]/truth.Rates[1]-1) > 0.2 || math.Abs(m.Late-truth.Late) > 0.05 {
			t.Errorf("from %+v to %+v, want %+v", start, m, truth)
		}
	}
}

// TestMixtureIsFinite: no sample makes a mixture outside of its bounds, and an empty one has the prior.
func TestMixtureIsFinite(t *testing.T) {
	var empty Sample
	if m := empty.Mix(MixturePrior, Mixture{}, firm); m != MixturePrior {
		t.Errorf("an empty sample gives %+v", m)
	}
	for _, gap := range []float64{0, 1, 1e12} {
		for _, counts := range []float64{0, weak, firm} {
			var again, silent Sample
			for range 1000 {
				again.Again(gap, 1)
				silent.Silent(gap, 1)
			}
			for _, s := range []*Sample{&again, &silent} {
				if m := s.Mix(MixturePrior, s.guess(), counts); m != m.clamped() || math.IsNaN(m.P+m.Late+m.Rates[0]+m.Rates[1]) {
					t.Errorf("gaps of %g, a prior of %g: %+v", gap, counts, m)
				}
			}
		}
	}
}

// TestCurvesAreTheirSums holds the logarithms to direct sums, and to the curves of one exponential time.
func TestCurvesAreTheirSums(t *testing.T) {
	m := Mixture{P: 0.6, Late: 0.25, Rates: [2]float64{0.05, 0.002}}
	f := Fit{P: 0.6, Rate: 0.01}
	curve, one, scale := m.Over(100), f.Mixture().Over(100), f.Over(100)
	last := math.Inf(1)
	for _, idle := range []float64{0, 1, 50, 1000, 20_000} {
		fast, slow := 0.45*math.Exp(-0.05*idle), 0.15*math.Exp(-0.002*idle)
		soon, left := fast*(1-math.Exp(-5))+slow*(1-math.Exp(-0.2)), 0.4+fast+slow
		for _, c := range []struct {
			name      string
			got, want float64
		}{
			{"unconditional", curve.Unconditional(idle), math.Log(soon)},
			{"conditional", curve.Conditional(idle), math.Log(soon / left)},
			{"density", curve.Density(idle), math.Log((0.05*fast + 0.002*slow) / left)},
			{"still", m.Still(idle), (fast + slow) / left},
			{"unconditional of one", one.Unconditional(idle), scale.Unconditional(idle)},
			{"conditional of one", one.Conditional(idle), scale.Conditional(idle)},
		} {
			if math.Abs(c.got-c.want) > 1e-9*max(1, math.Abs(c.want)) {
				t.Errorf("%s at %g s: %v, want %v", c.name, idle, c.got, c.want)
			}
		}
		if d := curve.Density(idle); d >= last {
			t.Errorf("the density at %g s is not less than before", idle)
		} else {
			last = d
		}
	}
}
