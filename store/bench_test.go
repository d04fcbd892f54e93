package store_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"reprise/policy"
	"reprise/store"
	"reprise/store/storetest"
)

func filled(b *testing.B, n int, backed bool) *store.Store {
	o := store.Options{Limit: policy.Limit{Entries: n}, Evictor: policy.NewRAC(policy.RACTuned(n))}
	if backed {
		o.Backing = &storetest.Memory{}
	}
	s := open(b, o)
	for i := range n {
		s.Put(benchEntry(i), s.Tick())
	}
	b.ResetTimer()
	return s
}

func benchEntry(i int) *store.Entry {
	e := entry(fmt.Sprint(i))
	e.Topic = policy.TopicID(1 + i%1000)
	return e
}

// BenchmarkHit is what an exact hit costs here: a number, a lookup, an access.
func BenchmarkHit(b *testing.B) {
	for name, backed := range map[string]bool{"memory": false, "backed": true} {
		b.Run(name, func(b *testing.B) {
			const n = 100_000
			s := filled(b, n, backed)
			keys := make([]store.Key, 4096)
			for i := range keys {
				keys[i] = key(fmt.Sprint(rand.IntN(n)))
			}
			i := 0
			b.ResetTimer()
			for b.Loop() {
				if e, _, ok := s.Lookup(keys[i%len(keys)]); ok {
					s.Hit(e.ID, 0, s.Tick())
				}
				i++
			}
		})
	}
}

// BenchmarkPut is an insertion into a full store.
func BenchmarkPut(b *testing.B) {
	for name, backed := range map[string]bool{"memory": false, "backed": true} {
		b.Run(name, func(b *testing.B) {
			const n = 20_000
			s := filled(b, n, backed)
			i := n
			for b.Loop() {
				s.Put(benchEntry(i), s.Tick())
				i++
			}
		})
	}
}

// BenchmarkMemory reports the bytes of an entry beside its answer, its prompt and its vector, with RAC.
func BenchmarkMemory(b *testing.B) {
	const n = 100_000
	answer := []byte(strings.Repeat("a", 100))
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		s := open(b, store.Options{Limit: policy.Limit{Entries: n}, Evictor: policy.NewRAC(policy.RACTuned(n))})
		texts := 0
		for i := range n {
			e := benchEntry(i)
			e.Answer = append([]byte(nil), answer...)
			texts += 112 + len(e.Prompt) // 112: the size class of the answer
			s.Put(e, s.Tick())
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(int(after.HeapAlloc-before.HeapAlloc)-texts)/n, "B/entry")
		runtime.KeepAlive(s)
	}
}
