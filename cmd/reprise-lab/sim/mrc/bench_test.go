package mrc

import "testing"

// BenchmarkBlocks prints the time per block access of an exact curve and of a sample of a hundredth, over conversations.
//
//	go test ./cmd/reprise-lab/sim/mrc -run '^$' -bench Blocks
func BenchmarkBlocks(b *testing.B) {
	trace := chains(1, 50_000)
	for _, c := range []struct {
		name string
		rate float64
	}{{"exact", 1}, {"hundredth", 0.01}} {
		b.Run(c.name, func(b *testing.B) {
			accesses := int64(0)
			for b.Loop() {
				s, err := Blocks(trace, Options{Rate: c.rate})
				if err != nil {
					b.Fatal(err)
				}
				accesses += s.Accesses
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(accesses), "ns/access")
		})
	}
}
