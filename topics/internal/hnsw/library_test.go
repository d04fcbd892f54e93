//go:build !windows

package hnsw

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"math/rand"
	"slices"
	"testing"
	"time"

	library "github.com/coder/hnsw"
)

// libraryBits is the name under which the library knows bitsOf.
const libraryBits = "bits"

func init() { library.RegisterDistanceFunc(libraryBits, bitsOf) }

// bitsOf is the number of bits that differ in sketches which the library has as vectors, 32 bits in the place of each number.
func bitsOf(a, b []float32) float32 {
	n := 0
	for i, x := range a {
		n += bits.OnesCount32(math.Float32bits(x) ^ math.Float32bits(b[i]))
	}
	return float32(n)
}

func libraryVector(s Sketch) []float32 {
	v := make([]float32, 0, Bits/32)
	for _, word := range s {
		v = append(v, math.Float32frombits(uint32(word)), math.Float32frombits(uint32(word>>32)))
	}
	return v
}

// grown is a graph of coder/hnsw that it makes itself of the sketches of a model.
func grown(m *model) *library.Graph[uint64] {
	g := library.NewGraph[uint64]()
	g.M, g.EfSearch, g.Rng, g.Distance = newLinks, breadth, rand.New(rand.NewSource(1)), bitsOf
	for _, key := range m.keys {
		g.Add(library.MakeNode(key, libraryVector(m.stored[key])))
	}
	return g
}

// imported is the graph of a model as coder/hnsw reads it: Import gets it in the format of the library's Export.
func imported(m *model) *library.Graph[uint64] {
	g := library.NewGraph[uint64]()
	if err := g.Import(bytes.NewReader(m.export())); err != nil {
		m.t.Fatal(err)
	}
	return g
}

// export writes version, parameters, and then, layer by layer, each node with its vector and the keys of its neighbours.
func (m *model) export() []byte {
	v, out := m.graph.view.Load(), []byte(nil)
	number := func(n int) { out = binary.AppendVarint(out, int64(n)) }
	fixed := func(n uint64) { out = binary.LittleEndian.AppendUint64(out, n) }
	number(1)
	number(newLinks)
	fixed(math.Float64bits(1. / newLinks))
	number(breadth)
	number(len(libraryBits))
	out = append(out, libraryBits...)
	layers := make([][]Node, mostLayer+1)
	for _, n := range m.nodes {
		for layer := range v.top(n) + 1 {
			layers[layer] = append(layers[layer], n)
		}
	}
	layers = slices.DeleteFunc(layers, func(nodes []Node) bool { return len(nodes) == 0 })
	number(len(layers))
	for layer, nodes := range layers {
		number(len(nodes))
		for _, n := range nodes {
			fixed(v.key(n).Load())
			vector := libraryVector(*v.sketch(n))
			number(len(vector))
			for _, x := range vector {
				out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
			}
			list := v.links(n, layer)
			count := 0
			for count < len(list) && list[count].Load() != 0 {
				count++
			}
			number(count)
			for i := range count {
				fixed(v.key(Node(list[i].Load())).Load())
			}
		}
	}
	return out
}

// TestTheLibraryFindsAsMuchInOurGraph: coder/hnsw reads the graph, has all of it, and its own search finds in it what Search does; in a graph that
// it makes of the same sketches it finds less.
func TestTheLibraryFindsAsMuchInOurGraph(t *testing.T) {
	r := compareLibrary(t, 2000, 200)
	if r[0].recall < .98 || r[1].recall < .98 || r[2].recall > r[1].recall {
		t.Errorf("recall %.3f, of the library in our graph %.3f, in its own %.3f", r[0].recall, r[1].recall, r[2].recall)
	}
}

// BenchmarkLibrary reports the recall and the median time of Search, of the library's search in the same graph, where it visits as many nodes as
// it needs for that recall, and of the library's in its own graph. They are why the program has a graph of its own.
func BenchmarkLibrary(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				for i, r := range compareLibrary(b, n, 500) {
					name := []string{"", "imported-", "library-"}[i]
					b.ReportMetric(r.recall, name+"recall")
					b.ReportMetric(float64(r.p50.Nanoseconds())/1e3, name+"p50-µs")
				}
			}
		})
	}
}

// searched is what searches for some queries found, and took.
type searched struct {
	recall float64 // queries for which the nearest was found
	p50    time.Duration
}

// compareLibrary searches n sketches by Search, by the library in the same graph, and by the library in its own.
func compareLibrary(t testing.TB, n, queries int) (all [3]searched) {
	rng := rand.New(rand.NewSource(7))
	m := newModel(t)
	for i, s := range cloud(rng, n) {
		m.insert(uint64(i)+1, s, nil)
	}
	ours, theirs := imported(m), grown(m)
	if have := (&library.Analyzer[uint64]{Graph: ours}).Topography()[0]; have != n || ours.Len() != n {
		t.Fatalf("the library has %d nodes of %d", have, n)
	}
	const budget = 512 // nodes that the library's search visits at least: it does not stop before it has found as many
	find := []func(q *Sketch) (nearest int){
		func(q *Sketch) int { return m.graph.Search(q, 128, nil)[0].Distance },
		func(q *Sketch) int { return libraryNearest(ours, q, budget) },
		func(q *Sketch) int { return libraryNearest(theirs, q, budget) },
	}
	var times [len(all)][]time.Duration
	for range queries {
		q := nearTo(rng, m.stored[m.keys[rng.Intn(n)]], 40)
		nearest := Bits
		for _, s := range m.stored {
			nearest = min(nearest, q.distance(&s))
		}
		for i, find := range find {
			start := time.Now()
			found := find(&q)
			if times[i] = append(times[i], time.Since(start)); found == nearest {
				all[i].recall += 1 / float64(queries)
			}
		}
	}
	for i := range times {
		slices.Sort(times[i])
		all[i].p50 = times[i][queries/2]
	}
	return all
}

// libraryNearest is the least distance among the k nodes that the library finds.
func libraryNearest(g *library.Graph[uint64], q *Sketch, k int) int {
	v, nearest := libraryVector(*q), Bits
	for _, n := range g.Search(v, k) {
		nearest = min(nearest, int(bitsOf(v, n.Value)))
	}
	return nearest
}
