package topics

import (
	"context"
	"errors"
	"math/rand"
	"slices"
	"testing"

	"reprise/embed"
)

// oracle is an Index as plainly as it can be said.
type oracle map[uint64][]float32

func (o oracle) search(q []float32, k int) (hits []Neighbor) {
	for id, v := range o {
		hits = append(hits, Neighbor{id, embed.Dot(q, v)})
	}
	slices.SortFunc(hits, compareNeighbors)
	return hits[:min(k, len(hits))]
}

// scan is a graph that misses nothing.
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

// stutter is a graph that says everything twice.
type stutter struct{ scan }

func buildStutter(_ context.Context, ids []uint64, vectors [][]float32, _ int64) (searcher, error) {
	return stutter{scan{ids, vectors}}, nil
}

func (s stutter) nearest(q []float32, k int) []uint64 {
	ids := s.scan.nearest(q, k)
	return append(ids, ids...)
}

func acceptAll(checkup) error { return nil }

// graphOver makes a Graph that takes every graph that build makes.
func graphOver(t testing.TB, dim, from int, build func(context.Context, []uint64, [][]float32, int64) (searcher, error)) *Graph {
	g := NewGraph(NewFlat(dim), GraphOptions{Min: from, Route: 0.6, Seed: 1})
	g.build, g.accept = build, acceptAll
	t.Cleanup(g.Close)
	return g
}

// indexes are all implementations; exact ones find what the oracle finds.
var indexes = []struct {
	name  string
	exact bool
	make  func(t testing.TB, dim int) Index
}{
	{"flat", true, func(_ testing.TB, dim int) Index { return NewFlat(dim) }},
	{"graph of a scan", true, func(t testing.TB, dim int) Index { return graphOver(t, dim, 30, buildScan) }},
	{"graph that stutters", true, func(t testing.TB, dim int) Index { return graphOver(t, dim, 30, buildStutter) }},
	{"graph of the library", false, func(t testing.TB, dim int) Index { return graphOver(t, dim, 30, buildLibrary) }},
	{"auto", true, func(t testing.TB, dim int) Index {
		s := newScope(ScopeID{}, &Options{Dim: dim, Index: KindAuto, Route: 0.6}, true)
		t.Cleanup(s.close)
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

// conform plays a random script and compares every answer with the oracle's.
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

// compare checks hits: right ids and scores, in order, as many as there can be, and the best ones if the index is exact.
func compare(t *testing.T, hits []Neighbor, want oracle, q []float32, k int, exact bool) {
	t.Helper()
	best := want.search(q, k)
	if len(hits) != len(best) {
		t.Fatalf("%d hits, want %d", len(hits), len(best))
	}
	for i, h := range hits {
		v, ok := want[h.ID]
		if !ok || !close32(embed.Dot(q, v), h.Score) {
			t.Fatalf("hit %v of an id that is stored: %v", h, ok)
		}
		if i > 0 && compareNeighbors(hits[i-1], h) >= 0 {
			t.Fatalf("hits out of order: %v", hits)
		}
		if exact && !close32(h.Score, best[i].Score) {
			t.Fatalf("hit %d is %v, want %v", i, h, best[i])
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
			if hits := index.Search(good, 3, nil); len(hits) != 1 || hits[0] != (Neighbor{1, 1}) {
				t.Errorf("a refused vector left %v", hits)
			}
			if hits := index.Search([]float32{1}, 3, nil); len(hits) != 0 {
				t.Errorf("a query of another dimension found %v", hits)
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
