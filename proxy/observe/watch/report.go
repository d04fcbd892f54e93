package watch

import (
	"math"
	"time"

	"reprise/proxy/observe"
)

// Report is the history of a window, as JSON shows it. A column has a value for each step, null where the proxy did not run. Times of answers
// are within 10 %.
type Report struct {
	Started time.Time           `json:"started"` // of the proxy: the history begins there
	From    time.Time           `json:"from"`    // begin of the first step
	To      time.Time           `json:"to"`      // end of the last one
	Step    float64             `json:"step_seconds"`
	Times   []int64             `json:"times"`    // when each step ends, in seconds since 1970
	Covered []int64             `json:"seconds"`  // of each step that were counted: less in the one that has not ended, 0 where the proxy did not run
	Results map[string][]*int64 `json:"requests"` // by result
	Sums    map[string][]*value `json:"sums"`     // what was counted in each step
	Gauges  map[string][]*int64 `json:"gauges"`   // at the end of each step
	Latency map[string]quantile `json:"latency_seconds"`
	Heat    map[string]heat     `json:"latency_counts"`
	Totals  totals              `json:"totals"`
	How     string              `json:"how_it_is_counted"`
}

// value is a sum, rounded to six digits.
type value float64

// quantile has columns of times in seconds.
type quantile struct {
	P50 []*value `json:"p50"`
	P99 []*value `json:"p99"`
}

// heat counts answers by the time that they took: in each step, for each bound, those that took at least so long, and less than the next bound.
type heat struct {
	Bounds []value   `json:"lower_bounds_seconds"`
	Counts [][]int64 `json:"counts"` // by step, then by bound; an empty row is all 0
}

// totals are those of the whole window.
type totals struct {
	Requests map[string]int64             `json:"requests"` // by result
	All      int64                        `json:"requests_together"`
	Looked   int64                        `json:"looked_for"` // in the cache
	Ratio    *value                       `json:"hit_ratio"`  // of these; null where there are none
	Sums     map[string]value             `json:"sums"`
	Latency  map[string]map[string]*value `json:"latency_seconds"`
}

const how = "hit_ratio is exact, semantic, shared and stale over these and misses: bypass and error are requests that were not looked for in the cache, or failed. " +
	"latency_seconds: hit is of exact, semantic and stale answers, miss of those of the upstream, from the arrival to the last byte, within 10 %. " +
	"Counts of latency_counts above 15 are within 6 %."

// MostPoints is how many steps a Report has at most.
const MostPoints = 720

// Report returns the last window of the history in at most points steps. Each is a multiple of fineStep where the window is at most fine, else
// one of Step.
func (w *Watch) Report(window time.Duration, points int) Report {
	window = min(max(window, Step), Long)
	points = min(max(points, 1), MostPoints)
	h := &w.coarse
	if window <= w.fine.span() {
		h = &w.fine
	}
	samples := int64((window + h.step - 1) / h.step)
	width := (samples + int64(points) - 1) / int64(points) // of a step, in samples
	w.mu.RLock()
	defer w.mu.RUnlock()
	now := h.stepOf(time.Now())
	if h.of(now) == nil {
		now-- // its sample comes in a moment
	}
	last := (now + width - 1) / width * width // steps of a width end at its multiples, so that a page that asks again gets the same ones
	count := samples / width
	groups, all := make([]group, count), group{}
	for i := range groups {
		end := last - (count-1-int64(i))*width
		for n := end - width + 1; n <= end; n++ {
			if s := h.of(n); s != nil {
				groups[i].add(s)
				all.add(s)
			}
		}
	}
	r := columnsOf(groups, &all)
	r.Started, r.From, r.To, r.Step = w.started.UTC(), h.timeOf(last-count*width), h.timeOf(last), (time.Duration(width) * h.step).Seconds()
	for i := range groups {
		r.Times = append(r.Times, h.timeOf(last-(count-1-int64(i))*width).Unix())
		r.Covered = append(r.Covered, int64(groups[i].samples)*int64(h.step/time.Second))
	}
	return r
}

// columnsOf turns groups into columns; all is their sum.
func columnsOf(groups []group, all *group) Report {
	r := Report{Times: []int64{}, Covered: []int64{}, Results: map[string][]*int64{}, Sums: map[string][]*value{}, Gauges: map[string][]*int64{},
		Latency: map[string]quantile{}, Heat: map[string]heat{}, How: how}
	for i := range groups {
		g := &groups[i]
		for n, name := range observe.ResultNames {
			r.Results[name] = append(r.Results[name], known(g, g.requests[n]))
		}
		for n, name := range sumNames {
			r.Sums[name] = append(r.Sums[name], known(g, rounded(g.sums[n])))
		}
		for n, name := range gaugeNames {
			r.Gauges[name] = append(r.Gauges[name], known(g, g.gauges[n]))
		}
		for c, name := range classNames {
			q := r.Latency[name]
			q.P50, q.P99 = append(q.P50, g.times[c].seconds(0.5)), append(q.P99, g.times[c].seconds(0.99))
			r.Latency[name] = q
		}
	}
	for c, name := range classNames {
		r.Heat[name] = heatOf(groups, class(c))
	}
	r.Totals = all.totals()
	return r
}

// known is v, nil where nothing is known of the step.
func known[T any](g *group, v T) *T {
	if g.samples == 0 {
		return nil
	}
	return &v
}

func rounded(v float64) value {
	if v == 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-5)
	if unit < 1 {
		per := math.Round(1 / unit)
		return value(math.Round(v*per) / per)
	}
	return value(math.Round(v/unit) * unit)
}

func (s *spread) seconds(p float64) *value {
	q, ok := s.quantile(p)
	if !ok {
		return nil
	}
	v := rounded(q.Seconds())
	return &v
}

// heatOf has a row for each doubling of the time, between the shortest and the longest time of the window.
func heatOf(groups []group, c class) heat {
	h := heat{Bounds: []value{}, Counts: [][]int64{}}
	first, last := doublings, -1
	rows := make([][doublings]int64, len(groups))
	for i := range groups {
		for b, n := range groups[i].times[c] {
			if n > 0 {
				row := b / perDouble
				rows[i][row] += n
				first, last = min(first, row), max(last, row)
			}
		}
	}
	if last < 0 {
		return h
	}
	for row := first; row <= last; row++ {
		h.Bounds = append(h.Bounds, rounded(lowerBound(row*perDouble).Seconds()))
	}
	for i := range rows {
		counts := []int64{}
		for _, n := range rows[i][first : last+1] {
			if n > 0 {
				counts = append(counts, rows[i][first:last+1]...)
				break
			}
		}
		h.Counts = append(h.Counts, counts)
	}
	return h
}

func (g *group) totals() totals {
	t := totals{Requests: map[string]int64{}, Sums: map[string]value{}, Latency: map[string]map[string]*value{}}
	served := g.requests[observe.Exact] + g.requests[observe.Semantic] + g.requests[observe.Shared] + g.requests[observe.Stale]
	if t.Looked = served + g.requests[observe.Miss]; t.Looked > 0 {
		ratio := rounded(float64(served) / float64(t.Looked))
		t.Ratio = &ratio
	}
	for n, name := range observe.ResultNames {
		t.Requests[name] = g.requests[n]
		t.All += g.requests[n]
	}
	for n, name := range sumNames {
		t.Sums[name] = rounded(g.sums[n])
	}
	for c, name := range classNames {
		t.Latency[name] = map[string]*value{"p50": g.times[c].seconds(0.5), "p99": g.times[c].seconds(0.99)}
	}
	return t
}
