package topics

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"reprise/embed"
)

const benchEntries = 10_000

// BenchmarkSearchClusters searches 10,000 entries of made-up clusters in one scope; hits are near a stored vector, misses
// have a topic but no answer.
func BenchmarkSearchClusters(b *testing.B) {
	rng := rand.New(rand.NewSource(1))
	centres := unitVectors(rng, benchEntries/10, 384)
	stored, misses := make([][]float32, benchEntries), make([][]float32, 256)
	for i := range stored {
		stored[i] = near(rng, centres[i%len(centres)], 0.8)
	}
	for i := range misses {
		misses[i] = near(rng, centres[i%len(centres)], 0.8)
	}
	benchSearch(b, stored, misses, Options{Dim: 384, Hit: 0.97, Route: 0.65, Edge: 0.45})
}

// BenchmarkSearchText is BenchmarkSearchClusters with questions that people asked: $REPRISE_DATA names a folder of
// *.jsonl.gz files with a field text.
func BenchmarkSearchText(b *testing.B) {
	texts := realTexts(b)
	if len(texts) < benchEntries+256 {
		b.Skipf("only %d texts", len(texts))
	}
	builtin := embed.NewBuiltin()
	vectors, err := builtin.Embed(context.Background(), texts)
	if err != nil {
		b.Fatal(err)
	}
	gates := builtin.Thresholds()
	o := Options{Dim: builtin.Dim(), Hit: gates.Hit, Route: gates.Route, Edge: gates.Edge}
	benchSearch(b, vectors[:benchEntries], vectors[benchEntries:benchEntries+256], o)
}

func benchSearch(b *testing.B, stored, misses [][]float32, o Options) {
	t, err := New(o)
	if err != nil {
		b.Fatal(err)
	}
	defer t.Close()
	hits := fill(b, t, stored)
	for name, queries := range map[string][][]float32{"hit": hits[:256], "miss": misses} {
		b.Run(name, func(b *testing.B) {
			found := 0
			var times []time.Duration
			for i := 0; b.Loop(); i++ {
				start := time.Now()
				found += len(search(t, Query{Vector: queries[i%len(queries)]}).Matches)
				times = append(times, time.Since(start))
			}
			b.ReportMetric(float64(median(times).Nanoseconds())/1e3, "p50-µs")
			b.ReportMetric(float64(t.Stats().Topics), "topics")
			b.ReportMetric(float64(found)/float64(b.N), "matches/op")
		})
	}
}

// fill searches for each vector, adds those without a match, and returns a query near every entry.
func fill(b *testing.B, t *Topics, vectors [][]float32) (queries [][]float32) {
	rng := rand.New(rand.NewSource(2))
	for i, v := range vectors {
		if v == nil {
			continue
		}
		r := search(t, Query{Vector: v})
		if len(r.Matches) > 0 {
			continue
		}
		if _, _, err := t.Add(Member{ID: EntryID(i + 1), Vector: v, Topic: r.Topic, Seq: int64(i)}); err != nil {
			b.Fatal(err)
		}
		queries = append(queries, near(rng, v, 0.985))
	}
	rng.Shuffle(len(queries), func(i, j int) { queries[i], queries[j] = queries[j], queries[i] })
	return queries
}

func realTexts(b *testing.B) (texts []string) {
	dir := os.Getenv("REPRISE_DATA")
	if dir == "" {
		b.Skip("REPRISE_DATA is not set")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.jsonl.gz"))
	for _, name := range files {
		texts = append(texts, readTexts(b, name)...)
	}
	rand.New(rand.NewSource(3)).Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
	return texts
}

func readTexts(b *testing.B, name string) (texts []string) {
	f, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		b.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	for lines.Scan() {
		var record struct{ Text string }
		if err := json.Unmarshal(lines.Bytes(), &record); err != nil {
			b.Fatal(err)
		}
		texts = append(texts, record.Text)
	}
	return texts
}

// BenchmarkMemory measures what an entry costs beyond its vector, with a topic for each entry: the worst case.
func BenchmarkMemory(b *testing.B) {
	const n, dim = 20_000, 32
	rng := rand.New(rand.NewSource(1))
	vectors := unitVectors(rng, n, dim)
	for b.Loop() {
		before := heapInUse()
		t, err := New(Options{Dim: dim, Hit: 0.9, Route: 0.5, Edge: 0.5, Index: KindFlat})
		if err != nil {
			b.Fatal(err)
		}
		for i, v := range vectors {
			if _, _, err := t.Add(Member{ID: EntryID(i + 1), Vector: v}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(heapInUse()-before)/n-4*dim, "bytes/entry")
		runtime.KeepAlive(t)
	}
}

func heapInUse() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
