package store_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"reprise/policy"
	"reprise/policy/registry"
	"reprise/store"
)

func limited(b *testing.B, spec string, n int) store.Options {
	e, err := registry.New(spec, policy.Options{Capacity: n})
	if err != nil {
		b.Fatal(err)
	}
	return store.Options{Limit: policy.Limit{Entries: n}, Evictor: e}
}

func benchEntry(i int) *store.Entry {
	e := entry(fmt.Sprint(i))
	e.Topic = policy.TopicID(1 + i%1000)
	return e
}

// BenchmarkFootprint reports the memory of an entry as it is and as it is charged, for entries of several shapes.
func BenchmarkFootprint(b *testing.B) {
	const n = 50_000
	text := func(i, size int) string { return fmt.Sprint(i, strings.Repeat("x", size))[:size] }
	for _, shape := range []struct {
		name string
		make func(e *store.Entry, i int)
		also func(s *store.Store, e *store.Entry)
	}{
		{"plain", func(*store.Entry, int) {}, nil},
		{"no-prompt", func(e *store.Entry, i int) { e.Prompt, e.Vector, e.Topic = "", nil, 0 }, nil},
		{"long-prompt", func(e *store.Entry, i int) { e.Prompt = text(i, 5000) }, nil},
		{"long-labels", func(e *store.Entry, i int) {
			e.Labels = &store.Labels{Tenant: text(i, 64), Namespace: text(i, 512), Model: text(i, 512), Endpoint: text(i, 128)}
		}, nil},
		{"answer-of-2300", func(e *store.Entry, i int) { e.Answer = make([]byte, 2300) }, nil},
		{"16-aliases", func(*store.Entry, int) {}, func(s *store.Store, e *store.Entry) {
			for i := range 16 {
				k := e.Key
				k[31] ^= byte(i + 1)
				s.Alias(k, e.ID, 0)
			}
		}},
	} {
		b.Run(shape.name, func(b *testing.B) {
			for b.Loop() {
				runtime.GC()
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				s := open(b, limited(b, "rac+", n))
				for i := range n + n/2 {
					e := benchEntry(i)
					e.Vector = nil
					shape.make(e, i)
					s.Put(e, s.Tick())
					if shape.also != nil {
						shape.also(s, e)
					}
				}
				runtime.GC()
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/n, "B/entry")
				b.ReportMetric(float64(s.Stats().Bytes)/n, "charged-B/entry")
			}
		})
	}
}
