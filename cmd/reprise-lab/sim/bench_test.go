package sim

import (
	"math"
	"math/rand/v2"
	"sort"
	"sync"
	"testing"
	"time"
)

// BenchmarkReplay prints for each policy how many million requests a second one worker plays, over a Zipf trace of 4 million requests for
// a million identities (s = 0.9) at a tenth of those seen. Mreq/s is of the policy's own work, all-Mreq/s of the second
// reading with the numbering of the identities; each is the best of the runs.
//
//	go test ./cmd/reprise-lab/sim -run '^$' -bench Replay -benchtime 5x -cpu 1
func BenchmarkReplay(b *testing.B) {
	trace := zipfTrace()
	p, err := survey(b.Context(), trace, &Options{Policies: []string{"belady", "count-oracle"}})
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range PolicyNames() {
		b.Run(name, func(b *testing.B) {
			o := &Options{Policies: []string{name}, Capacities: []Capacity{{Share: 0.1}}, Parallel: 1}
			own, whole := math.Inf(1), math.Inf(1)
			for b.Loop() {
				cells, err := newCells(p, o)
				if err != nil {
					b.Fatal(err)
				}
				start := time.Now()
				last, err := playAll(b.Context(), newFeed(trace, p, o), cells, o)
				whole = min(whole, time.Since(start).Seconds())
				r, broken := cells[0].finish(last.asked, last.full)
				if err != nil || broken != nil {
					b.Fatal(err, broken)
				}
				own = min(own, r.Seconds)
				b.ReportMetric(100*r.HitRatio, "%hits")
			}
			b.ReportMetric(float64(p.requests)/1e6/own, "Mreq/s")
			b.ReportMetric(float64(p.requests)/1e6/whole, "all-Mreq/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// zipfTrace draws by the inverse of the distribution function. Identities are shuffled, as those of a log would be.
var zipfTrace = sync.OnceValue(func() *Slice {
	const n, ids, s = 4_000_000, 1_000_000, 0.9
	r := rand.New(rand.NewPCG(1, 2))
	cdf := make([]float64, ids)
	sum := 0.0
	for i := range cdf {
		sum += math.Pow(float64(i+1), -s)
		cdf[i] = sum
	}
	t := &Slice{Title: "zipf 0.9", All: make([]Request, n)}
	for i := range t.All {
		rank := sort.SearchFloat64s(cdf, r.Float64()*sum)
		t.All[i] = Request{ID: uint64(rank+1) * 0x9E3779B97F4A7C15, Topic: uint64(rank/10) + 1}
	}
	return t
})
