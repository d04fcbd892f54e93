package profile

// Life is how long blocks are used: the seconds from the first use of a block to its last one, 0 where there is one use. Uses after the end of
// the trace are not seen, so that lifespans near its length are too short. The percentiles are off by 0.6 % at most.
type Life struct {
	Name   string  `json:"name"`
	Blocks int     `json:"blocks"`
	Reused int     `json:"reused"` // blocks with a hit
	Mean   float64 `json:"mean_seconds"`
	P50    float64 `json:"p50_seconds"`
	P90    float64 `json:"p90_seconds"`
	P99    float64 `json:"p99_seconds"`
	Max    float64 `json:"max_seconds"`
	CDF    []Point `json:"cdf"` // share of the blocks with a lifespan below X seconds
}

// Needed is the cache that an ideal policy takes for the ideal hit ratio: at each time the blocks that were used and will be hit. Those of the
// request that runs are counted only if they are hit later. Its maximum in each window is in Windows.
type Needed struct {
	Most  int64   `json:"most_blocks"`
	Mean  float64 `json:"mean_blocks"` // over the requests
	Share float64 `json:"most_share"`  // of the distinct blocks
}

// lives is the lifespans of a group.
type lives struct {
	spans  hist
	reused int
	sum    float64
	most   float64
}

func (l *lives) add(span float64, reused bool) {
	l.spans[classOf(span)]++
	l.sum += span
	l.most = max(l.most, span)
	if reused {
		l.reused++
	}
}

func (l *lives) life(name string) Life {
	n := int(l.spans.total())
	at := func(q float64) float64 { return min(l.spans.quantile(q), l.most) }
	return Life{Name: name, Blocks: n, Reused: l.reused, Mean: l.sum / float64(max(n, 1)), P50: at(0.5), P90: at(0.9), P99: at(0.99), Max: l.most,
		CDF: l.spans.cdf()}
}

// lifespans measures the blocks by the kind of the request that used them first, and their mean by its category and time.
func (p *summary) lifespans(m *mapping) (all []Life, over *Map) {
	kinds := make([]lives, len(p.trace.Kinds))
	whole := lives{}
	over = m.empty()
	for b, first := range p.first {
		if first == 0 {
			continue
		}
		r := &p.trace.Requests[first-1]
		span := 0.0
		if end := p.end[b]; end != 0 {
			span = p.trace.Requests[end-1].At - r.At
		}
		whole.add(span, p.end[b] != 0)
		kinds[r.Kind].add(span, p.end[b] != 0)
		m.add(over, r.Category(), p.window(r.At), span, 1)
	}
	over.divide()
	all = append(all, whole.life(everything))
	if len(kinds) > 1 {
		for k, l := range kinds {
			all = append(all, l.life(p.trace.Kinds[k]))
		}
	}
	return all, over
}

// needed counts the blocks that will be hit, at each request.
func (p *summary) needed() (out Needed) {
	change := make([]int32, len(p.trace.Requests)+1)
	for b, end := range p.end {
		if end != 0 {
			change[p.first[b]]++
			change[end]--
		}
	}
	now, sum := int64(0), int64(0)
	for i := range p.trace.Requests {
		now += int64(change[i+1])
		sum += now
		out.Most = max(out.Most, now)
		w := &p.windows[p.window(p.trace.Requests[i].At)]
		w.Needed = max(w.Needed, now)
	}
	out.Mean = float64(sum) / float64(max(1, len(p.trace.Requests)))
	out.Share = float64(out.Most) / float64(max(1, p.distinct()))
	return out
}
