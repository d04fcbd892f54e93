package study

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"reprise/cmd/reprise-lab/policies"
	"reprise/cmd/reprise-lab/sim"
	"reprise/cmd/reprise-lab/sim/workload"
)

// TestVerdict: each figure is against the set that its name says.
func TestVerdict(t *testing.T) {
	rows := []Row{
		{Case: "a", Values: map[string][]float64{"lru": {0.5, 0.7}, "lirs": {0.3, 0.3}, "haz": {0.7, 0.7}, "rac+": {0.6, 0.7}, "gdsf": {0.1, 0.1}}},
		{Case: "b", Values: map[string][]float64{"lru": {0.2, 0.2}, "lirs": {0.4, 0.4}, "haz": {0.3, 0.3}, "rac+": {0.5, 0.5}, "gdsf": {0.4, 0.4}}},
	}
	for _, r := range rows {
		r.Values["haz:lr=.1"] = []float64{0, 0}
	}
	for policy, want := range map[string][4][2]float64{ // mean and worst, in points
		"rac+":      {{7.5, 5}, {2.5, -5}, {-2.5, -5}, {32.5, 10}},
		"haz":       {{0, -10}, {-7.5, -20}, {-10, -20}, {25, -10}},
		"lru":       {{5, -20}, {-20, -30}, {-20, -30}, {15, -20}},
		"haz:lr=.1": {{-50, -60}, {-57.5, -65}, {-60, -70}, {-25, -40}}, // never hits; haz has its name, so it is no other
	} {
		v := judge(rows, policy)
		for i, e := range []excess{v.families, v.others, v.regret, v.greedy} {
			if math.Abs(100*e.mean-want[i][0]) > 1e-9 || math.Abs(100*e.worst-want[i][1]) > 1e-9 {
				t.Errorf("%s, figure %d: mean %.2f, worst %.2f, want %v", policy, i, 100*e.mean, 100*e.worst, want[i])
			}
		}
	}
	if v := judge(rows, "rac+"); v.families.won != 2 || v.others.lost != 1 || v.others.won != 1 || v.others.at != "a" {
		t.Errorf("%+v", v)
	}
	if all := verdicts(rows, []string{"lru", "rac+", "haz"}); all[0].policy != "rac+" || all[2].policy != "lru" {
		t.Errorf("the lowest regret is not the first: %+v", all)
	}
}

// TestFixedRows: the figure of a trace that does not depend on the seed is the median, and small caches do not count.
func TestFixedRows(t *testing.T) {
	r := Row{Fixed: true, Entries: 100, Values: map[string][]float64{"haz": {0.9, 0.2, 0.3}, "lru": {0.5}, "lhd": {0.4, 0.8}}}
	best, value := r.Best([]string{"haz", "lru", "lhd", "arc"})
	more, half := r.over("haz", "lru")
	if best != "lhd" || math.Abs(value-0.6) > 1e-12 || math.Abs(more+0.2) > 1e-12 || half != 0 {
		t.Errorf("best %s %v, difference %v ± %v", best, value, more, half)
	}
	small := r
	small.Entries = 99
	if got := judged([]Row{r, small, {Entries: 5}}); len(got) != 2 || got[0].Entries != 100 {
		t.Errorf("counted: %+v", got)
	}
}

// TestDrawing: the list of the policies that draw random numbers is right: with another seed they have other hits, and all others have the same.
func TestDrawing(t *testing.T) {
	policies := append(policies.All.Names(), "w-tinylfu:climb=off")
	differs := map[string]bool{}
	for _, spec := range []string{"irm:n=4000,items=600", "lru:n=8000", "zscan:n=8000,items=900", "phase:n=8000"} {
		trace, err := workload.Generate(spec, 1)
		if err != nil {
			t.Fatal(err)
		}
		var results [2][]sim.Result
		for i := range results {
			if results[i], err = sim.Replay(t.Context(), trace, sim.Options{Policies: policies, Capacities: shares(2.5, 20), Seed: uint64(i + 5)}); err != nil {
				t.Fatal(err)
			}
		}
		for k, r := range results[0] {
			differs[nameOf(r.Policy)] = differs[nameOf(r.Policy)] || r.Hits != results[1][k].Hits
		}
	}
	for name, is := range differs {
		if is != slices.Contains(drawing, name) {
			t.Errorf("%s differs between seeds: %v, which is not as on the list", name, is)
		}
	}
}

func TestSlots(t *testing.T) {
	for _, c := range []struct {
		only []string
		data bool
		want string
	}{
		{nil, false, "[regimes long regimes regimes, in bytes]"},
		{nil, true, "[regimes long regimes texts recorded traces agent blocks regimes, in bytes texts, in bytes recorded traces, in bytes agent blocks, in bytes]"},
		{[]string{"blocks", "traces"}, true, "[recorded traces agent blocks]"},
		{[]string{"bytes"}, false, "[regimes, in bytes]"},
		{[]string{"bytes", "long", "traces"}, true, "[long regimes recorded traces recorded traces, in bytes]"},
	} {
		if got := fmt.Sprint(slots(c.only, c.data)); got != c.want {
			t.Errorf("%v, data %v: %s, want %s", c.only, c.data, got, c.want)
		}
	}
}

// TestExpertsArePlayed: each expert of the default's panel is a policy that is compared.
func TestExpertsArePlayed(t *testing.T) {
	all := (&lab{Setup: Setup{Designs: []string{"rac+:value=hits"}}}).compared()
	for _, p := range append(experts, "rac+:value=hits") {
		if err := policies.Check(p); err != nil || !slices.Contains(all, p) {
			t.Errorf("expert %s: %v, not among %q", p, err, all)
		}
	}
	if len(experts) < 2 || len(slices.Compact(slices.Sorted(slices.Values(all)))) != len(all) {
		t.Errorf("experts %q, or a policy twice in %q", experts, all)
	}
}

// TestShareOfBytes: a share under a capacity in bytes is one of the bytes of the distinct requests.
func TestShareOfBytes(t *testing.T) {
	trace := sizes(&recorded{name: "a", ids: []uint64{1, 2, 1, 3, 3}})
	total := int64(0)
	for id := range uint64(3) {
		size, _ := workload.SizeAndCost(id + 1)
		total += size
	}
	got, err := inBytes(trace, append(shares(50), sim.Capacity{Bytes: 7}))
	if want := []sim.Capacity{{Bytes: total / 2}, {Bytes: 7}}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("capacities %v, %v, want %v", got, err, want)
	}
	if trace.Name() != "a, sizes and costs generated" {
		t.Errorf("the trace is %q: want it to say what is generated", trace.Name())
	}
}
