package topics

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"reprise/topics/internal/hnsw"
)

const (
	// graphFrom is the number of anchors from which on a graph is tried. Its search takes 0.6 of the time of a scan of all rows at 300,000 anchors and
	// 0.25 at 1,000,000, a scan of the nearest cells 0.13 and 0.06 (measured apart, the cells against all cells); but it finds 98.5 % of the
	// nearest anchors, and the cells 95 % of 1,000,000. An insertion takes a quarter of a search. To build it costs as much CPU as an eighth to a third as many scans of all as there are anchors.
	graphFrom  = 1_000_000
	worthwhile = 0.75 // of the time of a scan: a search may be followed by an insertion, which costs a quarter of it

	minChanges = 1024 // changes after which a set of any size may be tried again
	minDelta   = 128  // rows that wait for the builder; a scan of them takes less than 1 µs
	missSlots  = 2048 // searches without a result whose nodes are kept for the row that may follow
)

// graph is an index that searches an HNSW graph where that finds more than a scan of the nearest cells, and is faster than one of all.
// It has every row in a flat too, which answers until the graph is complete and has passed its self-check, and again whenever the graph fails.
//
// The graph grows with the set. A new row is in a delta first, which is scanned; the builder inserts the rows of the delta in batches
// and, beside its searches, needs the lock of the owner for some microseconds. A row that leaves makes its node a tombstone, and a
// sweep removes the tombstones when they are a fifth of the nodes. A graph that is built again when a quarter has changed would
// cost four insertions for each change; one insertion costs 0.1 to 0.3 ms of CPU, and less than half of that where it reuses what the search
// for the same vector found, as it does where a miss makes a topic.
type graph struct {
	options graphOptions
	builder *builder
	stopped atomic.Bool
	faults  atomic.Int64

	building sync.Mutex // held by each step of the builder

	// The lock of the owner protects what follows.
	flat     *flat // every row
	parts    *parts
	changes  int // rows that joined or left since the last attempt
	refusals int // in a row
	status   IndexStatus
}

// graphOptions are the settings of a graph.
type graphOptions struct {
	min     int           // rows from which on a graph is tried
	share   float64       // of the time of a scan: the most that a search may take
	route   float64       // a query that has no row over this gate does not count in the self-check
	owner   *sync.RWMutex // protects the rows and the graph
	builder *builder
}

// parts is a graph with what belongs to it. Another attempt makes other parts.
type parts struct {
	graph    *hnsw.Graph
	nodeOf   []hnsw.Node // of each row; 0: it is not in the graph
	delta    *flat       // rows of the set that the graph lacks, once it is complete
	batch    []insertion // rows that the builder inserts now
	next     int32       // the first build has come to this row
	whole    bool        // the first build has ended
	sweeping bool        // a sweep is under way
	breadth  int         // with which it serves; 0: it does not serve
	trial    *trial      // gathers queries for the next self-check; nil: none is due
	changes  int         // since the last self-check
	built    time.Duration
	broken   atomic.Bool // it panicked in a search
	misses   [missSlots]atomic.Pointer[miss]
}

// miss is the nodes that a search found where no row passed the gate: then the query may become an anchor itself.
type miss struct {
	sketch hnsw.Sketch
	nodes  []hnsw.Node
}

var _ index = (*graph)(nil)

// newGraph makes a graph over flat, which only the graph may change from then on. The owner's lock must be held for each call, for
// reading in Search, Len and Status.
func newGraph(flat *flat, o graphOptions) *graph {
	g := &graph{options: o, builder: o.builder, flat: flat}
	g.status = IndexStatus{Backend: backendFlat, Why: fmt.Sprintf("fewer than %d vectors", o.min)}
	return g
}

// stop ends the background work, and does not wait for its end.
func (g *graph) stop() { g.stopped.Store(true) }

// Len implements index.
func (g *graph) Len() int { return g.flat.Len() }

// Add implements index.
func (g *graph) Add(row int32) {
	if g.flat.has(row) {
		return
	}
	g.flat.Add(row)
	g.changes++
	p := g.parts
	if p == nil {
		return
	}
	p.change(row)
	if p.whole || row < p.next {
		p.delta.Add(row)
	}
	g.wakeIfDue()
}

// Remove implements index.
func (g *graph) Remove(row int32) {
	if !g.flat.has(row) {
		return
	}
	g.flat.Remove(row)
	g.changes++
	p := g.parts
	if p == nil {
		return
	}
	p.change(row)
	p.delta.Remove(row)
	if n := p.nodeOf[row]; n != 0 {
		p.graph.Kill(n)
		p.nodeOf[row] = 0
	}
	for i := range p.batch {
		if p.batch[i].row == row {
			p.batch[i].gone = true
		}
	}
	if g.flat.Len() < g.options.min/2 {
		g.dropLocked(fmt.Sprintf("fewer than %d vectors", g.options.min/2))
		return
	}
	g.wakeIfDue()
}

// change counts, and makes room for the node of a row.
func (p *parts) change(row int32) {
	p.changes++
	for int(row) >= len(p.nodeOf) {
		p.nodeOf = append(p.nodeOf, 0)
	}
}

// dropLocked gives a graph up until much has changed.
func (g *graph) dropLocked(why string) {
	g.parts, g.changes = nil, 0
	g.status.Backend, g.status.Why = backendFlat, why
}

// Search implements index. With a graph it may miss a row, but every row it returns is in the set and every score exact.
func (g *graph) Search(q *query, k int, gate float32, dst []neighbor) []neighbor {
	g.observe(q)
	if found, ok := g.searchGraph(q, k, gate, dst); ok {
		return found
	}
	return g.flat.Search(q, k, gate, dst)
}

// observe begins a first attempt, and gathers queries for a self-check. An attempt begins with a search, and not with a row: at a start
// all rows are added first.
func (g *graph) observe(q *query) {
	if p := g.parts; p == nil {
		if g.dueLocked() {
			g.builder.wake(g)
		}
	} else if p.trial != nil && p.trial.offer(q) {
		g.builder.wake(g)
	}
}

// dueLocked reports whether a graph is to be tried: at once if none was, then each time that half of the rows have changed, and half as
// often after each refusal.
func (g *graph) dueLocked() bool {
	n := g.flat.Len()
	return n >= g.options.min && (g.refusals == 0 || g.changes > max(minChanges, n/2)<<min(g.refusals-1, 16))
}

// searchGraph merges what the graph and the delta find. It is not ok if no graph serves, if it panics, or if it reaches too few rows.
func (g *graph) searchGraph(q *query, k int, gate float32, dst []neighbor) (found []neighbor, ok bool) {
	p := g.parts
	if p == nil || p.breadth == 0 || len(q.vector) != g.flat.rows.dim {
		return dst, false
	}
	found = p.delta.Search(q, k, gate, dst)
	return g.merge(p, p.breadth, q, k, gate, found)
}

// merge adds the nearest rows of the graph to those found in the delta.
func (g *graph) merge(p *parts, breadth int, q *query, k int, gate float32, found []neighbor) (all []neighbor, ok bool) {
	defer func() {
		if recover() != nil {
			g.faults.Add(1)
			p.broken.Store(true)
			g.builder.wake(g)
			all, ok = found[:0], false
		}
	}()
	if p.broken.Load() || k < 1 {
		return found, false
	}
	short := shortened(&q.sketch)
	q.found = p.graph.Search(&short, max(breadth, 2*k), q.found[:0])
	best := nearest{names: g.flat.names, gate: gate, best: best[neighbor]{k: k, items: found}}
	s := newScan(g.flat.rows, q, forAnchor, best.min(), &best)
	s.near = p.candidates(q.found, cutFor(hnsw.Bits, s.min, s.z), s.near)
	s.check()
	if len(best.items) == 0 {
		p.keepMiss(short, q.found)
	}
	return best.items, gate > anyScore || len(best.items) >= min(k, g.flat.Len())
}

// candidates appends the rows of nodes that differ in at most cut bits. A row that is in the delta too is left out: it changed.
func (p *parts) candidates(found []hnsw.Found, cut int, rows []candidate) []candidate {
	for _, f := range found {
		if f.Distance > cut {
			break
		}
		if row := rowOfKey(f.Key); p.nodeOf[row] == f.Node {
			rows = append(rows, candidateOf(row, f.Distance))
		}
	}
	return rows
}

// keepMiss keeps the nodes of a search until another one takes the place.
func (p *parts) keepMiss(s hnsw.Sketch, found []hnsw.Found) {
	l := &miss{sketch: s, nodes: make([]hnsw.Node, len(found))}
	for i, f := range found {
		l.nodes[i] = f.Node
	}
	p.misses[s[0]%missSlots].Store(l)
}

// takeMiss returns the nodes that a search for a sketch found, if they are still kept.
func (p *parts) takeMiss(s *hnsw.Sketch) []hnsw.Node {
	at := &p.misses[s[0]%missSlots]
	if l := at.Load(); l != nil && l.sketch == *s && at.CompareAndSwap(l, nil) {
		return l.nodes
	}
	return nil
}

// shortened is the part of a sketch that the graph has. With 512 bits a search of 300,000 real texts found the nearest with a probability of .977
// instead of .973 at a breadth of 128, .981 and .982 at 192, .985 and .984 at 256, and took 1.2 to 1.4 times as long; an insertion 1.6 times.
func shortened(s *sketch) hnsw.Sketch { return hnsw.Sketch(s[:len(hnsw.Sketch{})]) }

// The key of a node is a row; 0 is none.
func keyOfRow(row int32) uint64 { return uint64(row) + 1 }
func rowOfKey(key uint64) int32 { return int32(key - 1) }

// Status returns which form serves and why.
func (g *graph) Status() IndexStatus {
	s := g.status
	s.Faults = int(g.faults.Load())
	if p := g.parts; p != nil {
		s.Nodes, s.Tombstones, s.Breadth, s.Built = p.graph.Len(), p.graph.Dead(), p.breadth, p.built
		s.Pending = g.flat.Len() - s.Nodes
	} else if g.dueLocked() {
		s.Why = "the next search begins to build a graph"
	}
	return s
}
