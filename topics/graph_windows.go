package topics

import (
	"context"
	"errors"
)

// buildLibrary always fails: coder/hnsw does not compile on Windows, so there a Graph is a flat scan.
func buildLibrary(context.Context, []uint64, [][]float32, int64) (searcher, error) {
	return nil, errors.New("no graph library on this platform")
}
