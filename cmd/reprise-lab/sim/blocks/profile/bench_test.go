package profile

import "testing"

// BenchmarkOf prints the time per block access.
//
//	go test ./cmd/reprise-lab/sim/blocks/profile -run '^$' -bench Of
func BenchmarkOf(b *testing.B) {
	trace := talk(1, 50_000)
	accesses := int64(0)
	for b.Loop() {
		p, err := Of(trace, Options{Sample: 0.01})
		if err != nil {
			b.Fatal(err)
		}
		accesses += p.Blocks
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(accesses), "ns/access")
}
