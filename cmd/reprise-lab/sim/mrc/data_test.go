package mrc

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"

	"reprise/cmd/reprise-lab/sim/blocks"
	"reprise/cmd/reprise-lab/sim/blocks/files"
)

// shares of the distinct blocks at which curves are compared.
var shares = []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1}

// TestData compares samples of a hundredth, and the form with at least 1000 blocks, with replays through LRU of the real traces below the folder
// that REPRISE_DATA names.
func TestData(t *testing.T) {
	dir := os.Getenv("REPRISE_DATA")
	if dir == "" {
		t.Skip("REPRISE_DATA is not set: samples of real traces are not measured")
	}
	for _, c := range []struct {
		file  string
		least int // of the sample, besides a hundredth
	}{
		{"mooncake_conversation", 0}, {"coding_agent_sessions", 0}, {"agent_miniswe", 1000}, {"agent_magagent", 1000}, {"agent_taubench", 1000},
	} {
		if testing.Short() && c.file == "coding_agent_sessions" {
			continue // 9 replays of 47 million accesses
		}
		trace, err := files.Open(filepath.Join(dir, "kv", c.file+".jsonl.gz"), files.Auto, files.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := replayed(t, trace)
		exact := curve(t, trace, Options{})
		for i, share := range shares {
			if got := exact.HitRatio(math.Round(share * float64(trace.Distinct))); math.Abs(got-want[i]) > 1e-12 {
				t.Errorf("%s at %g of the blocks: %v, the replay has %v", c.file, share, got, want[i])
			}
		}
		for _, least := range []int{0, 1000} {
			const seeds = 10
			mean, worst, sampled := 0.0, 0.0, 0
			for seed := range uint64(seeds) {
				s := curve(t, trace, Options{Rate: 0.01, Least: least, Seed: seed})
				e := 0.0
				for i, share := range shares {
					e += math.Abs(s.HitRatio(math.Round(share*float64(trace.Distinct)))-want[i]) / float64(len(shares))
				}
				mean, worst, sampled = mean+e/seeds, max(worst, e), s.Sampled
			}
			t.Logf("%s: %d accesses, %d of %d blocks: mean absolute error %.4f, of the worst of %d seeds %.4f", c.file, exact.Accesses, sampled, trace.Distinct,
				mean, seeds, worst)
			if least == c.least && mean > 0.01 {
				t.Errorf("%s: mean absolute error %.4f, want at most 0.01", c.file, mean)
			}
		}
	}
}

func replayed(t *testing.T, trace *blocks.Trace) (ratios []float64) {
	t.Helper()
	o := blocks.Options{Policies: []string{"lru"}}
	for _, share := range shares {
		o.Capacities = append(o.Capacities, blocks.Capacity{Share: share})
	}
	results, err := blocks.Replay(context.Background(), trace, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		ratios = append(ratios, r.HitRatio)
	}
	return ratios
}
