//go:build !windows

package hnsw

import (
	"bufio"
	"bytes"
	"math"
	"math/bits"
	"math/rand"
	"slices"
	"testing"
	"time"

	library "github.com/coder/hnsw"
)

// exported is a graph of n nodes with tombstones, and its written form, which leaves these out.
func exported(t testing.TB, n int) (m *model, written []byte) {
	m = &model{graph: New(1), stored: map[uint64]Sketch{}, nodes: map[uint64]Node{}}
	for i, s := range cloud(rand.New(rand.NewSource(7)), n) {
		m.insert(uint64(i)+1, s, nil)
	}
	for key := uint64(5); key < uint64(n); key += 50 {
		m.kill(key)
	}
	var b bytes.Buffer
	if err := export(bufio.NewWriter(&b), m.graph, alive(m.graph)); err != nil {
		t.Fatal(err)
	}
	return m, b.Bytes()
}

func init() { library.RegisterDistanceFunc(distanceName, libraryDistance) }

// libraryDistance is the distance of two sketches that the library has as vectors.
func libraryDistance(a, b []float32) float32 {
	n := 0
	for i, x := range a {
		n += bits.OnesCount32(math.Float32bits(x) ^ math.Float32bits(b[i]))
	}
	return float32(n)
}

func libraryVector(s Sketch) []float32 {
	v := make([]float32, 0, exportWords)
	for _, word := range s {
		v = append(v, math.Float32frombits(uint32(word)), math.Float32frombits(uint32(word>>32)))
	}
	return v
}

// imported is a graph as the library reads it.
func imported(t testing.TB, written []byte) *library.Graph[uint32] {
	g := library.NewGraph[uint32]()
	if err := g.Import(bufio.NewReader(bytes.NewReader(written))); err != nil {
		t.Fatal(err)
	}
	return g
}

// TestLibraryImports: coder/hnsw reads what export writes, and finds the nearest by it.
func TestLibraryImports(t *testing.T) {
	m, written := exported(t, 800)
	g, nodes := imported(t, written), alive(m.graph)
	if g.Len() != len(m.stored) {
		t.Fatalf("the library has %d nodes, want %d", g.Len(), len(m.stored))
	}
	rng := rand.New(rand.NewSource(1))
	missed := 0
	for range 200 {
		q := nearTo(rng, m.stored[m.graph.Key(nodes[rng.Intn(len(nodes))])], 40)
		best, nearest := Bits, Bits
		for _, s := range m.stored {
			nearest = min(nearest, q.Distance(&s))
		}
		for _, node := range g.Search(libraryVector(q), 500) {
			s := m.stored[m.graph.Key(nodes[node.Key])]
			best = min(best, q.Distance(&s))
		}
		if best > nearest {
			missed++
		}
	}
	if missed > 4 {
		t.Errorf("%d of 200 nearest nodes were not found", missed)
	}
}

// BenchmarkLibrary searches one graph by Search and by the library, whose number of neighbours is what it may visit. The library's search
// is the slower one at equal recall: this is why the program uses its form of a graph, and not its search.
func BenchmarkLibrary(b *testing.B) {
	m, written := exported(b, 20_000)
	g := imported(b, written)
	queries, nearest := benchQueries(m, 200)
	for _, one := range []struct {
		name   string
		search func(q Sketch) int // the distance of the nearest found
	}{
		{"own 64", m.nearest(64)}, {"own 128", m.nearest(128)},
		{"library 250", libraryNearest(g, 250)}, {"library 500", libraryNearest(g, 500)}, {"library 1000", libraryNearest(g, 1000)},
	} {
		b.Run(one.name, func(b *testing.B) {
			found, i := 0, 0
			var times []time.Duration
			for ; b.Loop(); i++ {
				start := time.Now()
				if one.search(queries[i%len(queries)]) == nearest[i%len(queries)] {
					found++
				}
				times = append(times, time.Since(start))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Nanoseconds())/1e3, "p50-µs")
			b.ReportMetric(float64(found)/float64(i), "recall")
		})
	}
}

func benchQueries(m *model, n int) (queries []Sketch, nearest []int) {
	rng := rand.New(rand.NewSource(2))
	for range n {
		q, best := nearTo(rng, m.stored[m.graph.Key(alive(m.graph)[rng.Intn(len(m.stored))])], 60), Bits
		for _, s := range m.stored {
			best = min(best, q.Distance(&s))
		}
		queries, nearest = append(queries, q), append(nearest, best)
	}
	return queries, nearest
}

func (m *model) nearest(ef int) func(q Sketch) int {
	var found []Found
	return func(q Sketch) int {
		if found = m.graph.Search(&q, ef, found[:0]); len(found) == 0 {
			return Bits
		}
		return found[0].Distance
	}
}

func libraryNearest(g *library.Graph[uint32], k int) func(q Sketch) int {
	return func(q Sketch) int {
		best, v := Bits, libraryVector(q)
		for _, node := range g.Search(v, k) {
			best = min(best, int(libraryDistance(v, node.Value)))
		}
		return best
	}
}
