package study

import (
	"math"
	"slices"
	"testing"

	"reprise/policy/sim"
	"reprise/policy/sim/workload"
)

// TestRACPlusIsNearTheBest holds rac+ to the best of all baselines on regimes that each break some policy, with a seed that
// nothing was tuned on. The bounds leave room for the noise of one seed: `reprise replay --suite regimes` is the study.
func TestRACPlusIsNearTheBest(t *testing.T) {
	least := map[string]float64{ // in points
		"syn .5": 2, "syn .7 U": 0.5, "drift W": 2, "lru": -0.5, "irm 1.0": -0.5, "phase": -1, "loop": -2, "zscan": -1, "G1 W": 1,
	}
	cases := slices.DeleteFunc(Regimes(workload.Study()), func(c Case) bool { _, ok := least[c.Name]; return !ok })
	if len(cases) != len(least) {
		t.Fatalf("%d cases, want %d", len(cases), len(least))
	}
	rows, err := Compare(t.Context(), cases, []uint64{101}, HitRatio, sim.Options{Policies: append(Baselines(), "rac+", "belady-bypass")})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		best, base := r.Best(Baselines())
		if more := 100 * (r.Values["rac+"][0] - base); more < least[r.Case] {
			t.Errorf("%s: rac+ %+.2f points from %s, want at least %+.1f", r.Case, more, best, least[r.Case])
		}
		if optimum, _ := Mean(r.Values["belady-bypass"]); optimum < base || optimum < r.Values["rac+"][0] {
			t.Errorf("%s: a policy beats the optimum %v", r.Case, optimum)
		}
	}
}

func TestMean(t *testing.T) {
	mean, half := Mean([]float64{1, 2, 3, 4, 5})
	if mean != 3 || math.Abs(half-2.776*math.Sqrt(2.5/5)) > 1e-9 {
		t.Errorf("%v ± %v", mean, half)
	}
}
