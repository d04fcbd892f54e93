package hamming

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"
	"time"
)

// BenchmarkNear scans 40,960 strings in each form, in blocks of 4,096, and reports the
// median: a scan that another process interrupts says nothing.
func BenchmarkNear(b *testing.B) {
	const n, block = 40_960, 4096
	rng := rand.New(rand.NewSource(1))
	one, four := make([]uint64, n), make([][4]uint64, n)
	for i := range one {
		one[i], four[i] = rng.Uint64(), [4]uint64{rng.Uint64(), rng.Uint64(), rng.Uint64(), rng.Uint64()}
	}
	dst := make([]uint64, block/64)
	eachForm(func(name string) {
		run := func(bits int, near func(from int)) {
			b.Run(fmt.Sprintf("%s/%d", name, bits), func(b *testing.B) {
				var times []time.Duration
				for b.Loop() {
					start := time.Now()
					for from := 0; from < n; from += block {
						near(from)
					}
					times = append(times, time.Since(start))
				}
				slices.Sort(times)
				b.ReportMetric(float64(times[len(times)/2].Nanoseconds())/n, "ns/row")
			})
		}
		run(64, func(from int) { Near64(dst, one[from:from+block], one[0], 18) })
		run(256, func(from int) { Near256(dst, four[from:from+block], &four[0], 101) })
	})
}
