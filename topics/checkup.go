package topics

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"
)

const (
	trialLen   = 1024 // queries of a self-check
	minCounted = 200  // of which as many must have a row over the gate
	gateStep   = 0.1  // by which the gate is lowered where fewer have one,
	gateDrop   = 0.25 // until it is lower by more than this
	minRecall  = 0.98 // a graph with lower recall does not serve
	goodRecall = 0.985
)

// breadths are the numbers of nearest nodes that a search looks for. A self-check takes the first that finds enough.
var breadths = []int{64, 96, 128, 192, 256, 384, 512}

// trial gathers the queries of requests for a self-check, which drops them.
type trial struct {
	mu      sync.Mutex // protects queries
	queries []*query
}

// offer takes a copy of a query, and reports whether it was the last that is needed.
func (t *trial) offer(q *query) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.queries) >= trialLen {
		return false
	}
	t.queries = append(t.queries, &query{vector: slices.Clone(q.vector), sketch: q.sketch, first: q.first})
	return len(t.queries) == trialLen
}

func (t *trial) full() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.queries) >= trialLen
}

// checkup compares a graph with a scan of the same rows.
type checkup struct {
	asked   int // queries
	gate    float32
	counted int // queries whose nearest row passes the gate,
	nearest int // those for which the graph found it,
	any     int // or any row over the gate
	breadth int

	graph, flat time.Duration // medians
}

// check makes a self-check with the queries gathered. The graph then serves, or is given up.
func (g *graph) check(p *parts) {
	c, ended := g.examine(p, p.trial.queries)
	if !ended {
		return
	}
	why := c.refusal(g.options.share)
	if why != "" {
		g.refuse(why)
	}
	g.options.owner.Lock()
	defer g.options.owner.Unlock()
	g.status.Recall = c.recall()
	if why == "" {
		g.refusals = 0
		p.breadth, p.trial, p.changes = c.breadth, nil, 0
		g.status.Backend = backendGraph
		g.status.Why = fmt.Sprintf("passed its self-check, in %.2f of the time of a scan", c.share())
	}
}

// exact is what the scan found for a query: the nearest row over the gate, or none.
type exact struct {
	query *query
	best  []neighbor
}

// examine searches the scan and the graph for each query, with the smallest breadth that finds enough. Where too few queries have a row
// over the route gate, because most are of new topics, it asks for rows over a lower one, which are harder to find. It reports false where it
// ended early because the graph was stopped.
func (g *graph) examine(p *parts, queries []*query) (c checkup, ended bool) {
	c.asked = len(queries)
	var want []exact
	for c.gate = float32(g.options.route); ; c.gate -= gateStep {
		if want, ended = c.scan(g, queries); !ended {
			return c, false
		}
		if c.counted >= minCounted || c.gate < float32(g.options.route)-gateDrop {
			break
		}
	}
	for _, c.breadth = range breadths {
		if !c.try(g, p, want) {
			return c, false
		}
		if c.recall() >= goodRecall {
			break
		}
	}
	return c, true
}

// scan is the exact answers to the queries.
func (c *checkup) scan(g *graph, queries []*query) (want []exact, ended bool) {
	var times []time.Duration
	c.counted = 0
	for _, q := range queries {
		if g.stopped.Load() {
			return nil, false
		}
		one, took := c.scanOne(g, q)
		if times, want = append(times, took), append(want, one); len(one.best) > 0 {
			c.counted++
		}
		runtime.Gosched()
	}
	if c.flat == 0 { // at the route gate
		c.flat = median(times)
	}
	return want, true
}

func (c *checkup) scanOne(g *graph, q *query) (exact, time.Duration) {
	owner := g.options.owner
	owner.RLock()
	defer owner.RUnlock()
	start := time.Now()
	best := g.flat.search(q, everywhere, 1, c.gate, nil)
	return exact{q, best}, time.Since(start)
}

// try searches the graph for each query, and counts what it finds. Queries whose row has left since do not count.
func (c *checkup) try(g *graph, p *parts, want []exact) (ended bool) {
	var times []time.Duration
	c.counted, c.nearest, c.any = 0, 0, 0
	for _, w := range want {
		if g.stopped.Load() || p.broken.Load() {
			return false
		}
		times = append(times, c.tryOne(g, p, w))
		runtime.Gosched()
	}
	c.graph = median(times)
	return true
}

func (c *checkup) tryOne(g *graph, p *parts, w exact) time.Duration {
	g.options.owner.RLock()
	defer g.options.owner.RUnlock()
	start := time.Now()
	got := p.delta.Search(w.query, 1, c.gate, nil)
	got, ok := g.merge(p, c.breadth, w.query, 1, c.gate, got)
	took := time.Since(start)
	if len(w.best) == 0 || !g.flat.has(w.best[0].row) || g.flat.names.nameOf(w.best[0].row) != w.best[0].name {
		return took
	}
	c.counted++
	if ok && len(got) > 0 {
		c.any++
		if got[0].score >= w.best[0].score {
			c.nearest++
		}
	}
	return took
}

// recall is the share of the counted queries for which the graph found the nearest row.
func (c *checkup) recall() float64 { return float64(c.nearest) / float64(max(c.counted, 1)) }

// share is the time of a search in the graph as a part of that of a scan.
func (c *checkup) share() float64 { return float64(c.graph) / float64(c.flat) }

// refusal returns why a graph must not serve, "" if it may. Its search may take the given share of the time of a scan.
func (c *checkup) refusal(share float64) string {
	switch {
	case c.counted < minCounted:
		return fmt.Sprintf("only %d of %d queries are near any topic, too few to check a graph", c.counted, c.asked)
	case c.recall() < minRecall:
		return fmt.Sprintf("recall %.3f of the graph is below %.2f; for %.3f of the queries it found a topic", c.recall(), minRecall, float64(c.any)/float64(c.counted))
	case c.share() > share:
		return fmt.Sprintf("the graph takes %.2f of the time of a scan, want at most %.2f", c.share(), share)
	}
	return ""
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
