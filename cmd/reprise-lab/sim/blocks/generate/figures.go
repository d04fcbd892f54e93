package generate

import (
	"maps"
	"slices"

	"reprise/cmd/reprise-lab/sim/blocks"
)

// A figure is computed from a measure.
type figure func(*measure) float64

func ideal(m *measure) float64 { return ratio(m.reuses(), m.accesses()) }

func lru(share float64) figure {
	return func(m *measure) float64 { return m.lru.HitRatio(share * float64(m.distinct)) }
}

func sameSession(m *measure) float64 { return ratio(m.same, m.reuses()) }

func otherSession(m *measure) float64 { return ratio(m.reuses()-m.same, m.reuses()) }

func idealOf(kind string) figure {
	return func(m *measure) float64 {
		k, _ := m.kind(kind)
		return ratio(k.hits, k.accesses)
	}
}

func gapOf(kind string) figure {
	return func(m *measure) float64 {
		k, _ := m.kind(kind)
		return quantile(k.gaps, .5)
	}
}

// share is the part of the requests with of that have with too.
func share(of, with func(*measure, *blocks.Request) bool) figure {
	return func(m *measure) float64 {
		all, n := 0, 0
		for i := range m.trace.Requests {
			if r := &m.trace.Requests[i]; of(m, r) {
				all++
				if with(m, r) {
					n++
				}
			}
		}
		return ratio(n, all)
	}
}

func every(*measure, *blocks.Request) bool         { return true }
func begins(_ *measure, r *blocks.Request) bool    { return r.After == 0 }
func continues(_ *measure, r *blocks.Request) bool { return r.After > 0 }
func later(_ *measure, r *blocks.Request) bool     { return r.Turn > 1 }
func ends(_ *measure, r *blocks.Request) bool      { return !r.GoesOn }
func goesOn(_ *measure, r *blocks.Request) bool    { return r.GoesOn }

func ofKind(name string) func(*measure, *blocks.Request) bool {
	return func(m *measure, r *blocks.Request) bool { return m.trace.Kinds[r.Kind] == name }
}

// settled requests are in the first three quarters of the trace, so that nearly all that continue them are in it.
func (m *measure) settled(r *blocks.Request) bool {
	first, last := m.trace.Requests[0].At, m.trace.Requests[len(m.trace.Requests)-1].At
	return r.At <= first+.75*(last-first)
}

func firstSettled(m *measure, r *blocks.Request) bool { return r.Turn == 1 && m.settled(r) }
func laterSettled(m *measure, r *blocks.Request) bool { return r.Turn > 1 && m.settled(r) }

// laterGoesOn is the mean over the categories of later turns of the share of requests that another continues. As in figure 11 of paper 001
// each category counts once; those with less than 10 requests are left out.
func laterGoesOn(m *measure) float64 {
	type count struct{ requests, on int }
	categories := map[[2]int]count{}
	for i := range m.trace.Requests {
		r := &m.trace.Requests[i]
		if r.Turn == 1 || !m.settled(r) {
			continue
		}
		id := [2]int{int(r.Kind), int(r.Turn)}
		c := categories[id]
		c.requests++
		if r.GoesOn {
			c.on++
		}
		categories[id] = c
	}
	var shares []float64
	for _, c := range categories {
		if c.requests >= 10 {
			shares = append(shares, ratio(c.on, c.requests))
		}
	}
	slices.Sort(shares) // the sum does not depend on the order of the map
	total := 0.0
	for _, s := range shares {
		total += s
	}
	return total / float64(max(1, len(shares)))
}

func input(r *blocks.Request) float64  { return float64(r.Prompt) }
func output(r *blocks.Request) float64 { return float64(r.Answer) }
func turn(r *blocks.Request) float64   { return float64(r.Turn) }

func mean(value func(*blocks.Request) float64) figure {
	return func(m *measure) float64 {
		total := 0.0
		for i := range m.trace.Requests {
			total += value(&m.trace.Requests[i])
		}
		return total / float64(max(1, len(m.trace.Requests)))
	}
}

func quantileOf(value func(*blocks.Request) float64, q float64) figure {
	return func(m *measure) float64 {
		all := make([]weighted, len(m.trace.Requests))
		for i := range all {
			all[i] = weighted{value(&m.trace.Requests[i]), 1}
		}
		return quantile(all, q)
	}
}

func followUpGap(q float64) figure {
	return func(m *measure) float64 {
		var all []weighted
		for i := range m.trace.Requests {
			if r := &m.trace.Requests[i]; r.After > 0 {
				all = append(all, weighted{r.At - m.trace.Requests[r.After-1].At, 1})
			}
		}
		return quantile(all, q)
	}
}

// busiest is the least share of the users that send a share of the requests.
func busiest(share float64) figure {
	return ofUsers(share, func(*measure, int) int { return 1 })
}

// mostHits is the least share of the users whose requests have a share of the hits (figure 7).
func mostHits(share float64) figure {
	return ofUsers(share, func(m *measure, request int) int { return m.hits[request] })
}

// ofUsers is the least share of the users whose requests have a share of the sum of a count.
func ofUsers(share float64, count func(m *measure, request int) int) figure {
	return func(m *measure) float64 {
		users, total := map[uint32]int{}, 0
		for i := range m.trace.Requests {
			n := count(m, i)
			users[m.trace.Requests[i].User] += n
			total += n
		}
		counts := slices.Sorted(maps.Values(users))
		left, n := int(share*float64(total)), 0
		for n < len(counts) && left > 0 {
			n++
			left -= counts[len(counts)-n]
		}
		return ratio(n, len(counts))
	}
}

// within is the share of the reuses that come at most so many seconds after the use before (figure 12).
func within(seconds float64) figure {
	return func(m *measure) float64 {
		soon := 0
		for _, k := range m.kinds {
			for _, g := range k.gaps {
				if g.value <= seconds {
					soon += g.n
				}
			}
		}
		return ratio(soon, m.reuses())
	}
}

// promptTopReuses is topReuses of the blocks of prompts alone.
func promptTopReuses(m *measure) float64 {
	prompts := *m
	prompts.unread = 0
	return topReuses(&prompts)
}

// promptLifespan is a quantile of the time from the first prompt with a block to the last one.
func promptLifespan(q float64) figure {
	return func(m *measure) float64 {
		all := make([]weighted, 0, m.distinct)
		for i := range m.seen {
			if s := &m.seen[i]; s.n > 0 {
				all = append(all, weighted{s.last - s.asked, 1})
			}
		}
		return quantile(all, q)
	}
}

// lifespan is a quantile of the time from the first request with a block in its prompt or answer to the last prompt with it. Blocks of answers that no prompt has count with 0.
func lifespan(q float64) figure {
	return func(m *measure) float64 {
		all := make([]weighted, 0, m.distinct+1)
		for i := range m.seen {
			if s := &m.seen[i]; s.n > 0 {
				all = append(all, weighted{s.last - s.first, 1})
			}
		}
		return quantile(append(all, weighted{0, m.unread}), q)
	}
}

// everReused is the share of the blocks first requested by a kind that another request has too.
func everReused(kind string) figure {
	return func(m *measure) float64 {
		_, k := m.kind(kind)
		reused, n := 0, 0
		for i := range m.seen {
			if s := &m.seen[i]; s.n > 0 && int(s.kind) == k {
				n++
				if s.n > 1 {
					reused++
				}
			}
		}
		return ratio(reused, n)
	}
}

// topReuses is the share of all reuses that the most reused tenth of the blocks of prompts and answers have.
func topReuses(m *measure) float64 {
	counts := make([]int32, 0, m.distinct)
	for i := range m.seen {
		if n := m.seen[i].n; n > 0 {
			counts = append(counts, n-1)
		}
	}
	slices.Sort(counts)
	top := 0
	for _, n := range counts[max(0, len(counts)-(m.distinct+m.unread)/10):] {
		top += int(n)
	}
	return ratio(top, m.reuses())
}
