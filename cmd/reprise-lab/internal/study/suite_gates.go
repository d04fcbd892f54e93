package study

import (
	"fmt"
	"math"
	"sync"

	"reprise/cmd/reprise-lab/internal/matching"
	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/sim"
	"reprise/policy"
	"reprise/topics"
)

// gate is a pair of cosines: answers are shared from hit on, and a request belongs to a topic from route on.
type gate struct {
	hit, route float64
	row        Row     // hit ratios; that of "infinite" includes every answer that the gate allows
	members    float64 // entries of a topic at the end, with the literal policy
}

// hitGate is the gate of the paper for hits.
const hitGate = 0.85

// edgeGate is the gate of the paper for dependencies.
const edgeGate = 0.6

var (
	routes = []float64{0.3, 0.4, 0.5, 0.6, 0.7, 0.8}
	taus   = []float64{0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95}
)

// allGates returns the gates of RQ4: first route gates with one hit gate, then one gate for both, as printed in the paper.
func (l *lab) allGates() (all []gate) {
	for _, r := range few(l, routes) {
		all = append(all, gate{hit: hitGate, route: r})
	}
	for _, tau := range few(l, taus) {
		all = append(all, gate{hit: tau, route: math.Nextafter(tau, 0)}) // package topics refuses equal ones
	}
	return all
}

// one reports whether hits and routes have the same gate.
func (g gate) one() bool { return g.hit-g.route < 1e-9 }

// sensitivityOfGates plays the sweep of tau. Requests have the vectors of their items, topics are routed, parents given.
func (l *lab) sensitivityOfGates() ([]gate, error) {
	all := l.allGates()
	counts := make([]*census, len(all))
	var settings []setting
	for i, g := range all {
		c := &census{of: map[uint64]float64{}}
		counts[i] = c
		s := l.generated(fmt.Sprintf("hit %g, route %g", g.hit, g.route), "syn:weight=W,vectors=on",
			[]string{literal, tuned, panelOf, "w-tinylfu", "lru", "infinite"}, shares(10)...)
		s.known = ""
		model := matching.Semantic(topics.Options{Dim: 32, Hit: g.hit, Route: g.route, Edge: edgeGate}, true)
		s.model = func(seed uint64) sim.Model { return c.model(seed, model) }
		settings = append(settings, s)
	}
	out, err := l.play("RQ4, tau", settings)
	var done []gate
	for _, o := range out {
		for i := range all {
			if settings[i].name == o.name {
				all[i].row, all[i].members = o.rows(HitRatio)[0], counts[i].mean(l.Seeds)
				done = append(done, all[i])
			}
		}
	}
	return done, err
}

// census counts the members of topics with one policy.
type census struct {
	mu sync.Mutex
	of map[uint64]float64 // by seed, members of a topic at the end of the trace
}

func (c *census) mean(seeds []uint64) float64 {
	var all []float64
	for _, seed := range seeds {
		all = append(all, c.of[seed])
	}
	m, _ := Mean(all)
	return m
}

// model is m with the entries of the first policy counted.
func (c *census) model(seed uint64, m sim.Model) sim.Model {
	first := true // models are made one after the other
	return func(e policy.Evictor, limit policy.Limit) (sim.Player, error) {
		if linker, ok := e.(counted); ok && first {
			first = false
			e = &counter{counted: linker, topic: map[policy.ID]policy.TopicID{}, members: map[policy.TopicID]int{}, note: func(v float64) {
				c.mu.Lock()
				c.of[seed] = v
				c.mu.Unlock()
			}}
		}
		return m(e, limit)
	}
}

// counted has the interfaces of rac-paper.
type counted interface {
	policy.Evictor
	policy.Linker
	policy.Arriver
}

// counter is a policy that counts the entries of each topic.
type counter struct {
	counted
	topic   map[policy.ID]policy.TopicID
	members map[policy.TopicID]int
	note    func(members float64)
}

// Insert counts the entry and inserts it.
func (c *counter) Insert(it policy.Item, at policy.Tick) {
	c.topic[it.ID] = it.Topic
	c.members[it.Topic]++
	c.counted.Insert(it, at)
	c.note(float64(len(c.topic)) / float64(len(c.members)))
}

// Remove removes the entry and its count.
func (c *counter) Remove(id policy.ID, why policy.Reason) {
	if t, ok := c.topic[id]; ok {
		delete(c.topic, id)
		if c.members[t]--; c.members[t] == 0 {
			delete(c.members, t)
		}
	}
	c.counted.Remove(id, why)
}

// gateBlocks adds the tables and plots of the gates.
func gateBlocks(s *report.Section, all []gate) {
	if len(all) == 0 {
		return
	}
	s.Say(fmt.Sprintf(`The gates τ, on generator G in reading W with the vectors of its requests: hits are found by similarity and topics by routing, with the code
of the proxy. Different requests of this trace seldom have a cosine of %g, so nearly all hits that a lower gate adds are wrong answers. The infinite cache shows how many.`, hitGate))
	for _, part := range []struct {
		title, x string
		one      bool
	}{
		{fmt.Sprintf("Routing gate, at a hit gate of %g", hitGate), "route", false},
		{"One gate τ for hits and for routing, as printed in the paper", "τ", true},
	} {
		p := &report.Plot{Title: part.title, X: part.x + ", cosine", Y: "hit ratio, %"}
		t := &report.Table{Caption: part.title + ": hit ratio in %, and the entries of a topic at the end under " + label(literal), Head: []string{part.x}, Texts: 1}
		for _, n := range gatePolicies {
			p.Lines = append(p.Lines, report.Line{Name: label(n), Style: styles[n]})
			t.Head = append(t.Head, label(n))
		}
		t.Head = append(t.Head, "entries/topic")
		for _, g := range all {
			if g.one() == part.one {
				g.add(p, t)
			}
		}
		s.Draw(p)
		s.Show(t)
	}
}

var gatePolicies = []string{panelOf, tuned, literal, "w-tinylfu", "lru", "infinite"}

func (g gate) add(p *report.Plot, t *report.Table) {
	x := g.route
	if g.one() {
		x = g.hit
	}
	row := report.Cells(fmt.Sprintf("%.2f", x))
	p.Ticks = append(p.Ticks, report.Tick{At: x, Name: fmt.Sprintf("%.2f", x)})
	for i, n := range gatePolicies {
		mean, half := Mean(g.row.Values[n])
		row = append(row, report.Cell{Text: points(mean) + " ± " + points(half)})
		if n == "infinite" && !g.one() {
			continue // it is far above the others, and constant
		}
		p.Lines[i].Points = append(p.Lines[i].Points, report.Point{X: x, Y: 100 * mean})
	}
	t.Rows = append(t.Rows, append(row, report.Cell{Text: fmt.Sprintf("%.2f", g.members)}))
}
