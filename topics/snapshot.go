package topics

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

const (
	overfetch  = 64   // candidates fetched from a graph, because changed and deleted ones are dropped
	minChanges = 1024 // changes after which a snapshot of any size may stay
	copyBatch  = 256  // vectors copied for a build each time the lock is held
)

var errPanic = errors.New("panic")

// Graph is an Index that searches an HNSW graph where that is faster than a scan. The graph is a snapshot that never
// changes; vectors that changed since are kept beside it and scanned exactly. When more than a quarter has changed, a new
// snapshot is built in the background, and serves only after a self-check. Until then, and whenever the graph fails, a Flat
// answers.
type Graph struct {
	options GraphOptions
	build   func(ctx context.Context, ids []uint64, vectors [][]float32, seed int64) (searcher, error)
	accept  func(checkup) error
	ctx     context.Context
	cancel  context.CancelFunc
	builds  *sync.WaitGroup // those that run; in a Topics of all its graphs
	faults  atomic.Int64

	// mu protects the rest from the builder, which does not hold the lock of the owner.
	mu       sync.RWMutex
	flat     *Flat               // every vector
	serving  *snapshot           // nil: flat answers
	since    map[uint64]struct{} // while a build runs: ids changed since it began
	changes  int                 // since the last build began
	refusals int                 // in a row
	builtAny bool
	status   IndexStatus
}

// GraphOptions are the settings of a Graph.
type GraphOptions struct {
	Min   int     // vectors from which on a graph is tried
	Route float64 // a query whose best cosine is below this does not count in the self-check
	Seed  int64

	builds *sync.WaitGroup // nil: of this graph alone
}

// searcher is a finished graph. Calls may run at the same time, and may panic.
type searcher interface {
	// nearest returns up to k ids, roughly the nearest.
	nearest(q []float32, k int) []uint64
}

var _ Index = (*Graph)(nil)

// NewGraph makes a Graph over flat, which only the Graph may change from then on: the caller may still read it, under the
// lock that it holds for Upsert and Delete. Close the Graph when done.
func NewGraph(flat *Flat, o GraphOptions) *Graph {
	g := &Graph{options: o, build: buildLibrary, accept: checkup.verdict, flat: flat, builds: o.builds}
	if g.builds == nil {
		g.builds = new(sync.WaitGroup)
	}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	g.status = IndexStatus{Backend: backendFlat, Why: fmt.Sprintf("fewer than %d vectors", o.Min)}
	return g
}

// Close ends a running build and waits for it, some ms. The index still works, without new builds.
func (g *Graph) Close() {
	g.stop()
	g.builds.Wait()
}

// stop is Close without waiting, for a caller that holds the lock of the owner.
func (g *Graph) stop() {
	g.mu.Lock()
	g.cancel()
	g.mu.Unlock()
}

// Upsert implements Index.
func (g *Graph) Upsert(id uint64, v []float32) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.flat.Upsert(id, v); err != nil {
		return err
	}
	g.changedLocked(id)
	return nil
}

// Delete implements Index.
func (g *Graph) Delete(id uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.flat.Delete(id)
	g.changedLocked(id)
}

// Search implements Index. With a graph it may miss a vector, but every id it returns is stored and every score exact.
func (g *Graph) Search(q []float32, k int, dst []Neighbor) []Neighbor {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.serving != nil && len(q) == g.flat.rows.dim {
		found, ok, err := g.serving.search(q, k, dst)
		if err != nil {
			g.faults.Add(1)
		}
		if ok {
			return found
		}
	}
	return g.flat.Search(q, k, dst)
}

// Len implements Index.
func (g *Graph) Len() int {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.flat.Len()
}

// Status returns which backend serves and why.
func (g *Graph) Status() IndexStatus {
	g.mu.RLock()
	defer g.mu.RUnlock()
	s := g.status
	s.Faults = int(g.faults.Load())
	if g.serving != nil && g.serving.broken.Load() {
		s.Backend, s.Why = backendFlat, "the graph panicked in a search"
	}
	return s
}

// changedLocked records that id has another vector or none.
func (g *Graph) changedLocked(id uint64) {
	g.changes++
	if g.since != nil {
		g.since[id] = struct{}{}
	}
	if s := g.serving; s != nil {
		s.change(id)
		if g.flat.Len() < g.options.Min || s.broken.Load() {
			g.serving = nil
			g.status.Backend, g.status.Why = backendFlat, "the graph became too small, or panicked"
		}
	}
	g.startLocked()
}

// startLocked starts a build when one is due.
func (g *Graph) startLocked() {
	if !g.dueLocked() {
		return
	}
	g.since, g.changes, g.builtAny = make(map[uint64]struct{}), 0, true
	ids := slices.Clone(g.flat.ids)
	g.builds.Go(func() { g.rebuild(ids) })
}

// dueLocked reports whether to build now: at once if no build was tried yet, then each time that a quarter has changed, and
// half as often after each refusal, because a build costs seconds of a core.
func (g *Graph) dueLocked() bool {
	n := g.flat.Len()
	if g.since != nil || n < g.options.Min || g.ctx.Err() != nil {
		return false
	}
	return !g.builtAny || g.changes > max(minChanges, n/4)<<min(g.refusals, 16)
}

// rebuild makes a graph of ids and checks it. Then the graph serves, or the status gives the reason.
func (g *Graph) rebuild(ids []uint64) {
	ids, vectors := g.copyVectors(ids)
	graph, err := g.guardedBuild(ids, vectors)
	var c checkup
	if err == nil {
		c, err = examine(g.ctx, graph, ids, vectors, g.options)
	}
	if err == nil {
		err = g.accept(c)
	}
	if errors.Is(err, errPanic) {
		g.faults.Add(1)
	}
	var fresh *snapshot
	if err == nil {
		fresh = g.caughtUp(graph)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.status.Rebuilds++
	g.status.Recall = c.recall
	if err == nil {
		g.refusals = 0
		for id := range g.since {
			fresh.change(id)
		}
		g.serving = fresh
		g.status.Backend, g.status.Why = backendGraph, "passed its self-check"
	} else {
		g.refusals++
		g.serving = nil
		g.status.Backend, g.status.Why = backendFlat, err.Error()
	}
	g.since = nil
	g.startLocked() // much may have changed meanwhile
}

// caughtUp is a snapshot with nearly all changes since the build began, of which there may be thousands. They are copied a few at a
// time, because a search waits meanwhile; what changes after that is in since.
func (g *Graph) caughtUp(graph searcher) *snapshot {
	s := newSnapshot(graph, g.flat)
	for range 8 { // each time there are fewer
		since := g.takeSince()
		if since == nil {
			break
		}
		for batch := range slices.Chunk(slices.Collect(maps.Keys(since)), copyBatch) {
			g.mu.RLock()
			for _, id := range batch {
				s.change(id)
			}
			g.mu.RUnlock()
		}
	}
	return s
}

// takeSince is the ids that have changed since the last call, nil where they are few enough to be copied at once.
func (g *Graph) takeSince() map[uint64]struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.since) <= copyBatch {
		return nil
	}
	since := g.since
	g.since = make(map[uint64]struct{})
	return since
}

// copyVectors copies the vectors of ids a few at a time, so that no writer waits long. An id that changes meanwhile is in
// since, so it does not matter whether its old vector is copied, its new one, or none.
func (g *Graph) copyVectors(ids []uint64) (kept []uint64, vectors [][]float32) {
	for batch := range slices.Chunk(ids, copyBatch) {
		g.mu.RLock()
		for _, id := range batch {
			if v, ok := g.flat.vector(id, nil); ok {
				kept, vectors = append(kept, id), append(vectors, v)
			}
		}
		g.mu.RUnlock()
	}
	return kept, vectors
}

// guardedBuild builds a graph, and returns a panic of the library as an error.
func (g *Graph) guardedBuild(ids []uint64, vectors [][]float32) (s searcher, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("build graph: %w: %v", errPanic, p)
		}
	}()
	return g.build(g.ctx, ids, vectors, g.options.Seed)
}

// snapshot is a graph that serves, and the changes since it was made.
type snapshot struct {
	graph   searcher
	exact   *Flat               // every vector, for scores
	changed map[uint64]struct{} // ids whose vectors in the graph are out of date
	delta   *Flat               // their present vectors, of those that are still stored
	broken  atomic.Bool         // the graph panicked and must not be used again
}

func newSnapshot(graph searcher, exact *Flat) *snapshot {
	return &snapshot{graph: graph, exact: exact, changed: make(map[uint64]struct{}), delta: NewFlat(exact.rows.dim)}
}

// change copies the present vector of id to the delta, or removes it there.
func (s *snapshot) change(id uint64) {
	s.changed[id] = struct{}{}
	if v, ok := s.exact.vector(id, nil); ok {
		s.delta.put(id, v)
	} else {
		s.delta.Delete(id)
	}
}

// search merges the neighbours that the graph and the delta find. It is not ok if the graph panicked, now (then with an
// error) or before, or if it reached too few stored vectors: a graph of coder/hnsw can be disconnected.
func (s *snapshot) search(q []float32, k int, dst []Neighbor) (found []Neighbor, ok bool, err error) {
	if s.broken.Load() {
		return dst[:0], false, nil
	}
	defer func() {
		if p := recover(); p != nil {
			s.broken.Store(true)
			found, ok, err = dst[:0], false, fmt.Errorf("search graph: %w: %v", errPanic, p)
		}
	}()
	found = s.delta.Search(q, k, dst)
	cut := s.exact.rows.query(q)
	for _, id := range s.graph.nearest(q, max(overfetch, 2*k)) {
		row, live := s.exact.rowOf[id]
		if _, changed := s.changed[id]; changed || !live {
			continue
		}
		score, _ := s.exact.rows.score(int(row), cut, anyScore)
		found = append(found, Neighbor{id, score})
	}
	slices.SortFunc(found, compareNeighbors)
	found = slices.Compact(found)
	return found[:min(k, len(found))], len(found) >= min(k, s.exact.Len()), nil
}
