package topics

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"reprise/embed"
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
	flat     *Flat              // every row
	serving  *snapshot          // nil: flat answers
	since    map[int32]struct{} // while a build runs: rows changed since it began
	changes  int                // since the last build began
	refusals int                // in a row
	builtAny bool
	status   IndexStatus
}

// GraphOptions are the settings of a Graph.
type GraphOptions struct {
	Min   int     // vectors from which on a graph is tried
	Route float64 // a query whose best cosine is below this does not count in the self-check
	Seed  int64

	owner  sync.Locker     // locks the rows for reading
	builds *sync.WaitGroup // nil: of this graph alone
}

// searcher is a finished graph. Calls may run at the same time, and may panic.
type searcher interface {
	// nearest returns up to k rows, roughly the nearest.
	nearest(q []float32, k int) []uint64
}

var _ Index = (*Graph)(nil)

// NewGraph makes a Graph over flat, which only the Graph may change from then on. Close the Graph when done.
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

// Add implements Index.
func (g *Graph) Add(row int32) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.flat.Add(row)
	g.changedLocked(row)
}

// Remove implements Index.
func (g *Graph) Remove(row int32) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.flat.Remove(row)
	g.changedLocked(row)
}

// Search implements Index. With a graph it may miss a row, but every row it returns is in the set and every score exact.
func (g *Graph) Search(q *query, k int, gate float32, dst []Neighbor) []Neighbor {
	if found, ok := g.searchGraph(q, k, gate, dst); ok {
		return found
	}
	return g.flat.Search(q, k, gate, dst) // it pauses, so mu is not held
}

func (g *Graph) searchGraph(q *query, k int, gate float32, dst []Neighbor) (found []Neighbor, ok bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.serving == nil || len(q.vector) != g.flat.rows.dim {
		return nil, false
	}
	found, ok, err := g.serving.search(q, k, gate, dst)
	if err != nil {
		g.faults.Add(1)
	}
	return found, ok
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

// changedLocked records that a row has joined or left.
func (g *Graph) changedLocked(row int32) {
	g.changes++
	if g.since != nil {
		g.since[row] = struct{}{}
	}
	if s := g.serving; s != nil {
		s.change(row)
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
	g.since, g.changes, g.builtAny = make(map[int32]struct{}), 0, true
	set := slices.Clone(g.flat.rowOf)
	g.builds.Go(func() { g.rebuild(set) })
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

// rebuild makes a graph of rows and checks it. Then the graph serves, or the status gives the reason.
func (g *Graph) rebuild(set []int32) {
	ids, vectors := g.copyVectors(set)
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
	g.options.owner.Lock()
	defer g.options.owner.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.status.Rebuilds++
	g.status.Recall = c.recall
	if err == nil {
		g.refusals = 0
		for row := range g.since {
			fresh.change(row)
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
			g.options.owner.Lock()
			for _, row := range batch {
				s.change(row)
			}
			g.options.owner.Unlock()
		}
	}
	return s
}

// takeSince is the rows that have changed since the last call, nil where they are few enough to be copied at once.
func (g *Graph) takeSince() map[int32]struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.since) <= copyBatch {
		return nil
	}
	since := g.since
	g.since = make(map[int32]struct{})
	return since
}

// copyVectors copies the vectors of rows a few at a time, so that no writer waits long. A row that changes meanwhile is in
// since, so it does not matter whether its old vector is copied, its new one, or none.
func (g *Graph) copyVectors(set []int32) (ids []uint64, vectors [][]float32) {
	for batch := range slices.Chunk(set, copyBatch) {
		g.options.owner.Lock()
		for _, row := range batch {
			if g.flat.has(row) {
				ids, vectors = append(ids, uint64(row)), append(vectors, slices.Clone(g.flat.rows.vector(row)))
			}
		}
		g.options.owner.Unlock()
	}
	return ids, vectors
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
	exact   *Flat              // every row
	changed map[int32]struct{} // rows whose vectors in the graph are out of date
	delta   *Flat              // those of them that are in the set
	broken  atomic.Bool        // the graph panicked and must not be used again
}

func newSnapshot(graph searcher, exact *Flat) *snapshot {
	return &snapshot{graph: graph, exact: exact, changed: make(map[int32]struct{}), delta: NewFlat(exact.rows, exact.name)}
}

// change takes a row that has changed into the delta, or out of it.
func (s *snapshot) change(row int32) {
	s.changed[row] = struct{}{}
	s.delta.Remove(row) // its sketch may have changed
	if s.exact.has(row) {
		s.delta.Add(row)
	}
}

// search merges the neighbours that the graph and the delta find. It is not ok if the graph panicked, now (then with an
// error) or before, or if it reached too few stored vectors: a graph of coder/hnsw can be disconnected.
func (s *snapshot) search(q *query, k int, gate float32, dst []Neighbor) (found []Neighbor, ok bool, err error) {
	if s.broken.Load() {
		return dst[:0], false, nil
	}
	defer func() {
		if p := recover(); p != nil {
			s.broken.Store(true)
			found, ok, err = dst[:0], false, fmt.Errorf("search graph: %w: %v", errPanic, p)
		}
	}()
	unpaused := *q // the lock of the graph is held
	unpaused.pause = nil
	found = s.delta.Search(&unpaused, k, anyScore, dst)
	for _, id := range s.graph.nearest(q.vector, max(overfetch, 2*k)) {
		row := int32(id)
		if _, changed := s.changed[row]; !changed && s.exact.has(row) {
			found = append(found, Neighbor{s.exact.name(row), row, embed.Dot(q.vector, s.exact.rows.vector(row))})
		}
	}
	slices.SortFunc(found, compareNeighbors)
	found = slices.Compact(found)
	ok = len(found) >= min(k, s.exact.Len())
	found = found[:min(k, len(found))]
	for len(found) > 0 && found[len(found)-1].Score < gate {
		found = found[:len(found)-1]
	}
	return found, ok, nil
}
