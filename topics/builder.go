package topics

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"reprise/topics/internal/hnsw"
)

const (
	batchLen = 64   // rows that are inserted between two locks of the owner
	fillLen  = 4096 // rows that a step of the first build looks at
	sweepLen = 256  // nodes of a step of a sweep

	graphSeed = 1 // of the layers of the nodes
)

// builder runs the background work of all graphs of a Topics: one goroutine, which ends when nothing is left to do.
type builder struct {
	mu      sync.Mutex // protects what follows; taken after an owner's lock or alone
	queue   []*graph
	running bool
	closed  bool
	runs    sync.WaitGroup
}

// wake queues a graph that has something to do.
func (b *builder) wake(g *graph) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || slices.Contains(b.queue, g) {
		return
	}
	b.queue = append(b.queue, g)
	if !b.running {
		b.running = true
		b.runs.Go(b.run)
	}
}

// run takes the graphs in turns.
func (b *builder) run() {
	for g := b.take(nil); g != nil; {
		again := g
		if !g.step() {
			again = nil
		}
		g = b.take(again)
	}
}

// take returns the next graph, nil where none is left, and queues the last one again if it has more to do.
func (b *builder) take(again *graph) *graph {
	b.mu.Lock()
	defer b.mu.Unlock()
	if again != nil && !slices.Contains(b.queue, again) {
		b.queue = append(b.queue, again)
	}
	if len(b.queue) == 0 || b.closed {
		b.queue, b.running = nil, false
		return nil
	}
	g := b.queue[0]
	b.queue = slices.Delete(b.queue, 0, 1)
	return g
}

// close ends the work after the step that runs, some ms.
func (b *builder) close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.runs.Wait()
}

// insertion is a row on its way into the graph.
type insertion struct {
	row    int32
	sketch hnsw.Sketch
	near   []hnsw.Node
	node   hnsw.Node
	gone   bool // the row left meanwhile
}

// wakeIfDue wakes the builder where enough has changed.
func (g *graph) wakeIfDue() {
	if p := g.parts; !p.whole || p.delta.Len() >= minDelta || p.sweepDue() {
		g.builder.wake(g)
	}
}

// sweepDue: searches pass through tombstones, a fifth of the nodes cost them a fifth of their time.
func (p *parts) sweepDue() bool { return p.graph.Dead() > minDelta && p.graph.Dead()*4 > p.graph.Len() }

// step does some milliseconds of work, and reports whether there is more. A panic gives the graph up.
func (g *graph) step() (more bool) {
	g.building.Lock()
	defer g.building.Unlock()
	defer func() {
		if p := recover(); p != nil {
			g.faults.Add(1)
			g.refuse(fmt.Sprintf("the graph panicked: %v", p))
			more = false
		}
	}()
	p := g.begin()
	switch {
	case p == nil || g.stopped.Load():
		return false
	case p.broken.Load():
		g.refuse("the graph panicked in a search")
		return false
	case g.takeBatch(p):
		g.insert(p)
		return true
	case p.sweeping || g.locked(p.sweepDue):
		g.sweep(p)
		return true
	case p.trial != nil && p.trial.full():
		g.check(p)
	}
	return false
}

// locked calls f under the lock of the owner.
func (g *graph) locked(f func() bool) bool {
	g.options.owner.RLock()
	defer g.options.owner.RUnlock()
	return f()
}

// begin returns the graph, which it makes where one is due.
func (g *graph) begin() *parts {
	g.options.owner.Lock()
	defer g.options.owner.Unlock()
	if g.parts == nil && g.dueLocked() && !g.stopped.Load() {
		g.changes = 0
		g.status.Rebuilds++
		g.status.Why = "a graph is being built"
		g.parts = newParts(hnsw.New(graphSeed), g.flat)
	}
	return g.parts
}

func newParts(graph *hnsw.Graph, flat *flat) *parts {
	return &parts{graph: graph, nodeOf: make([]hnsw.Node, flat.rows.end), delta: newFlat(flat.rows, flat.names)}
}

// takeBatch chooses the rows to insert next, and reports whether there may be more: in the first build rows by their numbers, then
// those of the delta.
func (g *graph) takeBatch(p *parts) bool {
	g.options.owner.Lock()
	defer g.options.owner.Unlock()
	p.batch = p.batch[:0]
	if !p.whole {
		end := g.flat.rows.end
		for to := min(p.next+fillLen, end); p.next < to && len(p.batch) < batchLen; p.next++ {
			if g.flat.has(p.next) {
				p.take(p.next)
			}
		}
		if p.next == end {
			g.complete(p)
		}
		return true
	}
	if p.delta.Len() < minDelta {
		return false
	}
	for row := range p.delta.all {
		if p.take(row); len(p.batch) == batchLen {
			break
		}
	}
	return true
}

// complete ends the first build: queries are gathered for the self-check.
func (g *graph) complete(p *parts) {
	p.whole, p.trial = true, new(trial)
	g.status.Why = fmt.Sprintf("a graph is built, and %d queries are awaited to check it", trialLen)
}

// take adds a row to the batch.
func (p *parts) take(row int32) {
	short := shortened(p.delta.rows.sketch(row))
	p.batch = append(p.batch, insertion{row: row, sketch: short, near: p.takeMiss(&short)})
}

// insert inserts the rows of the batch. Searches find them by their keys before nodeOf has them, and leave them out until then: they
// are found in the delta.
func (g *graph) insert(p *parts) {
	start := time.Now()
	for i := range p.batch {
		if g.stopped.Load() {
			return
		}
		in := &p.batch[i]
		in.node = p.graph.Insert(keyOfRow(in.row), &in.sketch, in.near)
		runtime.Gosched() // requests come first
	}
	g.options.owner.Lock()
	defer g.options.owner.Unlock()
	p.built += time.Since(start)
	for _, in := range p.batch {
		if in.gone {
			p.graph.Kill(in.node)
			continue
		}
		p.nodeOf[in.row] = in.node
		p.delta.Remove(in.row)
	}
	p.batch = p.batch[:0]
	if p.trial == nil && p.changes > max(minChanges, g.flat.Len()/4) {
		p.trial = new(trial)
	}
}

// sweep does a step of a sweep. Searches that began before its end hold the lock of the owner, and are waited for.
func (g *graph) sweep(p *parts) {
	p.sweeping = true
	if !p.graph.Sweep(sweepLen) {
		return
	}
	g.options.owner.Lock()
	//lint:ignore SA2001 the lock is taken only to wait for those searches
	g.options.owner.Unlock()
	p.graph.Release()
	p.sweeping = false
}

// refuse gives the graph up for a reason that the status shows.
func (g *graph) refuse(why string) {
	g.options.owner.Lock()
	defer g.options.owner.Unlock()
	g.refusals++
	g.dropLocked(why)
}
