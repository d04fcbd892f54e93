package trace

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkRead measures the time to read a request:
//
//	go test ./cmd/reprise-lab/sim/trace -run '^$' -bench Read
func BenchmarkRead(b *testing.B) {
	const n = 10_000
	for _, c := range []struct {
		format Format
		line   func(i int) string
	}{
		{IDs, func(i int) string { return fmt.Sprintln(i * 7919) }},
		{OracleGeneral, func(i int) string { return string(record(uint32(i), uint64(i*7919), 100, -1)) }},
		{CSV, func(i int) string { return fmt.Sprintf("%d,%d,100\n", i, i*7919) }},
		{Requests, func(i int) string {
			return fmt.Sprintf(`{"id":%d,"at":%d.5,"topic":%d,"conversation":%d,"parent":%d,"scope":"tenant-a","size":1234,"cost":321}`+"\n", i*7919, i, i%50, i/4, i*31)
		}},
	} {
		var file strings.Builder
		for i := range n {
			file.WriteString(c.line(i + 1))
		}
		b.Run(string(c.format), func(b *testing.B) {
			in, err := Open(write(b, []byte(file.String())), c.format)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				for _, err := range in.Requests() {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/request")
		})
	}
}
