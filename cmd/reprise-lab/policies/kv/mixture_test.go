package kv

import (
	"math"
	"math/rand/v2"
	"testing"

	"reprise/proxy/upstream/hint"
)

// draw is a sample of a mixture whose observation ends after some seconds.
func draw(truth mixture, uses int, window float64, seed uint64) *hint.Sample {
	rng := rand.New(rand.NewPCG(seed, 7))
	s := &hint.Sample{}
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
	for _, truth := range []mixture{
		{P: 0.5, Late: 0.3, Rates: [2]float64{1.0 / 30, 1.0 / 600}},
		{P: 0.8, Late: 0.5, Rates: [2]float64{1.0 / 10, 1.0 / 300}},
		{P: 0.3, Late: 0.2, Rates: [2]float64{1.0 / 100, 1.0 / 1500}},
	} {
		const n = 40
		var sum, squares [4]float64
		for seed := range uint64(n) {
			s := draw(truth, 20_000, 3600, seed)
			m := mix(s, mixturePrior, guess(s), 0)
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
	truth := mixture{P: 0.5, Late: 0.3, Rates: [2]float64{1.0 / 30, 1.0 / 1000}}
	s := draw(truth, 20_000, 3600, 1)
	for _, start := range []mixture{oneTime(prior), {P: 0.5, Late: 1, Rates: [2]float64{1, 0.01}}, mixturePrior} {
		if m := mix(s, mixturePrior, start, weak); math.Abs(m.Rates[1]/truth.Rates[1]-1) > 0.2 || math.Abs(m.Late-truth.Late) > 0.05 {
			t.Errorf("from %+v to %+v, want %+v", start, m, truth)
		}
	}
}

// TestMixtureIsFinite: no sample makes a mixture outside of its bounds, and an empty one has the prior.
func TestMixtureIsFinite(t *testing.T) {
	var empty hint.Sample
	if m := mix(&empty, mixturePrior, mixture{}, firm); m != mixturePrior {
		t.Errorf("an empty sample gives %+v", m)
	}
	for _, gap := range []float64{0, 1, 1e12} {
		for _, counts := range []float64{0, weak, firm} {
			var again, silent hint.Sample
			for range 1000 {
				again.Again(gap, 1)
				silent.Silent(gap, 1)
			}
			for _, s := range []*hint.Sample{&again, &silent} {
				if m := mix(s, mixturePrior, guess(s), counts); m != m.clamped() || math.IsNaN(m.P+m.Late+m.Rates[0]+m.Rates[1]) {
					t.Errorf("gaps of %g, a prior of %g: %+v", gap, counts, m)
				}
			}
		}
	}
}

// TestCurvesAreTheirSums holds the logarithms to direct sums, and to the curves of one exponential time.
func TestCurvesAreTheirSums(t *testing.T) {
	m := mixture{P: 0.6, Late: 0.25, Rates: [2]float64{0.05, 0.002}}
	f := hint.Fit{P: 0.6, Rate: 0.01}
	curve, one, scale := m.over(100), oneTime(f).over(100), over(f, 100)
	last := math.Inf(1)
	for _, idle := range []float64{0, 1, 50, 1000, 20_000} {
		fast, slow := 0.45*math.Exp(-0.05*idle), 0.15*math.Exp(-0.002*idle)
		soon, left := fast*(1-math.Exp(-5))+slow*(1-math.Exp(-0.2)), 0.4+fast+slow
		for _, c := range []struct {
			name      string
			got, want float64
		}{
			{"unconditional", curve.unconditional(idle), math.Log(soon)},
			{"conditional", curve.conditional(idle), math.Log(soon / left)},
			{"density", curve.density(idle), math.Log((0.05*fast + 0.002*slow) / left)},
			{"still", m.still(idle), (fast + slow) / left},
			{"unconditional of one", one.unconditional(idle), scale.unconditional(idle)},
			{"conditional of one", one.conditional(idle), scale.conditional(idle)},
		} {
			if math.Abs(c.got-c.want) > 1e-9*max(1, math.Abs(c.want)) {
				t.Errorf("%s at %g s: %v, want %v", c.name, idle, c.got, c.want)
			}
		}
		if d := curve.density(idle); d >= last {
			t.Errorf("the density at %g s is not less than before", idle)
		} else {
			last = d
		}
	}
}

// TestScaleIsTheFit compares the logarithms with the probabilities, and their order where these are 0.
func TestScaleIsTheFit(t *testing.T) {
	for _, f := range []hint.Fit{{P: 0.5, Rate: 0.01}, {P: 0.999, Rate: 1}, {P: 0.01, Rate: 1e-4}} {
		for _, life := range []float64{1, 600, 1e6} {
			s := over(f, life)
			for _, idle := range []float64{0, 1, 100, 650} {
				if got, want := math.Exp(s.conditional(idle)), f.Within(idle, life); math.Abs(got-want) > 1e-9*want {
					t.Errorf("%+v, idle %v, life %v: %v, want %v", f, idle, life, got, want)
				}
				back := f.P * math.Exp(-f.Rate*idle)
				if got, want := math.Exp(s.unconditional(idle)), back-f.P*math.Exp(-f.Rate*(idle+life)); math.Abs(got-want) > 1e-6*want {
					t.Errorf("%+v, idle %v, life %v: %v before knowing of the silence, want %v", f, idle, life, got, want)
				}
				if x := s.logit - f.Rate*idle; s.atLeast(x) > s.at(x) {
					t.Errorf("%+v, idle %v: %v is no lower bound of %v", f, idle, s.atLeast(x), s.at(x))
				}
			}
			if a, b := s.conditional(1e6), s.conditional(2e6); f.Rate == 1 && !(a > b) {
				t.Errorf("%+v: %v after 1e6 s, %v after 2e6 s", f, a, b)
			}
		}
	}
	certain := over(hint.Fit{P: 1, Rate: 0.01}, math.Inf(1))
	if got := certain.conditional(1e9); got != 0 {
		t.Errorf("what returns with certainty at any time has the log %v", got)
	}
}
