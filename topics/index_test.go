package topics

import (
	"context"
	"errors"
	"math/rand"
	"slices"
	"sync"
	"testing"

	"reprise/embed"
)

// oracle is the plainest Index.
type oracle map[uint64][]float32

func (o oracle) search(q []float32, k int) (found []Neighbor) {
	for id, v := range o {
		found = append(found, Neighbor{id, embed.Dot(q, v)})
	}
	slices.SortFunc(found, compareNeighbors)
	return found[:min(k, len(found))]
}

// scan is a graph of recall 1.
type scan struct {
	ids     []uint64
	vectors [][]float32
}

func buildScan(_ context.Context, ids []uint64, vectors [][]float32, _ int64) (searcher, error) {
	return scan{ids, vectors}, nil
}

func (s scan) nearest(q []float32, k int) (ids []uint64) {
	o := oracle{}
	for i, id := range s.ids {
		o[id] = s.vectors[i]
	}
	for _, h := range o.search(q, k) {
		ids = append(ids, h.ID)
	}
	return ids
}

// doubling is a graph that returns every neighbour twice.
type doubling struct{ scan }

func buildDoubling(_ context.Context, ids []uint64, vectors [][]float32, _ int64) (searcher, error) {
	return doubling{scan{ids, vectors}}, nil
}

func (s doubling) nearest(q []float32, k int) []uint64 {
	ids := s.scan.nearest(q, k)
	return append(ids, ids...)
}

func acceptAll(checkup) error { return nil }

// graphOver makes a Graph that accepts every graph that build makes.
func graphOver(t testing.TB, dim, from int, build func(context.Context, []uint64, [][]float32, int64) (searcher, error)) *Graph {
	g := NewGraph(NewFlat(dim), GraphOptions{Min: from, Route: 0.6, Seed: 1})
	g.build, g.accept = build, acceptAll
	t.Cleanup(g.Close)
	return g
}

// indexes are all implementations; exact ones return what the oracle returns.
var indexes = []struct {
	name  string
	exact bool
	make  func(t testing.TB, dim int) Index
}{
	{"flat", true, func(_ testing.TB, dim int) Index { return NewFlat(dim) }},
	{"graph of a scan", true, func(t testing.TB, dim int) Index { return graphOver(t, dim, 30, buildScan) }},
	{"graph with duplicates", true, func(t testing.TB, dim int) Index { return graphOver(t, dim, 30, buildDoubling) }},
	{"graph of the library", false, func(t testing.TB, dim int) Index { return graphOver(t, dim, 30, buildLibrary) }},
	{"auto", true, func(t testing.TB, dim int) Index {
		s := newScope(ScopeID{}, &Options{Dim: dim, Index: KindAuto, Route: 0.6}, new(sync.WaitGroup))
		t.Cleanup(s.index.(*Graph).Close)
		return s.index
	}},
}

func TestIndexConforms(t *testing.T) {
	for _, x := range indexes {
		for _, dim := range []int{2, 7, 48} {
			t.Run(x.name, func(t *testing.T) { conform(t, x.make(t, dim), dim, x.exact) })
		}
	}
}

// conform runs random calls and compares every answer with that of the oracle.
func conform(t *testing.T, index Index, dim int, exact bool) {
	rng := rand.New(rand.NewSource(int64(dim)))
	want := oracle{}
	for range 1500 {
		id := uint64(rng.Intn(600))
		switch v := unitVectors(rng, 1, dim)[0]; rng.Intn(4) {
		case 0, 1:
			if err := index.Upsert(id, v); err != nil {
				t.Fatal(err)
			}
			want[id] = slices.Clone(v)
			clear(v) // the index has its own copy
		case 2:
			index.Delete(id)
			delete(want, id)
		default:
			k := rng.Intn(12)
			compare(t, index.Search(v, k, nil), want, v, k, exact)
		}
		if index.Len() != len(want) {
			t.Fatalf("Len = %d, want %d", index.Len(), len(want))
		}
	}
}

// compare checks neighbours: stored ids, right scores, in order, as many as possible, and the best ones if the index is exact.
func compare(t *testing.T, found []Neighbor, want oracle, q []float32, k int, exact bool) {
	t.Helper()
	best := want.search(q, k)
	if len(found) != len(best) {
		t.Fatalf("%d neighbours, want %d", len(found), len(best))
	}
	for i, n := range found {
		v, ok := want[n.ID]
		if !ok || !close32(embed.Dot(q, v), n.Score) {
			t.Fatalf("neighbour %v: wrong score, or not stored (%v)", n, ok)
		}
		if i > 0 && compareNeighbors(found[i-1], n) >= 0 {
			t.Fatalf("neighbours out of order: %v", found)
		}
		if exact && !close32(n.Score, best[i].Score) {
			t.Fatalf("neighbour %d is %v, want %v", i, n, best[i])
		}
	}
}

func close32(a, b float32) bool { return a-b < 1e-5 && b-a < 1e-5 }

func TestIndexRefusesBadVectors(t *testing.T) {
	for _, x := range indexes {
		t.Run(x.name, func(t *testing.T) {
			index := x.make(t, 4)
			good := []float32{0, 1, 0, 0}
			if err := index.Upsert(1, good); err != nil {
				t.Fatal(err)
			}
			for _, bad := range [][]float32{nil, {1, 0, 0}, {0, 0, 0, 0}, {1, 1, 0, 0}} {
				if err := index.Upsert(1, bad); !errors.Is(err, embed.ErrVector) {
					t.Errorf("Upsert(%v) = %v", bad, err)
				}
			}
			if found := index.Search(good, 3, nil); len(found) != 1 || found[0] != (Neighbor{1, 1}) {
				t.Errorf("after a refused vector the index holds %v", found)
			}
			if found := index.Search([]float32{1}, 3, nil); len(found) != 0 {
				t.Errorf("a query of another dimension found %v", found)
			}
		})
	}
}

func TestIndexTies(t *testing.T) {
	for _, x := range indexes {
		t.Run(x.name, func(t *testing.T) {
			index := x.make(t, 2)
			for _, id := range []uint64{5, 3, 9, 4} {
				if err := index.Upsert(id, []float32{1, 0}); err != nil {
					t.Fatal(err)
				}
			}
			got := index.Search([]float32{1, 0}, 3, nil)
			if want := []Neighbor{{3, 1}, {4, 1}, {5, 1}}; !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}
