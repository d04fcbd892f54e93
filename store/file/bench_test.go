package file_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
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

// BenchmarkUnwritten reports the age of the oldest change that the file lacked, at its highest in two seconds of a load on a store
// that is full: hits, or insertions of small and of large answers that cannot be packed, or both. It is what a kill can lose.
func BenchmarkUnwritten(b *testing.B) {
	for _, load := range []struct {
		name              string
		hits, puts, bytes int // per second
	}{{"hits", 20_000, 0, 0}, {"small", 0, 2000, 1200}, {"both", 20_000, 2000, 1200}, {"large", 0, 300, 200_000}, {"both-large", 20_000, 300, 200_000}} {
		b.Run(load.name, func(b *testing.B) {
			s, path := full(b)
			s.Close()
			s = openEvery(b, path, 0)
			defer s.Close()
			w := watch(s)
			for range b.N {
				for range 200 {
					next := time.Now().Add(10 * time.Millisecond)
					for range load.hits / 100 {
						s.Hit(policy.ID(1+rand.IntN(benchEntries)), 0, s.Tick())
					}
					for range load.puts / 100 {
						s.Put(noise(load.bytes), s.Tick())
					}
					time.Sleep(time.Until(next))
				}
			}
			b.ReportMetric(float64(w().Milliseconds()), "ms-highest")
		})
	}
}

// noise is an entry of its own key whose answer is random.
func noise(bytes int) *store.Entry {
	e := entry(0)
	e.Answer, e.Vector = make([]byte, bytes), make([]float32, 384)
	for i := 0; i < bytes; i += 8 {
		binary.LittleEndian.PutUint64(e.Answer[i:], rand.Uint64())
	}
	e.Key = sha256.Sum256(e.Answer)
	return e
}

// watch follows the age of the oldest unwritten change until the function that it returns is called, which returns the highest.
func watch(s *store.Store) (stop func() time.Duration) {
	end, highest := make(chan struct{}), make(chan time.Duration)
	go func() {
		var age time.Duration
		for tick := time.NewTicker(2 * time.Millisecond); ; {
			select {
			case <-tick.C:
				age = max(age, s.Stats().Unwritten)
			case <-end:
				tick.Stop()
				highest <- age
				return
			}
		}
	}()
	return func() time.Duration { close(end); return <-highest }
}
