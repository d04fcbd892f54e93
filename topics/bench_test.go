package topics

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/embed"
	"reprise/internal/dataset"
)

// BenchmarkSearch searches a scope in which every entry is the anchor of a topic, the worst case: fresh texts, most of which are
// misses, and texts near a stored one. $REPRISE_DATA names a folder, below which the *.jsonl.gz files have texts of users; beyond their number
// the texts are variants of them. Without it they are random words.
//
//	REPRISE_DATA=DIR go test ./topics -run '^$' -bench 'Search|Memory' -benchtime 300x
func BenchmarkSearch(b *testing.B) {
	next := texts(b)
	fresh, near := make([][]float32, 256), make([][]float32, 256)
	for i := range fresh {
		fresh[i] = vectorOf(next())
	}
	gates := embed.NewBuiltin().Thresholds()
	t, err := New(Options{Dim: 384, Hit: gates.Hit, Route: gates.Route, Edge: gates.Edge})
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

// vectorOf is nil for a text without words.
func vectorOf(text string) []float32 {
	v, err := embed.NewBuiltin().Embed(context.Background(), []string{text})
	if err != nil {
		panic(fmt.Sprintf("embed %q: %v", text, err))
	}
	return v[0]
}

// texts returns a source of distinct texts, all of them with a vector: first the real ones, in an order of chance, then variants of them, in
// each of which up to a third of the words, of those with four bytes or more, are words of other texts: so differ questions about other things.
func texts(b testing.TB) (next func() string) {
	const longWord = 4
	rng := rand.New(rand.NewSource(3))
	real := readTexts(b, os.Getenv("REPRISE_DATA"))
	rng.Shuffle(len(real), func(i, j int) { real[i], real[j] = real[j], real[i] })
	used, seen := 0, map[string]bool{}
	var words []string
	for _, text := range real {
		words = append(words, slices.DeleteFunc(strings.Fields(text), func(w string) bool { return len(w) < longWord })...)
		seen[text] = true
	}
	draw := func() string {
		if len(real) == 0 {
			var drawn [12]string
			for i := range drawn {
				drawn[i] = fmt.Sprintf("word%d", int(rng.ExpFloat64()*300))
			}
			return strings.Join(drawn[:], " ")
		}
		drawn := strings.Fields(real[rng.Intn(len(real))])
		for range (len(drawn) + 2) / 3 {
			if w := &drawn[rng.Intn(len(drawn))]; len(*w) >= longWord {
				*w = words[rng.Intn(len(words))]
			}
		}
		return strings.Join(drawn, " ")
	}
	return func() string {
		if used++; used <= len(real) {
			return real[used-1]
		}
		for {
			if text := draw(); !seen[text] {
				seen[text] = true
				return text
			}
		}
	}
}

// readTexts returns the distinct short texts of users in the files below dir.
func readTexts(b testing.TB, dir string) (texts []string) {
	if dir == "" {
		return nil
	}
	seen := map[string]bool{}
	add := func(text string) {
		if n := strings.Count(text, " "); n < 2 || n > 40 || seen[text] {
			return
		}
		if seen[text] = true; vectorOf(text) != nil {
			texts = append(texts, text)
		}
	}
	if err := dataset.UserTexts(dir, add); err != nil {
		b.Fatal(err)
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
		t, err := New(Options{Dim: dim, Hit: 0.9, Route: 0.5, Edge: 0.5})
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
