package topics

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"reprise/embed"
)

// BenchmarkSearch searches a scope in which every entry is the anchor of a topic, the worst case: fresh texts, most of which are
// misses, and texts near a stored one. $REPRISE_DATA names a folder of *.jsonl.gz files with a field text, questions that people
// asked; beyond their number two are joined. Without it the texts are random words.
//
//	REPRISE_DATA=DIR go test ./topics -run '^$' -bench 'Search|Parent|Sketch|Memory' -benchtime 300x
func BenchmarkSearch(b *testing.B) {
	next := texts(b)
	fresh, near := make([][]float32, 256), make([][]float32, 256)
	for i := range fresh {
		fresh[i] = vectorOf(next())
	}
	gates := embed.NewBuiltin().Thresholds()
	t, err := New(Options{Dim: 384, Hit: gates.Hit, Route: gates.Route, Edge: gates.Edge, Index: KindFlat})
	if err != nil {
		b.Fatal(err)
	}
	n := 0
	for _, size := range []int{0, 1000, 10_000, 100_000, 1_000_000} {
		for ; n < size; n++ {
			text := next()
			if v := vectorOf("please " + text); n%(size/256+1) == 0 {
				near[n/(size/256+1)] = v
			}
			if _, _, err := t.Add(Member{ID: EntryID(n + 1), Vector: vectorOf(text), Seq: int64(n + 1)}); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(fmt.Sprintf("fresh/%d", size), func(b *testing.B) { benchSearch(b, t, fresh) })
		b.Run(fmt.Sprintf("near/%d", size), func(b *testing.B) { benchSearch(b, t, near) })
	}
}

// benchSearch reports the median, because a search that another process interrupts says nothing.
func benchSearch(b *testing.B, t *Topics, queries [][]float32) {
	b.ReportAllocs()
	var times []time.Duration
	hits, routed := 0, 0
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		r := search(t, Query{Vector: queries[i%len(queries)]})
		times = append(times, time.Since(start))
		if len(r.Matches) > 0 {
			hits++
		} else if r.Topic != 0 {
			routed++
		}
	}
	b.ReportMetric(float64(median(times).Nanoseconds())/1e3, "p50-µs")
	b.ReportMetric(float64(hits)/float64(b.N), "hits/op")
	b.ReportMetric(float64(routed)/float64(b.N), "routed/op")
}

// BenchmarkParent detects a parent among 64 accesses of one topic and chain, the worst case: each is scored.
func BenchmarkParent(b *testing.B) {
	t, err := New(Options{Dim: 384, Hit: 0.97, Route: 0.6, Edge: 0.45, Index: KindFlat})
	if err != nil {
		b.Fatal(err)
	}
	vectors := unitVectors(rand.New(rand.NewSource(1)), 64, 384)
	for i, v := range vectors {
		if _, _, err := t.Add(Member{ID: EntryID(i + 1), Topic: 1, Vector: v, Seq: int64(i + 1)}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		t.Parent(ScopeID{}, 1, ChainID{}, vectors[0], 100)
	}
}

func BenchmarkSketch(b *testing.B) {
	v := vectorOf("how do I reset the password of my account")
	for b.Loop() {
		sketchOf(v)
	}
}

func vectorOf(text string) []float32 {
	v, err := embed.NewBuiltin().Embed(context.Background(), []string{text})
	if err != nil || v[0] == nil {
		panic(fmt.Sprintf("no vector of %q: %v", text, err))
	}
	return v[0]
}

// texts returns a source of distinct texts, all of them with a vector.
func texts(b testing.TB) (next func() string) {
	rng := rand.New(rand.NewSource(3))
	var real []string
	files, _ := filepath.Glob(filepath.Join(os.Getenv("REPRISE_DATA"), "*.jsonl.gz"))
	for _, name := range files {
		real = append(real, readTexts(b, name)...)
	}
	rng.Shuffle(len(real), func(i, j int) { real[i], real[j] = real[j], real[i] })
	used := 0
	return func() string {
		if len(real) == 0 {
			var words [12]string
			for i := range words {
				words[i] = fmt.Sprintf("word%d", int(rng.ExpFloat64()*300))
			}
			return strings.Join(words[:], " ")
		}
		used++
		if used <= len(real) {
			return real[used-1]
		}
		return real[rng.Intn(len(real))] + " " + real[rng.Intn(len(real))]
	}
}

// readTexts returns the distinct texts of a file that have a vector.
func readTexts(b testing.TB, name string) (texts []string) {
	f, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		b.Fatal(err)
	}
	seen := map[string]bool{}
	for lines := bufio.NewScanner(z); lines.Scan(); {
		var record struct{ Text string }
		if err := json.Unmarshal(lines.Bytes(), &record); err != nil {
			b.Fatal(err)
		}
		v, _ := embed.NewBuiltin().Embed(context.Background(), []string{record.Text})
		if v[0] != nil && !seen[record.Text] {
			seen[record.Text] = true
			texts = append(texts, record.Text)
		}
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
