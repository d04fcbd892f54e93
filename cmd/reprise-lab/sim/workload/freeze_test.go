package workload

import (
	"testing"

	"reprise/cmd/reprise-lab/sim"
)

// TestFreeze: in a workload where the items used last return first, RAC as printed fills the cache with items that were popular
// once and refuses the others; the panel does not. Alpha is that of the publication, 0.001 a request: with 1 the contents do
// change, and rac-paper hits 66 %.
func TestFreeze(t *testing.T) {
	for seed := range uint64(2) {
		s, err := Generate("lru", seed+1)
		if err != nil {
			t.Fatal(err)
		}
		all, err := sim.Replay(t.Context(), s, sim.Options{
			Policies: []string{"rac-paper:alpha=0.001", "rac+", "lru"}, Capacities: []sim.Capacity{{Entries: 500}},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range all {
			t.Logf("seed %d: %s %.2f %%", seed+1, r.Policy, 100*r.HitRatio)
		}
		if paper, panel := all[0].HitRatio, all[1].HitRatio; paper >= .25 || panel <= .66 {
			t.Errorf("seed %d: rac-paper %.4f, want less than 0.25; rac+ %.4f, want more than 0.66", seed+1, paper, panel)
		}
	}
}
