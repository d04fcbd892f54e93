package topics

import (
	"context"
	"errors"
	"math/rand"
	"strings"
	"sync"
	"testing"
	"time"

	"reprise/embed"
)

// TestChurn changes a graph 50,000 times beside searches: no panic, every id found is stored, no wrong score.
func TestChurn(t *testing.T) {
	const dim, live = 8, 200
	g := graphOver(t, dim, 50, buildLibrary)
	var mu sync.RWMutex // protects want
	want := oracle{}
	queries := make(chan []float32, 100)
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for q := range queries {
				checkedSearch(t, &mu, g, want, q)
			}
		})
	}
	rng := rand.New(rand.NewSource(7))
	for i := range 50_000 {
		id, v := uint64(rng.Intn(live*3/2)), unitVectors(rng, 1, dim)[0]
		mu.Lock()
		if rng.Intn(3) == 0 {
			g.Delete(id)
			delete(want, id)
		} else {
			g.Upsert(id, v)
			want[id] = v
		}
		mu.Unlock()
		if i%20 == 0 {
			queries <- v
		}
		if i%10_000 == 0 {
			g.builds.Wait() // so that graphs serve, however fast the changes come
		}
	}
	close(queries)
	readers.Wait()
	g.builds.Wait()
	if s := g.Status(); s.Rebuilds < 4 || s.Faults > 0 || s.Backend != backendGraph {
		t.Errorf("status %+v, want a graph, several rebuilds and no fault", s)
	}
}

func checkedSearch(t *testing.T, mu *sync.RWMutex, index testIndex, want oracle, q []float32) {
	mu.RLock()
	defer mu.RUnlock()
	for _, n := range index.Search(q, 8) {
		if v, ok := want[n.Name]; !ok || !close32(embed.Dot(q, v), n.Score) {
			t.Errorf("neighbour %v: wrong score, or not stored (%v)", n, ok)
		}
	}
}

// broken is a graph that always finds the same three ids, or panics.
type broken struct{ panics bool }

func (b broken) nearest([]float32, int) []uint64 {
	if b.panics {
		panic("nil pointer")
	}
	return []uint64{1, 2, 3}
}

// fillGraph upserts n random vectors, waits for the build and returns what is stored.
func fillGraph(t *testing.T, g namedGraph, n int) oracle {
	rng := rand.New(rand.NewSource(3))
	want := oracle{}
	for i, v := range unitVectors(rng, n, g.rows.dim) {
		g.Upsert(uint64(i), v)
		want[uint64(i)] = v
	}
	g.builds.Wait()
	return want
}

func TestSelfCheckRefusesABadGraph(t *testing.T) {
	g := graphOver(t, 16, 100, func(context.Context, []uint64, [][]float32, int64) (searcher, error) { return broken{}, nil })
	g.accept = checkup.verdict
	want := fillGraph(t, g, 300)
	s := g.Status()
	if s.Backend != backendFlat || s.Rebuilds != 1 || s.Recall > 0.5 || !strings.Contains(s.Why, "recall") {
		t.Errorf("status %+v, want flat for its recall", s)
	}
	q := unitVectors(rand.New(rand.NewSource(4)), 1, 16)[0]
	compare(t, g.Search(q, 8), want, q, 8, true)
}

// TestDisconnected: the answer of a graph that reaches fewer than k vectors is not used.
func TestDisconnected(t *testing.T) {
	g := graphOver(t, 16, 100, func(context.Context, []uint64, [][]float32, int64) (searcher, error) { return broken{}, nil })
	want := fillGraph(t, g, 100)
	if g.Status().Backend != backendGraph {
		t.Fatalf("status %+v, want a graph that serves", g.Status())
	}
	q := unitVectors(rand.New(rand.NewSource(4)), 1, 16)[0]
	compare(t, g.Search(q, 8), want, q, 8, true)
}

func TestVerdict(t *testing.T) {
	good := checkup{counted: samples, recall: 1, graph: time.Microsecond, flat: 2 * time.Microsecond}
	for _, c := range []struct {
		change func(*checkup)
		want   string // part of the refusal; empty: it may serve
	}{
		{func(*checkup) {}, ""},
		{func(c *checkup) { c.recall = 0.98 }, ""},
		{func(c *checkup) { c.recall = 0.97 }, "recall"},
		{func(c *checkup) { c.graph = c.flat }, "times as long"},
		{func(c *checkup) { c.counted = samples/2 - 1 }, "route gate"},
	} {
		got := good
		c.change(&got)
		err := got.verdict()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", got, err, c.want)
		}
	}
}

func TestExamineMeasuresRecall(t *testing.T) {
	vectors := unitVectors(rand.New(rand.NewSource(1)), 400, 16)
	ids := make([]uint64, len(vectors))
	for i := range ids {
		ids[i] = uint64(i)
	}
	whole, err := examine(t.Context(), scanner{ids, vectors}, ids, vectors, GraphOptions{Route: 0.6})
	if err != nil || whole.recall != 1 || whole.counted < samples*3/4 {
		t.Errorf("a full scan: %+v, %v", whole, err)
	}
	half, err := examine(t.Context(), scanner{ids[:200], vectors[:200]}, ids, vectors, GraphOptions{Route: 0.6})
	if err != nil || half.recall < 0.3 || half.recall > 0.7 {
		t.Errorf("a scan of half: %+v, %v", half, err)
	}
}

func TestPanicsFallBack(t *testing.T) {
	good := false
	for name, build := range map[string]func(context.Context, []uint64, [][]float32, int64) (searcher, error){
		"while building": func(context.Context, []uint64, [][]float32, int64) (searcher, error) { panic("invalid level") },
		"in the self-check": func(context.Context, []uint64, [][]float32, int64) (searcher, error) {
			return broken{panics: true}, nil
		},
		"while it serves": func(_ context.Context, ids []uint64, vectors [][]float32, _ int64) (searcher, error) {
			return &panicsLater{scanner: scanner{ids, vectors}, good: &good}, nil
		},
		"the build fails": func(context.Context, []uint64, [][]float32, int64) (searcher, error) { return nil, errors.New("no") },
	} {
		t.Run(name, func(t *testing.T) {
			good = true
			g := graphOver(t, 16, 100, build)
			want := fillGraph(t, g, 150)
			good = false
			q := unitVectors(rand.New(rand.NewSource(4)), 1, 16)[0]
			for range 2 {
				compare(t, g.Search(q, 8), want, q, 8, true)
			}
			faults := 1
			if name == "the build fails" {
				faults = 0
			}
			if s := g.Status(); s.Backend != backendFlat || s.Faults != faults {
				t.Errorf("status %+v, want flat after %d fault", s, faults)
			}
		})
	}
}

// panicsLater is a graph that passes its check and panics afterwards.
type panicsLater struct {
	scanner
	good *bool
}

func (s *panicsLater) nearest(q []float32, k int) []uint64 {
	if !*s.good {
		panic("nil pointer")
	}
	return s.scanner.nearest(q, k)
}

// TestPurgeIsComplete deletes vectors of a graph: no search returns them, and the next snapshot does not hold them.
func TestPurgeIsComplete(t *testing.T) {
	g := graphOver(t, 16, 100, buildScan)
	want := fillGraph(t, g, 3000)
	purged := unitVectors(rand.New(rand.NewSource(3)), 1, 16)[0] // the vector of id 0
	g.Delete(0)
	delete(want, 0)
	if g.Status().Backend != backendGraph {
		t.Fatalf("status %+v, want a graph that serves", g.Status())
	}
	compare(t, g.Search(purged, 8), want, purged, 8, true)
	for id := uint64(1); id < 1500; id++ {
		g.Delete(id)
		delete(want, id)
	}
	g.builds.Wait()
	if n := len(g.serving.changed); n > 1024 {
		t.Errorf("%d changes left, want a new snapshot", n)
	}
	compare(t, g.Search(purged, 8), want, purged, 8, true)
}

func TestCloseEndsABuild(t *testing.T) {
	started := make(chan struct{})
	g := graphOver(t, 16, 100, func(ctx context.Context, _ []uint64, _ [][]float32, _ int64) (searcher, error) {
		close(started)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	go func() { <-started; g.Close() }()
	want := fillGraph(t, g, 150)
	fillGraph(t, g, 3000) // no build after Close: a second close of the channel would panic
	if len(want) != 150 || g.Status().Rebuilds != 1 {
		t.Errorf("status %+v", g.Status())
	}
}

// TestFreedScopeDoesNotWaitForItsBuild purges a scope while its graph is built by a library that takes its time: neither the
// purge nor a search waits, only Close. Line 25 of the list in SECURITY.md.
func TestFreedScopeDoesNotWaitForItsBuild(t *testing.T) {
	topics := inPlane(t, nil)
	put(t, topics, 1, 0, 0)
	s := topics.scope(ScopeID{})
	started, release := make(chan struct{}), make(chan struct{})
	slow := NewGraph(s.index.(*Graph).flat, GraphOptions{Min: 2, Route: 0.5, owner: s.mu.RLocker(), builds: &topics.builds})
	slow.build = func(context.Context, []uint64, [][]float32, int64) (searcher, error) {
		close(started)
		<-release
		return nil, errors.New("too late")
	}
	s.index = slow
	put(t, topics, 2, 0, 90)
	<-started
	purged, closed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(purged)
		topics.Forget(1, 2)
		topics.Search(Query{Vector: plane(0)})
		put(t, topics, 3, 0, 0)
	}()
	select {
	case <-purged:
	case <-time.After(10 * time.Second):
		t.Error("the purge of a scope waits for its build")
		close(release)
		<-purged
		return
	}
	go func() { topics.Close(); close(closed) }()
	select {
	case <-closed:
		t.Error("Close did not wait for the build of a freed scope")
	default:
	}
	close(release)
	<-closed
	if s.index.Status().Rebuilds != 1 {
		t.Error("the build had not ended when Close returned")
	}
}

// TestManyChangesDuringABuild changes every vector while the graph of the old ones is built.
func TestManyChangesDuringABuild(t *testing.T) {
	const n, dim = 2000, 16
	started, release := make(chan struct{}, 8), make(chan struct{})
	g := graphOver(t, dim, n, func(ctx context.Context, ids []uint64, vectors [][]float32, seed int64) (searcher, error) {
		started <- struct{}{}
		<-release
		return buildScan(ctx, ids, vectors, seed)
	})
	want := oracle{}
	rng := rand.New(rand.NewSource(5))
	fill := func() {
		for i, v := range unitVectors(rng, n, dim) {
			g.Upsert(uint64(i), v)
			want[uint64(i)] = v
		}
	}
	fill()
	<-started
	fill()
	close(release)
	g.builds.Wait()
	if s := g.Status(); s.Backend != backendGraph {
		t.Fatalf("status %+v, want a graph", s)
	}
	for _, q := range unitVectors(rng, 20, dim) {
		compare(t, g.Search(q, 8), want, q, 8, true)
	}
}
