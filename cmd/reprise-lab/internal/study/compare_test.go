package study

import (
	"context"
	"math"
	"slices"
	"testing"

	"reprise/cmd/reprise-lab/sim"
	"reprise/cmd/reprise-lab/sim/workload"
)

// TestRACPlusIsNearTheBest compares rac+ with the best of all baselines in regimes that each break some policy, with a seed that
// was not used for tuning. The bounds allow for the noise of one seed; `reprise-lab study regimes` is the study.
func TestRACPlusIsNearTheBest(t *testing.T) {
	least := map[string]float64{ // in points
		"syn .5": 2, "syn .7 U": 0.5, "drift W": 2, "lru": -0.5, "irm 1.0": -0.5, "phase": -1, "loop": -2, "zscan": -1, "G1 W": 1,
	}
	cases := slices.DeleteFunc(regimeCases(workload.Study()), func(c Case) bool { _, ok := least[c.Name]; return !ok })
	if len(cases) != len(least) {
		t.Fatalf("%d cases, want %d", len(cases), len(least))
	}
	rows, err := compare(t.Context(), cases, []uint64{101, 102}, sim.Options{Policies: append(Baselines(), "rac+", "belady-bypass")})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		best, base := r.Best(Baselines())
		own, _ := Mean(r.Values["rac+"])
		if more := 100 * (own - base); more < least[r.Case] {
			t.Errorf("%s: rac+ %+.2f points from %s, want at least %+.1f", r.Case, more, best, least[r.Case])
		}
		if optimum, _ := Mean(r.Values["belady-bypass"]); optimum < base || optimum < own {
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

// compare plays every case with every seed, for the hit ratios.
func compare(ctx context.Context, cases []Case, seeds []uint64, o sim.Options) (rows []Row, err error) {
	for _, c := range cases {
		row := Row{Case: c.Name, Capacity: c.Capacity.String(), Values: map[string][]float64{}}
		for _, seed := range seeds {
			t, err := c.Trace(seed)
			if err != nil {
				return nil, err
			}
			o.Seed, o.Capacities = seed, []sim.Capacity{c.Capacity}
			results, err := sim.Replay(ctx, t, o)
			if err != nil {
				return nil, err
			}
			for _, r := range results {
				row.Values[r.Policy] = append(row.Values[r.Policy], r.HitRatio)
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// regimeCases returns cases of generated workloads, in all readings of each.
func regimeCases(all []workload.Regime) (cases []Case) {
	for _, r := range all {
		for i, spec := range r.Specs() {
			name := r.Name
			if len(r.Weights) > 1 {
				name += " " + r.Weights[i]
			}
			cases = append(cases, Case{
				Name:     name,
				Trace:    func(seed uint64) (sim.Trace, error) { return workload.Generate(spec, seed) },
				Capacity: sim.Capacity{Entries: r.Capacity},
			})
		}
	}
	return cases
}
