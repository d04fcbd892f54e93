package topics

import (
	"math/rand"
	"slices"
	"sync"
	"testing"

	"reprise/embed"
)

// oracle is the plainest index.
type oracle map[uint64][]float32

func (o oracle) search(q []float32, k int) (found []neighbor) {
	for id, v := range o {
		found = append(found, neighbor{name: id, score: embed.Dot(q, v)})
	}
	slices.SortFunc(found, neighbor.compare)
	return found[:min(k, len(found))]
}

// named is an index over rows of its own, whose vectors have ids.
type named struct {
	mu    sync.RWMutex // protects what follows; a graph reads under it
	rows  *rows
	rowOf map[uint64]int32
	ids   map[int32]uint64
	index index
}

func newNamed(dim int, over func(x *named, flat *flat) index) *named {
	x := &named{rows: newRows(dim), rowOf: map[uint64]int32{}, ids: map[int32]uint64{}}
	x.index = over(x, newFlat(x.rows, x))
	return x
}

func (x *named) nameOf(row int32) uint64 { return x.ids[row] }

func (x *named) Upsert(id uint64, v []float32) {
	x.Delete(id)
	x.mu.Lock()
	defer x.mu.Unlock()
	s := sketchOf(v)
	row := x.rows.add(v, &s)
	x.rowOf[id], x.ids[row] = row, id
	x.index.Add(row)
}

func (x *named) Delete(id uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if row, ok := x.rowOf[id]; ok {
		x.index.Remove(row)
		x.rows.remove(row)
		delete(x.rowOf, id)
		delete(x.ids, row)
	}
}

func (x *named) Search(v []float32, k int) []neighbor {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.index.Search(newQuery(v), k, anyScore, nil)
}

func (x *named) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.index.Len()
}

// namedGraph is a graph over rows of its own.
type namedGraph struct {
	*named
	graph *graph
}

// graphOver makes a graph from some rows on.
func graphOver(t testing.TB, dim, from int) namedGraph {
	b := new(builder)
	t.Cleanup(b.close)
	var g *graph
	x := newNamed(dim, func(x *named, flat *flat) index {
		g = newGraph(flat, graphOptions{min: from, share: 1e9, route: 0.6, owner: &x.mu, builder: b})
		return g
	})
	return namedGraph{x, g}
}

// settle waits until the builder has nothing to do.
func (g namedGraph) settle() { g.graph.builder.runs.Wait() }

func (g namedGraph) status() IndexStatus {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.graph.Status()
}

// serving is a namedGraph that serves without a self-check as soon as it is built.
type serving struct{ namedGraph }

func (g serving) Search(v []float32, k int) []neighbor {
	g.named.Search(v, k)
	g.settle()
	g.mu.Lock()
	if p := g.graph.parts; p != nil && p.whole {
		p.breadth = 512
	}
	g.mu.Unlock()
	return g.named.Search(v, k)
}

// testIndex is what all indexes can do by id.
type testIndex interface {
	Upsert(id uint64, v []float32)
	Delete(id uint64)
	Search(v []float32, k int) []neighbor
	Len() int
}

// indexes are all implementations; exact ones return what the oracle returns.
var indexes = []struct {
	name  string
	exact bool
	make  func(t testing.TB, dim int) testIndex
}{
	{"flat", true, func(_ testing.TB, dim int) testIndex {
		return newNamed(dim, func(_ *named, flat *flat) index { return flat })
	}},
	{"graph", false, func(t testing.TB, dim int) testIndex { return serving{graphOver(t, dim, 30)} }},
}

func TestIndexConforms(t *testing.T) {
	for _, x := range indexes {
		for _, dim := range []int{5, 12, 48} {
			t.Run(x.name, func(t *testing.T) { conform(t, x.make(t, dim), dim, x.exact) })
		}
	}
}

// conform runs random calls and compares every answer with that of the oracle.
func conform(t *testing.T, index testIndex, dim int, exact bool) {
	rng := rand.New(rand.NewSource(int64(dim)))
	want := oracle{}
	for range 1500 {
		id := uint64(rng.Intn(600))
		switch v := unitVectors(rng, 1, dim)[0]; rng.Intn(4) {
		case 0, 1:
			index.Upsert(id, v)
			want[id] = slices.Clone(v)
			clear(v) // the index has its own copy
		case 2:
			index.Delete(id)
			delete(want, id)
		default:
			k := rng.Intn(12)
			compare(t, index.Search(v, k), want, v, k, exact)
		}
		if index.Len() != len(want) {
			t.Fatalf("Len = %d, want %d", index.Len(), len(want))
		}
	}
}

// compare checks neighbours: stored ids, right scores, in order, as many as possible, and the best ones if the index is exact.
func compare(t *testing.T, found []neighbor, want oracle, q []float32, k int, exact bool) {
	t.Helper()
	best := want.search(q, k)
	if len(found) != len(best) {
		t.Fatalf("%d neighbours, want %d", len(found), len(best))
	}
	for i, n := range found {
		v, ok := want[n.name]
		if !ok || !close32(embed.Dot(q, v), n.score) {
			t.Fatalf("neighbour %v: wrong score, or not stored (%v)", n, ok)
		}
		if i > 0 && found[i-1].compare(n) >= 0 {
			t.Fatalf("neighbours out of order: %v", found)
		}
		if exact && !close32(n.score, best[i].score) {
			t.Fatalf("neighbour %d is %v, want %v", i, n, best[i])
		}
	}
}

func close32(a, b float32) bool { return a-b < 1e-5 && b-a < 1e-5 }

func TestIndexRefusesOtherDimensions(t *testing.T) {
	for _, x := range indexes {
		t.Run(x.name, func(t *testing.T) {
			index := x.make(t, 4)
			index.Upsert(1, []float32{0, 1, 0, 0})
			for _, v := range [][]float32{nil, {1}, {0, 1, 0, 0, 0}} {
				if found := index.Search(v, 3); len(found) != 0 {
					t.Errorf("a query of %d dimensions found %v", len(v), found)
				}
			}
		})
	}
}

func TestIndexTies(t *testing.T) {
	for _, x := range indexes {
		t.Run(x.name, func(t *testing.T) {
			index := x.make(t, 2)
			for _, id := range []uint64{5, 3, 9, 4} {
				index.Upsert(id, []float32{1, 0})
			}
			var got []uint64
			for _, n := range index.Search([]float32{1, 0}, 3) {
				got = append(got, n.name)
			}
			if want := []uint64{3, 4, 5}; !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}
