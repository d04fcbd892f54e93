package topics

import (
	"math/rand"
	"strings"
	"sync"
	"testing"
	"time"

	"reprise/embed"
)

// prompts are vectors like those of anchors: many topics that are far from each other, in groups that share something.
func prompts(rng *rand.Rand, n, dim int) [][]float32 {
	groups := unitVectors(rng, n/20+1, dim)
	vectors := make([][]float32, n)
	for i := range vectors {
		vectors[i] = near(rng, groups[rng.Intn(len(groups))], 0.5)
	}
	return vectors
}

// ask makes enough searches near stored vectors for a self-check, and waits for it.
func (g namedGraph) ask(rng *rand.Rand, stored oracle) {
	g.Search(unitVectors(rng, 1, g.rows.dim)[0], 1) // begins the build
	g.settle()
	asked := 0
	for asked < trialLen {
		for _, v := range stored {
			g.Search(near(rng, v, 0.8), 1)
			asked++
		}
	}
	g.settle()
}

func (g namedGraph) put(want oracle, id uint64, v []float32) {
	g.Upsert(id, v)
	want[id] = v
}

// TestStatusBeforeTheFirstBuild: rows alone begin no build, as after a start, and the reason is not that they are too few.
func TestStatusBeforeTheFirstBuild(t *testing.T) {
	rng := rand.New(rand.NewSource(7))
	g, want := graphOver(t, 8, 20), oracle{}
	for i, v := range prompts(rng, 20, 8) {
		if s := g.status(); !strings.Contains(s.Why, "fewer than 20") {
			t.Fatalf("status %+v of %d rows", s, i)
		}
		g.put(want, uint64(i), v)
	}
	if s := g.status(); s.Backend != backendFlat || !strings.Contains(s.Why, "next search") {
		t.Errorf("status %+v of 20 rows", s)
	}
	g.Search(unitVectors(rng, 1, 8)[0], 1)
	g.settle()
	if s := g.status(); s.Nodes != 20 {
		t.Errorf("status %+v after a search, want a graph of 20 nodes", s)
	}
}

// TestGraphChurn replaces the rows of a graph several times over beside searches: every row found is in the set, with its score, and
// the nearest is found nearly always.
func TestGraphChurn(t *testing.T) {
	const dim, live = 48, 400
	rng := rand.New(rand.NewSource(7))
	g, want := graphOver(t, dim, 200), oracle{}
	for i, v := range prompts(rng, live, dim) {
		g.put(want, uint64(i), v)
	}
	g.ask(rng, want)
	if s := g.status(); s.Backend != backendGraph || s.Recall < minRecall {
		t.Fatalf("status %+v, want a graph that serves", s)
	}
	var mu sync.RWMutex // protects want from the readers
	queries := make(chan []float32, 100)
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for q := range queries {
				mu.RLock()
				for _, n := range g.Search(q, 8) {
					if v, ok := want[n.name]; !ok || !close32(embed.Dot(q, v), n.score) {
						t.Errorf("neighbour %v: wrong score, or not stored (%v)", n, ok)
					}
				}
				mu.RUnlock()
			}
		})
	}
	for i, v := range prompts(rng, 4*live, dim) {
		mu.Lock()
		if id := uint64(rng.Intn(live * 5 / 4)); i%3 == 0 {
			g.Delete(id)
			delete(want, id)
		} else {
			g.put(want, id, v)
		}
		mu.Unlock()
		if i%5 == 0 {
			queries <- near(rng, v, 0.8)
		}
	}
	close(queries)
	readers.Wait()
	g.ask(rng, want)
	if s := g.status(); s.Rebuilds != 1 || s.Faults > 0 || s.Backend != backendGraph || s.Tombstones > live/2 {
		t.Errorf("status %+v, want the graph of before, without a fault and with few tombstones", s)
	}
	g.measure(t, rng, want)
}

// measure compares a graph that serves with the oracle.
func (g namedGraph) measure(t *testing.T, rng *rand.Rand, want oracle) {
	t.Helper()
	missed, asked := 0, 0
	for _, v := range want {
		q := near(rng, v, 0.8)
		found, best := g.Search(q, 1), want.search(q, 1)
		if asked++; len(found) == 0 || found[0].score < best[0].score-1e-5 {
			missed++
		}
		if asked == 300 {
			break
		}
	}
	if missed*50 > asked {
		t.Errorf("%d of %d nearest rows were not found", missed, asked)
	}
}

// TestGraphInsertsWhatSearchesFound searches before each row, as requests do.
func TestGraphInsertsWhatSearchesFound(t *testing.T) {
	const dim = 48
	rng := rand.New(rand.NewSource(8))
	g, want := graphOver(t, dim, 200), oracle{}
	for i, v := range prompts(rng, 300, dim) {
		g.put(want, uint64(i), v)
	}
	g.ask(rng, want)
	taken := 0
	for i, v := range prompts(rng, 900, dim) {
		if len(g.searchAbove(v, 0.6)) == 0 {
			g.put(want, uint64(i)+300, v)
			s := sketchOf(v)
			short := shortened(&s)
			if l := g.graph.parts.misses[short[0]%missSlots].Load(); l != nil && l.sketch == short {
				taken++
			}
		}
	}
	if taken < 400 {
		t.Errorf("the nodes of %d searches are kept, want nearly all", taken)
	}
	g.ask(rng, want)
	g.measure(t, rng, want)
}

func (g namedGraph) searchAbove(v []float32, gate float32) []neighbor {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.index.Search(newQuery(v), 1, gate, nil)
}

// TestSelfCheckRefusesABadGraph takes half of the nodes away from a graph that serves.
func TestSelfCheckRefusesABadGraph(t *testing.T) {
	rng := rand.New(rand.NewSource(3))
	g, want := graphOver(t, 16, 100), oracle{}
	for i, v := range unitVectors(rng, 200, 16) {
		g.put(want, uint64(i), v)
	}
	g.Search(unitVectors(rng, 1, 16)[0], 1)
	g.settle()
	g.mu.Lock()
	for row := range g.graph.parts.nodeOf[:100] {
		g.graph.parts.nodeOf[row] = 0
	}
	g.mu.Unlock()
	g.ask(rng, want)
	if s := g.status(); s.Backend != backendFlat || s.Rebuilds != 1 || s.Recall > 0.7 || s.Recall < 0.3 || !strings.Contains(s.Why, "recall") {
		t.Errorf("status %+v, want flat for its recall", s)
	}
	q := unitVectors(rng, 1, 16)[0]
	compare(t, g.Search(q, 8), want, q, 8, true)
	for i, v := range unitVectors(rng, 1100, 16) { // enough changes for another attempt, which is better
		g.put(want, uint64(i)%200, v)
	}
	g.ask(rng, want)
	if s := g.status(); s.Backend != backendGraph || s.Rebuilds != 2 {
		t.Errorf("status %+v, want a graph at the second attempt", s)
	}
}

func TestRefusal(t *testing.T) {
	good := checkup{asked: trialLen, counted: 1000, nearest: 1000, any: 1000, graph: 3 * time.Microsecond, flat: 4 * time.Microsecond}
	for _, c := range []struct {
		change func(*checkup)
		want   string // part of the refusal; empty: it may serve
	}{
		{func(*checkup) {}, ""},
		{func(c *checkup) { c.nearest = 980 }, ""},
		{func(c *checkup) { c.nearest = 979 }, "recall"},
		{func(c *checkup) { c.graph += time.Microsecond / 2 }, "of the time of a scan"},
		{func(c *checkup) { c.counted = minCounted - 1; c.nearest = c.counted }, "too few"},
	} {
		got := good
		c.change(&got)
		if why := got.refusal(worthwhile); (why == "") != (c.want == "") || !strings.Contains(why, c.want) {
			t.Errorf("%+v: %q, want %q", got, why, c.want)
		}
	}
}

// TestPanicsFallBack breaks a graph that serves, or that is built: a scan answers, and the graph is given up.
func TestPanicsFallBack(t *testing.T) {
	for name, damage := range map[string]func(p *parts){
		"in a search": func(p *parts) { p.nodeOf = nil },
		"in a build":  func(p *parts) { p.whole, p.breadth, p.next = false, 0, -1 },
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewSource(3))
			g, want := serving{graphOver(t, 16, 100)}, oracle{}
			for i, v := range unitVectors(rng, 300, 16) {
				g.put(want, uint64(i), v)
			}
			q := near(rng, want[7], 0.9)
			compare(t, g.Search(q, 1), want, q, 1, true)
			g.mu.Lock()
			damage(g.graph.parts)
			g.mu.Unlock()
			for range 2 {
				compare(t, g.named.Search(q, 8), want, q, 8, true)
				g.graph.builder.wake(g.graph)
				g.settle()
			}
			if s := g.status(); s.Backend != backendFlat || s.Faults != 1 || !strings.Contains(s.Why, "panicked") || g.graph.parts != nil {
				t.Errorf("status %+v, want flat after 1 fault", s)
			}
		})
	}
}

// TestSmallAgain: a graph is dropped when most rows have left.
func TestSmallAgain(t *testing.T) {
	rng := rand.New(rand.NewSource(3))
	g, want := serving{graphOver(t, 16, 100)}, oracle{}
	for i, v := range unitVectors(rng, 300, 16) {
		g.put(want, uint64(i), v)
	}
	q := near(rng, want[299], 0.9)
	g.Search(q, 1)
	for id := range uint64(260) {
		g.Delete(id)
		delete(want, id)
	}
	if s := g.status(); s.Backend != backendFlat || s.Nodes != 0 || !strings.Contains(s.Why, "fewer") {
		t.Errorf("status %+v, want flat", s)
	}
	compare(t, g.Search(q, 3), want, q, 3, true)
}

// TestFreedScopeDoesNotWaitForItsBuild purges a scope while its graph is built by a step that takes its time: neither the purge nor
// a search waits, only Close. Line 25 of the list in SECURITY.md.
func TestFreedScopeDoesNotWaitForItsBuild(t *testing.T) {
	topics := inPlane(t, nil)
	put(t, topics, 1, 0, 0)
	s := topics.scope(ScopeID{})
	g := newGraph(s.index.(*graph).flat, graphOptions{min: 1, route: 0.5, owner: &s.mu, builder: &topics.builder})
	s.index = g
	g.building.Lock() // as a step does
	search(topics, Query{Vector: plane(0), Hit: 1})
	put(t, topics, 2, 0, 90)
	search(topics, Query{Vector: plane(45), Hit: 1})
	if !topics.builder.running {
		t.Fatal("no build has begun")
	}
	purged, closed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(purged)
		topics.Forget(1, 2)
		topics.Search(Query{Vector: plane(0)})
		put(t, topics, 3, 0, 0)
	}()
	select {
	case <-purged:
	case <-time.After(time.Minute):
		t.Error("the purge of a scope waits for its build")
		g.building.Unlock()
		<-purged
		return
	}
	go func() { topics.Close(); close(closed) }()
	select {
	case <-closed:
		t.Error("Close did not wait for the step of a freed scope")
	default:
	}
	g.building.Unlock()
	<-closed
	if topics.builder.running || g.Status().Rebuilds != 0 {
		t.Error("the build of a freed scope went on")
	}
}
