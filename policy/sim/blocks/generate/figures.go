package generate

import (
	"slices"

	"reprise/policy/sim/blocks"
)

func requestsOf(kind string) func(*measure) float64 {
	return func(m *measure) float64 {
		k, n := m.kind(kind), 0
		for i := range m.trace.Requests {
			if int(m.trace.Requests[i].Kind) == k {
				n++
			}
		}
		return ratio(n, len(m.trace.Requests))
	}
}

// ofKind calls f with the index of a kind, where the trace has it.
func ofKind(kind string, f func(*measure, int) float64) func(*measure) float64 {
	return func(m *measure) float64 {
		if k := m.kind(kind); k >= 0 {
			return f(m, k)
		}
		return 0
	}
}

func idealOf(kind string) func(*measure) float64 {
	return ofKind(kind, func(m *measure, k int) float64 { return ratio(m.hits[k], m.accesses[k]) })
}

func gapOf(kind string) func(*measure) float64 {
	return ofKind(kind, func(m *measure, k int) float64 { return quantile(m.gaps[k], .5) })
}

func mean(value func(*blocks.Request) float64) func(*measure) float64 {
	return func(m *measure) float64 {
		total := 0.0
		for i := range m.trace.Requests {
			total += value(&m.trace.Requests[i])
		}
		return total / float64(max(1, len(m.trace.Requests)))
	}
}

func quantileOf(value func(*blocks.Request) float64, q float64) func(*measure) float64 {
	return func(m *measure) float64 {
		all := make([]weighted, len(m.trace.Requests))
		for i := range all {
			all[i] = weighted{value(&m.trace.Requests[i]), 1}
		}
		return quantile(all, q)
	}
}

func turnQuantile(q float64) func(*measure) float64 {
	return quantileOf(func(r *blocks.Request) float64 { return float64(r.Turn) }, q)
}

func followUpGap(q float64) func(*measure) float64 {
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

// followUps is the share of requests that continue one of the trace.
func followUps(m *measure) float64 {
	n := 0
	for i := range m.trace.Requests {
		if m.trace.Requests[i].After > 0 {
			n++
		}
	}
	return ratio(n, len(m.trace.Requests))
}

// singles is the share of sessions with one request in the trace.
func singles(m *measure) float64 {
	single, sessions := 0, 0
	for i := range m.trace.Requests {
		if r := &m.trace.Requests[i]; r.After == 0 {
			sessions++
			if !r.GoesOn {
				single++
			}
		}
	}
	return ratio(single, sessions)
}

// goesOn is the mean over the categories of turns from one to another of the share of requests that a later one continues. As in figure 11
// of paper 001 each category counts once; those with less than 20 requests are left out.
func goesOn(from, to int) func(*measure) float64 {
	return func(m *measure) float64 {
		requests, on := make([]int, len(m.trace.Kinds)*(to+1)), make([]int, len(m.trace.Kinds)*(to+1))
		for i := range m.trace.Requests {
			r := &m.trace.Requests[i]
			if int(r.Turn) < from || int(r.Turn) > to {
				continue
			}
			c := int(r.Kind)*(to+1) + int(r.Turn)
			requests[c]++
			if r.GoesOn {
				on[c]++
			}
		}
		total, n := 0.0, 0
		for c := range requests {
			if requests[c] >= 20 {
				total += ratio(on[c], requests[c])
				n++
			}
		}
		return total / float64(max(1, n))
	}
}

// lifespan is a quantile of the time from the first request with a block to the last.
func lifespan(q float64) func(*measure) float64 {
	return func(m *measure) float64 {
		all := make([]weighted, 0, m.distinct)
		for i := range m.seen {
			if s := &m.seen[i]; s.n > 0 {
				all = append(all, weighted{s.last - s.first, 1})
			}
		}
		return quantile(all, q)
	}
}

// everReused is the share of the blocks first requested by a kind that another request has too.
func (m *measure) everReused(kind string) float64 {
	k, reused, n := m.kind(kind), 0, 0
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

// topReuses is the share of all reuses that the most reused share of the blocks have.
func (m *measure) topReuses(share float64) float64 {
	counts := make([]int32, 0, m.distinct)
	total, top := 0, 0
	for i := range m.seen {
		if n := m.seen[i].n; n > 0 {
			counts = append(counts, n-1)
			total += int(n - 1)
		}
	}
	slices.Sort(counts)
	for _, n := range counts[len(counts)-int(share*float64(len(counts))):] {
		top += int(n)
	}
	return ratio(top, total)
}
