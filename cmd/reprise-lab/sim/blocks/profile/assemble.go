package profile

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"reprise/policy"
	"reprise/proxy/upstream/hint"
)

// Names of the groups over all kinds.
const (
	everything = "all"
	single     = "single-turn"
	multi      = "multi-turn"
)

// summary makes the result of a pass.
type summary struct{ *pass }

// name is that of a category: chat-1, and chat-8+ for the last turn and all later ones.
func (p *pass) name(category int) string {
	turn, more := category%policy.MostTurns+1, ""
	if turn == policy.MostTurns {
		more = "+"
	}
	return fmt.Sprintf("%s-%d%s", p.trace.Kinds[category/policy.MostTurns], turn, more)
}

// order is the categories that have requests, those with the most first.
func (p *summary) order() (all []int) {
	for category, c := range p.cells {
		if c != nil {
			all = append(all, category)
		}
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(p.cells[b].Requests, p.cells[a].Requests) })
	return all
}

// profile is the result, after all requests.
func (p *summary) profile(o *Options) (*Profile, error) {
	p.finish()
	t := p.trace
	order := p.order()
	talks := len(p.sessions.ids) > 0
	m := p.mapping(order, talks)
	out := &Profile{Trace: t.Name, Generated: t.Generated, Note: t.Note, Tokens: t.Tokens, Distinct: p.distinct(), Seconds: p.span, Window: p.width}
	out.Totals = p.sum(func(int) bool { return true }).Totals
	out.Needed = p.needed()
	lru, err := p.lru(o, out.HitRatio)
	if err != nil {
		return nil, err
	}
	out.LRU = *lru
	out.Windows, out.Arrivals = p.windows, p.arrivals()
	for k := range t.Kinds {
		out.Kinds = append(out.Kinds, p.sum(func(category int) bool { return category/policy.MostTurns == k }).group(t.Kinds[k]))
	}
	if talks {
		for _, category := range order {
			out.Categories = append(out.Categories, p.cells[category].group(p.name(category)))
		}
		out.Sources, out.Turns = p.sources(), p.turns(m)
	}
	if len(p.users.ids) > 0 {
		out.Users = p.people()
	}
	out.Reuse = p.reuses(order, talks)
	out.Spatial = p.spatials(talks)
	out.Lifespans, out.LifeMap = p.lifespans(m)
	out.Sizes = p.sizes(talks)
	out.Skew = p.skew()
	return out, nil
}

// sum is the cell of several categories.
func (p *summary) sum(in func(category int) bool) *cell {
	sum := &cell{}
	for category, c := range p.cells {
		if c != nil && in(category) {
			sum.add(c.Totals)
			sum.multi += c.multi
			sum.next += c.next
			sum.reuse.add(&c.reuse)
		}
	}
	return sum
}

func (c *cell) group(name string) Group {
	return Group{Name: name, Totals: c.Totals, Multi: ratio(c.multi, c.Requests), Next: ratio(c.next, c.Requests)}
}

// first reports whether a category is of requests at turn 1.
func first(category int) bool { return category%policy.MostTurns == 0 }

func later(category int) bool { return !first(category) }

func (p *summary) sources() *Sources {
	s := &Sources{Single: p.sum(first).Totals, Multi: p.sum(later).Totals}
	hits := s.Single.Hits + s.Multi.Hits
	s.SingleShare, s.MultiShare = ratio(s.Single.Hits, hits), ratio(s.Multi.Hits, hits)
	s.Same = ratio(p.same, hits)
	if hits > 0 {
		s.Other = 1 - s.Same
	}
	return s
}

// reuses measures all groups; the fit of all uses is the prior of the kinds, and that of a kind of its categories.
func (p *summary) reuses(order []int, talks bool) (all []Reuse) {
	add := func(name string, c *cell, prior hint.Fit) hint.Fit {
		r, f := c.reuse.reuse(name, prior)
		if r.Uses > 0 {
			all = append(all, r)
		}
		return f
	}
	whole := add(everything, p.sum(func(int) bool { return true }), hint.Fit{P: 0.5, Rate: 0.01})
	if talks {
		add(single, p.sum(first), whole)
		add(multi, p.sum(later), whole)
	}
	kinds := make([]hint.Fit, len(p.trace.Kinds))
	for k, name := range p.trace.Kinds {
		kinds[k] = whole
		if len(kinds) > 1 {
			kinds[k] = add(name, p.sum(func(category int) bool { return category/policy.MostTurns == k }), whole)
		}
	}
	if talks {
		for _, category := range order {
			add(p.name(category), p.cells[category], kinds[category/policy.MostTurns])
		}
	}
	return all
}

func (p *summary) spatials(talks bool) (all []Spatial) {
	add := func(name string, in func(category int) bool) {
		sum := &placed{}
		for category, c := range p.cells {
			if c != nil && in(category) {
				sum.add(c.placed)
			}
		}
		if s := sum.spatial(name); s.Blocks > 0 {
			all = append(all, s)
		}
	}
	add(everything, func(int) bool { return true })
	if talks {
		add(single, first)
		add(multi, later)
	}
	if len(p.trace.Kinds) > 1 {
		for k, name := range p.trace.Kinds {
			add(single+" "+name, func(category int) bool { return category == k*policy.MostTurns })
		}
	}
	return all
}

// arrivals describes the times of requests.
func (p *summary) arrivals() (a Arrivals) {
	n := len(p.trace.Requests)
	if n < 2 || p.span == 0 {
		return a
	}
	a.Rate = float64(n-1) / p.span
	for _, w := range p.windows {
		a.Peak = max(a.Peak, float64(w.Requests)/p.width)
	}
	mean, squares := p.span/float64(n-1), 0.0
	for i := 1; i < n; i++ {
		d := p.trace.Requests[i].At - p.trace.Requests[i-1].At - mean
		squares += d * d
	}
	a.CV = math.Sqrt(squares/float64(n-1)) / mean
	return a
}

// skew is the skew of the hits of blocks.
func (p *summary) skew() Skew {
	var hits []uint32
	for _, n := range p.uses {
		if n > 0 {
			hits = append(hits, n-1)
		}
	}
	return skewOf(hits)
}
