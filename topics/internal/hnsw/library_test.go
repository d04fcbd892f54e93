//go:build !windows

package hnsw

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand"
	"slices"
	"testing"
	"time"

	library "github.com/coder/hnsw"
)

// libraryGraph makes a graph of coder/hnsw over the sketches of a model, which it has as vectors, 32 bits in the place of each number.
func libraryGraph(m *model) *library.Graph[uint64] {
	g := library.NewGraph[uint64]()
	g.M, g.EfSearch, g.Rng = newLinks, breadth, rand.New(rand.NewSource(1))
	g.Distance = func(a, b []float32) float32 {
		n := 0
		for i, x := range a {
			n += bits.OnesCount32(math.Float32bits(x) ^ math.Float32bits(b[i]))
		}
		return float32(n)
	}
	for _, key := range m.keys {
		g.Add(library.MakeNode(key, libraryVector(m.stored[key])))
	}
	return g
}

func libraryVector(s Sketch) []float32 {
	v := make([]float32, 0, Bits/32)
	for _, word := range s {
		v = append(v, math.Float32frombits(uint32(word)), math.Float32frombits(uint32(word>>32)))
	}
	return v
}

// TestFindsMoreThanTheLibrary compares the recall of Search with that of coder/hnsw, each over its own graph of the same sketches.
func TestFindsMoreThanTheLibrary(t *testing.T) {
	own, theirs, _ := compareLibrary(t, 800, 200)
	if own < theirs || own < .98 {
		t.Errorf("recall %.3f, that of the library %.3f", own, theirs)
	}
}

// BenchmarkLibrary reports the recall of both, and the times of their searches. They are why the program has a graph of its own.
func BenchmarkLibrary(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				own, theirs, times := compareLibrary(b, n, 500)
				b.ReportMetric(own, "recall")
				b.ReportMetric(theirs, "library-recall")
				b.ReportMetric(float64(times[0].Nanoseconds())/1e3, "p50-µs")
				b.ReportMetric(float64(times[1].Nanoseconds())/1e3, "library-p50-µs")
			}
		})
	}
}

// compareLibrary returns the shares of queries for which Search and the library find the nearest of n sketches, and the medians of their times.
func compareLibrary(t testing.TB, n, queries int) (own, theirs float64, median [2]time.Duration) {
	rng := rand.New(rand.NewSource(7))
	m := newModel(t)
	for i, s := range cloud(rng, n) {
		m.insert(uint64(i)+1, s, nil)
	}
	g := libraryGraph(m)
	var times [2][]time.Duration
	for range queries {
		q := nearTo(rng, m.stored[m.keys[rng.Intn(n)]], 40)
		nearest, v := Bits, libraryVector(q)
		for _, s := range m.stored {
			nearest = min(nearest, q.Distance(&s))
		}
		start := time.Now()
		found := m.graph.Search(&q, 128, nil)
		middle := time.Now()
		other := g.Search(v, 128)
		times[0], times[1] = append(times[0], middle.Sub(start)), append(times[1], time.Since(middle))
		if len(found) > 0 && found[0].Distance == nearest {
			own++
		}
		if slices.ContainsFunc(other, func(n library.Node[uint64]) bool { return g.Distance(v, n.Value) == float32(nearest) }) {
			theirs++
		}
	}
	for i := range times {
		slices.Sort(times[i])
		median[i] = times[i][queries/2]
	}
	return own / float64(queries), theirs / float64(queries), median
}
