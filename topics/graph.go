//go:build !windows

package topics

import (
	"context"
	"fmt"
	"math/rand"

	"github.com/coder/hnsw"

	"reprise/embed"
)

// library is a finished graph of coder/hnsw. Once built it is only searched: the library's Delete, and its Add of an
// existing key, leave links to removed nodes, and later calls panic.
type library struct{ graph *hnsw.Graph[uint64] }

// buildLibrary makes a graph of the vectors, which must be of one dimension and must not change afterwards. It is slow (some
// 0.5 ms a vector) and ends early when ctx does. Its settings gave the highest recall of those measured; higher ones cost
// more for the same recall.
func buildLibrary(ctx context.Context, ids []uint64, vectors [][]float32, seed int64) (searcher, error) {
	g := &hnsw.Graph[uint64]{
		M: 48, Ml: 0.25, EfSearch: 200,
		Distance: func(a, b []float32) float32 { return 1 - embed.Dot(a, b) },
		Rng:      rand.New(rand.NewSource(seed)),
	}
	for i, id := range ids {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		g.Add(hnsw.MakeNode(id, vectors[i]))
	}
	if g.Len() != len(ids) {
		return nil, fmt.Errorf("graph holds %d of %d vectors", g.Len(), len(ids))
	}
	return library{g}, nil
}

func (l library) nearest(q []float32, k int) []uint64 {
	found := l.graph.Search(q, k)
	ids := make([]uint64, len(found))
	for i, node := range found {
		ids[i] = node.Key
	}
	return ids
}
