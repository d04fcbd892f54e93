package blocks_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"

	"reprise/cmd/reprise-lab/sim/blocks"
	"reprise/cmd/reprise-lab/sim/blocks/files"
)

// mooncake is the conversation trace of Mooncake, below the folder that REPRISE_DATA names.
func mooncake(tb testing.TB) *blocks.Trace {
	dir := os.Getenv("REPRISE_DATA")
	if dir == "" {
		tb.Skip("REPRISE_DATA is not set: no trace is replayed")
	}
	t, err := files.Open(filepath.Join(dir, "kv/mooncake_conversation.jsonl.gz"), files.Mooncake, files.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// TestKnownCurve: LRU has the hit ratios that others published of this trace, to two thousandths.
func TestKnownCurve(t *testing.T) {
	known := map[float64]float64{.01: .052, .05: .195, .10: .278, .25: .353, .50: .363}
	o := blocks.Options{Policies: []string{"lru"}}
	for share := range known {
		o.Capacities = append(o.Capacities, blocks.Capacity{Share: share})
	}
	all, err := blocks.Replay(context.Background(), mooncake(t), o)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range all {
		want := known[o.Capacities[i].Share]
		t.Logf("%s: %.4f, published %.3f", r.Capacity, r.HitRatio, want)
		if math.Abs(r.HitRatio-want) > .002 {
			t.Errorf("%s: hit ratio %.4f, want %.3f", r.Capacity, r.HitRatio, want)
		}
	}
}

// BenchmarkReplay plays the trace on one core, and reports millions of block accesses per second:
//
//	REPRISE_DATA=DIR go test ./cmd/reprise-lab/sim/blocks -run '^$' -bench Replay -cpu 1
func BenchmarkReplay(b *testing.B) {
	t := mooncake(b)
	for _, policy := range []string{"lru", "wa", "wa+", "lpc", "aging-lfu", "gdfs"} {
		b.Run(policy, func(b *testing.B) {
			accesses := int64(0)
			for b.Loop() {
				all, err := blocks.Replay(context.Background(), t, blocks.Options{Policies: []string{policy}, Capacities: []blocks.Capacity{{Share: .1}}, Parallel: 1})
				if err != nil {
					b.Fatal(err)
				}
				accesses += all[0].Blocks
			}
			b.ReportMetric(float64(accesses)/b.Elapsed().Seconds()/1e6, "Maccesses/s")
		})
	}
}
