package registry

import (
	"fmt"
	"runtime"
	"testing"

	"reprise/policy"
)

// BenchmarkBytesPerEntry prints the heap that one resident costs at a million, after three million evictions: ghosts and
// sketches included, the Ledger's map not.
//
//	go test -run '^$' -bench BytesPerEntry -benchtime 1x ./policy/registry
func BenchmarkBytesPerEntry(b *testing.B) {
	const n = 1_000_000
	for _, name := range Names() {
		for _, topics := range []int{n / 10, n} { // ten to a topic, and each its own
			b.Run(fmt.Sprintf("%s/topics=%d", name, topics), func(b *testing.B) {
				for b.Loop() {
					before := heapInUse()
					e, err := New(name, policy.Options{Capacity: n})
					if err != nil {
						b.Fatal(err)
					}
					if _, ok := e.(policy.Arriver); !ok && topics < n {
						b.Skip("does not use topics")
					}
					fill(e, n, topics)
					b.ReportMetric(float64(heapInUse()-before)/n, "B/entry")
					runtime.KeepAlive(e)
				}
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// fill inserts 4n entries and evicts all but n, so that every room for ghosts is full.
func fill(e policy.Evictor, n, topics int) {
	for i := range 4 * n {
		it := policy.Item{ID: policy.ID(i + 1), Key: uint64(i+1) * 0x9E3779B97F4A7C15, Topic: policy.TopicID(1 + i%topics)}
		e.Insert(it, policy.Tick{Seq: int64(i + 1)})
		if i >= n {
			victim, _ := e.Victim()
			e.Remove(victim, policy.Evicted)
		}
	}
}

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkRequest prints the cost of a hit and of a miss with its eviction at 10,000 residents, the Ledger's included.
func BenchmarkRequest(b *testing.B) {
	const n = 10_000
	for _, name := range Names() {
		for _, hit := range []bool{true, false} {
			b.Run(fmt.Sprintf("%s/hit=%v", name, hit), func(b *testing.B) {
				e, err := New(name, policy.Options{Capacity: n})
				if err != nil {
					b.Fatal(err)
				}
				l := policy.NewLedger(e, policy.Limit{Entries: n})
				seq := int64(0)
				var evicted []policy.ID
				miss := func() {
					seq++
					evicted = l.Insert(policy.Item{ID: policy.ID(seq), Topic: policy.TopicID(1 + seq%1000)}, policy.Tick{Seq: seq}, evicted[:0])
				}
				for range n {
					miss()
				}
				for b.Loop() {
					if hit {
						l.Hit(policy.ID(1+seq%n), policy.Tick{Seq: seq})
						seq++
					} else {
						miss()
					}
				}
			})
		}
	}
}
