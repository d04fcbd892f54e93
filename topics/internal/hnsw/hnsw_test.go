package hnsw

import (
	"math/rand"
	"slices"
	"sync"
	"testing"
)

// cloud makes sketches like those of prompts: centres at random, most of them near others, each member some 60 of 256 bits from its
// centre.
func cloud(rng *rand.Rand, n int) []Sketch {
	all := make([]Sketch, n)
	for i := range all {
		for w := range all[i] {
			all[i][w] = rng.Uint64()
		}
		if i%8 != 0 {
			all[i] = nearTo(rng, all[i/8*8], 60)
		}
	}
	rng.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// nearTo returns s with up to n of its bits changed.
func nearTo(rng *rand.Rand, s Sketch, n int) Sketch {
	for range n {
		bit := rng.Intn(Bits)
		s[bit/64] ^= 1 << (bit % 64)
	}
	return s
}

// model is a graph beside what it must hold.
type model struct {
	t      testing.TB
	graph  *Graph
	stored map[uint64]Sketch
	nodes  map[uint64]Node
	keys   []uint64 // of stored, in an order that depends on nothing but the calls
}

func newModel(t testing.TB) *model {
	return &model{t: t, graph: New(1), stored: map[uint64]Sketch{}, nodes: map[uint64]Node{}}
}

func (m *model) insert(key uint64, s Sketch, near []Node) {
	m.stored[key], m.nodes[key] = s, m.graph.Insert(key, &s, near)
	m.keys = append(m.keys, key)
}

func (m *model) kill(key uint64) {
	m.graph.Kill(m.nodes[key])
	delete(m.stored, key)
	delete(m.nodes, key)
	i := slices.Index(m.keys, key)
	m.keys = slices.Delete(m.keys, i, i+1)
}

// killSome kills n nodes, any: the same in each run, because how much is found depends on them.
func (m *model) killSome(rng *rand.Rand, n int) {
	for range min(n, len(m.keys)) {
		m.kill(m.keys[rng.Intn(len(m.keys))])
	}
}

// check searches near stored sketches: every key found must be stored, at the distance found, and the nearest be found nearly always.
func (m *model) check(rng *rand.Rand, queries int) {
	m.t.Helper()
	missed := 0
	for range queries {
		q := nearTo(rng, m.stored[m.keys[rng.Intn(len(m.keys))]], 40)
		found := m.graph.Search(&q, 128, nil)
		for i, f := range found {
			s, ok := m.stored[f.Key]
			if !ok || s.distance(&q) != f.Distance || m.nodes[f.Key] != f.Node || i > 0 && f.Distance < found[i-1].Distance {
				m.t.Fatalf("found %+v: not stored (%v), or not at this distance", f, ok)
			}
		}
		nearest := Bits
		for _, s := range m.stored {
			nearest = min(nearest, s.distance(&q))
		}
		if len(found) == 0 || found[0].Distance > nearest {
			missed++
		}
	}
	if missed*50 > queries {
		m.t.Errorf("%d of %d nearest sketches were not found among %d, with %d tombstones", missed, queries, len(m.stored), m.graph.Dead())
	}
	if m.graph.Len() != len(m.stored) {
		m.t.Errorf("%d nodes are alive, want %d", m.graph.Len(), len(m.stored))
	}
}

// sweep makes a whole pass.
func (m *model) sweep() {
	for !m.graph.Sweep(97) {
	}
	m.graph.Release()
}

func TestSearch(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	m := newModel(t)
	if q := (Sketch{}); len(m.graph.Search(&q, 10, nil)) != 0 {
		t.Error("an empty graph finds something")
	}
	for i, s := range cloud(rng, 1200) {
		m.insert(uint64(i)+1, s, nil)
		if i == 0 || i == 10 {
			m.check(rng, 10)
		}
	}
	m.check(rng, 200)
}

// TestChurn replaces the nodes several times over, with a sweep when a quarter is dead.
func TestChurn(t *testing.T) {
	rng := rand.New(rand.NewSource(2))
	m := newModel(t)
	sketches := cloud(rng, 1600)
	for i, s := range sketches[:400] {
		m.insert(uint64(i)+1, s, nil)
	}
	for i, s := range sketches[400:] {
		m.killSome(rng, 1)
		m.insert(uint64(i)+401, s, nil)
		if m.graph.Dead()*3 > m.graph.Len() {
			m.check(rng, 50)
			m.sweep()
			m.check(rng, 50)
			if m.graph.Dead() != 0 {
				t.Fatalf("%d tombstones after a sweep", m.graph.Dead())
			}
		}
	}
	if places := int(m.graph.span); places > 600 {
		t.Errorf("%d places for 400 nodes: those of tombstones are not used again", places)
	}
}

// TestShrink kills a third of the nodes again and again: those that are left can all be reached.
func TestShrink(t *testing.T) {
	rng := rand.New(rand.NewSource(9))
	m := newModel(t)
	for i, s := range cloud(rng, 1500) {
		m.insert(uint64(i)+1, s, nil)
	}
	for len(m.stored) > 40 {
		m.killSome(rng, len(m.stored)/3)
		m.sweep()
		m.check(rng, 40)
		if lost := m.unreached(); len(lost) > 0 {
			t.Errorf("of %d nodes %v cannot be reached", len(m.stored), lost)
		}
	}
}

// TestSweepLinksAgain takes all links to some nodes away, as happens to one of some thousand when lists are chosen again.
func TestSweepLinksAgain(t *testing.T) {
	rng := rand.New(rand.NewSource(12))
	m := newModel(t)
	for i, s := range cloud(rng, 300) {
		m.insert(uint64(i)+1, s, nil)
	}
	v, lost := m.graph.view.Load(), map[Node]bool{}
	for n := Node(1); len(lost) < 9; n++ {
		lost[n] = v.top(n) == 0
	}
	for n := Node(1); n < m.graph.span; n++ {
		var kept []hit
		for i := range v.links(n, 0) {
			if to := Node(v.links(n, 0)[i].Load()); to != 0 && !lost[to] {
				kept = append(kept, newHit(to, 0))
			}
		}
		setLinks(v.links(n, 0), kept)
	}
	if len(m.unreached()) == 0 {
		t.Fatal("all nodes can be reached, so that the test proves nothing")
	}
	m.sweep()
	if lost := m.unreached(); len(lost) > 0 {
		t.Errorf("%v cannot be reached", lost)
	}
	for key, n := range m.nodes {
		s := m.stored[key]
		if found := m.graph.Search(&s, 10, nil); lost[n] && !slices.ContainsFunc(found, func(f Found) bool { return f.Node == n }) {
			t.Errorf("node %d is not found", n)
		}
	}
}

// unreached is the nodes to which no path of links in the base layer leads from that at which searches begin.
func (m *model) unreached() (lost []Node) {
	v, open, seen := m.graph.view.Load(), []Node{Node(m.graph.entry.Load())}, map[Node]bool{0: true}
	for len(open) > 0 {
		n := open[0]
		if open = open[1:]; seen[n] {
			continue
		}
		seen[n] = true
		for i := range v.links(n, 0) {
			open = append(open, Node(v.links(n, 0)[i].Load()))
		}
	}
	for _, n := range m.nodes {
		if !seen[n] {
			lost = append(lost, n)
		}
	}
	return lost
}

// TestInsertDuringSweep kills and inserts between the parts of a pass.
func TestInsertDuringSweep(t *testing.T) {
	rng := rand.New(rand.NewSource(3))
	m := newModel(t)
	next := uint64(1)
	for _, n := range []int{500, 100, 100} {
		for _, s := range cloud(rng, n) {
			m.insert(next, s, nil)
			next++
		}
		m.killSome(rng, 150) // more than are inserted next, so that places stay free
		for done := false; !done; {
			m.killSome(rng, 1)
			m.insert(next, cloud(rng, 1)[0], nil)
			next++
			done = m.graph.Sweep(10)
		}
		m.graph.Release()
		v, free := m.graph.view.Load(), map[Node]bool{}
		for _, n := range m.graph.free {
			free[n] = true
		}
		if places := int(m.graph.span) - 1; len(free) != len(m.graph.free) || len(free)+m.graph.Len()+m.graph.Dead() != places {
			t.Fatalf("%d places, of which %d are free (%d times), %d alive and %d dead", places, len(free), len(m.graph.free), m.graph.Len(), m.graph.Dead())
		}
		for n := Node(1); n < m.graph.span; n++ {
			for i := range v.links(n, 0) {
				if to := Node(v.links(n, 0)[i].Load()); free[to] {
					t.Fatalf("node %d is linked to the free place %d", n, to)
				}
			}
		}
		m.check(rng, 50)
	}
}

// TestAllDead: a graph of tombstones takes new nodes, and so does one that was swept empty.
func TestAllDead(t *testing.T) {
	rng := rand.New(rand.NewSource(4))
	m := newModel(t)
	for range 3 {
		for _, s := range cloud(rng, 300) {
			m.insert(rng.Uint64()|1, s, nil)
		}
		m.check(rng, 50)
		m.killSome(rng, len(m.keys))
		q := cloud(rng, 1)[0]
		if found := m.graph.Search(&q, 10, nil); len(found) > 0 {
			t.Fatalf("found %v among tombstones", found)
		}
	}
	m.sweep()
	if len(m.graph.free) != int(m.graph.span)-1 {
		t.Errorf("%d of %d places are free", len(m.graph.free), m.graph.span-1)
	}
	for _, s := range cloud(rng, 300) {
		m.insert(rng.Uint64()|1, s, nil)
	}
	m.check(rng, 50)
}

// TestInsertNear gives Insert what a search found before: the graph is as good.
func TestInsertNear(t *testing.T) {
	rng := rand.New(rand.NewSource(5))
	m := newModel(t)
	sketches := cloud(rng, 1500)
	for i, s := range sketches {
		var near []Node
		if i > 500 {
			for _, f := range m.graph.Search(&s, 128, nil) {
				near = append(near, f.Node)
			}
		}
		if i%10 == 9 { // a node that was found and is gone
			m.kill(uint64(i))
		}
		m.insert(uint64(i)+1, s, near)
	}
	m.check(rng, 200)
}

// TestConcurrent searches beside a builder that inserts, kills and sweeps. The race detector checks it.
func TestConcurrent(t *testing.T) {
	rng := rand.New(rand.NewSource(6))
	sketches := cloud(rng, 600)
	g := New(1)
	var searches sync.RWMutex // as the owner separates Release from searches
	var readers sync.WaitGroup
	done := make(chan struct{})
	for r := range 2 {
		readers.Go(func() {
			rng := rand.New(rand.NewSource(int64(r)))
			for {
				select {
				case <-done:
					return
				default:
				}
				searches.RLock()
				q := nearTo(rng, sketches[rng.Intn(len(sketches))], 20)
				for _, f := range g.Search(&q, 32, nil) {
					if f.Key == 0 || f.Key > uint64(len(sketches)) {
						t.Errorf("found %+v", f)
					}
				}
				searches.RUnlock()
			}
		})
	}
	nodes := make([]Node, len(sketches))
	for i := range sketches {
		nodes[i] = g.Insert(uint64(i)+1, &sketches[i], nil)
		if i > 300 {
			g.Kill(nodes[i-300])
		}
		if i > 500 && g.Sweep(20) {
			searches.Lock()
			//lint:ignore SA2001 the lock is taken only to wait for the searches of before
			searches.Unlock()
			g.Release()
		}
	}
	close(done)
	readers.Wait()
}
