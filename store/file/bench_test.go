package file_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"reprise/policy"
	"reprise/policy/rac"
	"reprise/store"
	"reprise/store/file"
)

const benchEntries = 50_000

// full makes a file with benchEntries entries of some 1.5 KB and vectors of 384.
func full(b *testing.B) (*store.Store, string) {
	path := filepath.Join(b.TempDir(), "r.db")
	s := openBench(b, path)
	for i := range benchEntries {
		e := entry(i)
		e.Vector = make([]float32, 384)
		s.Put(e, s.Tick())
	}
	if err := s.Sync(context.Background()); err != nil {
		b.Fatal(err)
	}
	return s, path
}

func openBench(b *testing.B, path string) *store.Store { return openEvery(b, path, time.Hour) }

func openEvery(b *testing.B, path string, flush time.Duration) *store.Store {
	f, err := file.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	s, err := store.Open(store.Options{Backing: f, Evictor: rac.New(rac.Tuned(benchEntries)), FlushEvery: flush})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkFlush writes what half a second of 15,000 hits per second leaves behind.
func BenchmarkFlush(b *testing.B) {
	s, _ := full(b)
	defer s.Close()
	for b.Loop() {
		for range 7500 {
			s.Hit(policy.ID(1+rand.IntN(benchEntries)), 0, s.Tick())
		}
		if err := s.Sync(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen is a start with benchEntries entries.
func BenchmarkOpen(b *testing.B) {
	s, path := full(b)
	s.Close()
	for b.Loop() {
		openBench(b, path).Close()
	}
	info, _ := os.Stat(path)
	b.ReportMetric(float64(info.Size())/benchEntries, "B/entry")
}
