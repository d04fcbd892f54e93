package redis

import (
	"context"
	"slices"
	"testing"
	"time"

	"reprise/internal/redistest"
	"reprise/store"
)

// BenchmarkFetch compares a Fetch with a GET of the same value by the same client, in turn: the ratio of the medians is what the mark, the
// seal and the decoding cost.
func BenchmarkFetch(b *testing.B) {
	server := redistest.Start(b, redistest.Options{})
	s, err := Open(b.Context(), Options{URL: "redis://" + server.Addr})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	p, err := s.Beat(b.Context(), store.Position{}, false)
	if err != nil {
		b.Fatal(err)
	}
	e := entry(1, 1, string(make([]byte, 1200)))
	if _, err := s.Append(b.Context(), p.Mark, next(), []store.Event{insert(e)}); err != nil {
		b.Fatal(err)
	}
	took := [2][]time.Duration{}
	timed := func(i int, call func(ctx context.Context) error) {
		ctx, cancel := context.WithTimeout(b.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if err := call(ctx); err != nil {
			b.Fatal(err)
		}
		took[i] = append(took[i], time.Since(began))
	}
	for b.Loop() {
		timed(0, func(ctx context.Context) error { return s.link.client().Get(ctx, s.link.keys.answer(e.Key)).Err() })
		timed(1, func(ctx context.Context) error { _, err := s.Fetch(ctx, e.Key); return err })
	}
	for i := range took {
		slices.Sort(took[i])
	}
	get, fetch := took[0][len(took[0])/2], took[1][len(took[1])/2]
	b.ReportMetric(float64(get.Nanoseconds()), "ns/GET")
	b.ReportMetric(float64(fetch.Nanoseconds()), "ns/Fetch")
	b.ReportMetric(float64(fetch)/float64(get), "×")
	b.ReportMetric(0, "ns/op")
}
