package fleet

import (
	"context"
	"testing"
)

// BenchmarkPlay plays a generated trace of tenants on four engines under the oracle, which asks the block cache of every engine.
func BenchmarkPlay(b *testing.B) {
	tr, err := Generate(LoadName+":tenants=40,conversations=400", 1)
	if err != nil {
		b.Fatal(err)
	}
	e := Default()
	e.Tokens = 100_000
	o := Options{Engines: []Engine{e, e, e, e}, Block: 16, Proxies: 1, MaxPause: 10, Seed: 1, Rate: 8}
	for _, o.Chooser = range []string{"prefix", Oracle} {
		b.Run(o.Chooser, func(b *testing.B) {
			for b.Loop() {
				if _, err := Play(context.Background(), tr, o); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(tr.Requests))*float64(b.N)/b.Elapsed().Seconds(), "requests/s")
		})
	}
}
