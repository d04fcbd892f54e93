package sim

import (
	"math"

	"reprise/policy"
)

// MostWindows bounds Options.Windows: each costs some 400 bytes for every policy at every capacity, and a plot has fewer columns.
const MostWindows = 1000

// Window is the figures of a part of the requests that count.
type Window struct {
	First    int64   `json:"first"` // position of its first request in the trace, from 1
	Requests int64   `json:"requests"`
	Hits     int64   `json:"hits"`
	HitRatio float64 `json:"hit_ratio"`
	// TokenHitRatio is the tokens that the hits saved by those of all requests: the measure under a limit in bytes.
	TokenHitRatio float64 `json:"token_hit_ratio"`
	// Regret is what the best policy of the replay has more in this window, of those at the same capacity that can run in practice: of
	// TokenHitRatio where Result.Objective is tokens, else of HitRatio. It is below 0 for a bound that is better.
	Regret float64 `json:"regret"`
	// Panel is what a policy.Panel did in the window, nil for other policies.
	Panel *policy.PanelWindow `json:"panel,omitempty"`
}

// Measure is the figure by which an objective, a value of Result.Objective, compares policies in w.
func (w *Window) Measure(objective string) float64 {
	if objective == ObjectiveTokens {
		return w.TokenHitRatio
	}
	return w.HitRatio
}

// recorder makes the windows of one runner. A nil recorder makes none.
type recorder struct {
	all        []Window
	panel      policy.Panel // nil: the policy is none
	first      int64        // position of the first request of the open window
	asked, hit tally        // at its start, as are the next
	stats      policy.PanelStats
}

// newRecorder is nil where no windows are wanted.
func newRecorder(e policy.Evictor, o *Options) *recorder {
	if o.Windows == 0 {
		return nil
	}
	panel, _ := e.(policy.Panel)
	return &recorder{panel: panel, first: int64(o.Warmup) + 1}
}

// end ends the open window, if any request in it counts, and begins the next one. asked and hit are the sums so far.
func (w *recorder) end(asked, hit tally) {
	if w == nil {
		return
	}
	n := asked.requests - w.asked.requests
	x := Window{First: w.first, Requests: n, Hits: hit.requests - w.hit.requests}
	x.HitRatio = ratio(float64(x.Hits), float64(n))
	x.TokenHitRatio = ratio(hit.tokens-w.hit.tokens, asked.tokens-w.asked.tokens)
	if w.panel != nil {
		now := w.panel.Stats()
		did := now.Since(&w.stats)
		x.Panel, w.stats = &did, now
	}
	if n > 0 {
		w.all = append(w.all, x)
	}
	w.first, w.asked, w.hit = w.first+n, asked, hit
}

// finish ends the last window, where the replay ended within it, and returns all.
func (w *recorder) finish(asked, hit tally) []Window {
	if w == nil {
		return nil
	}
	if asked.requests > w.asked.requests {
		w.end(asked, hit)
	}
	return w.all
}

// setRegrets compares the windows of results, which are of one trace: policy by policy, each at every capacity.
func setRegrets(results []Result, capacities int) {
	for c := range capacities {
		best := map[string][]float64{}
		for i := c; i < len(results); i += capacities {
			for _, objective := range []string{ObjectiveHits, ObjectiveTokens} {
				best[objective] = results[i].raise(best[objective], objective)
			}
		}
		for i := c; i < len(results); i += capacities {
			results[i].compare(best)
		}
	}
}

// raise returns the best measure of each window, those of r included if it can run in practice.
func (r *Result) raise(best []float64, objective string) []float64 {
	for k := range r.Windows {
		if k == len(best) {
			best = append(best, math.Inf(-1))
		}
		if !r.Bound {
			best[k] = max(best[k], r.Windows[k].Measure(objective))
		}
	}
	return best
}

// compare sets the regrets of r; where there are only bounds, there are none.
func (r *Result) compare(best map[string][]float64) {
	objective := ObjectiveHits
	if r.Objective == ObjectiveTokens {
		objective = ObjectiveTokens
	}
	for k, most := range best[objective][:len(r.Windows)] {
		if !math.IsInf(most, 0) {
			r.Windows[k].Regret = most - r.Windows[k].Measure(objective)
		}
	}
}

// cuts are the positions in a trace at which a batch ends: the end of the warm-up and, if there are windows, of each of them.
type cuts struct {
	warmup, counted int64 // requests
	windows, k      int64 // k windows have ended
	next            int64
}

func newCuts(requests int64, o *Options) cuts {
	warmup := int64(o.Warmup)
	c := cuts{warmup: warmup, counted: max(requests-warmup, 0), windows: int64(o.Windows), next: warmup}
	c.pass(0)
	return c
}

// pass moves next beyond played, if there is such a position.
func (c *cuts) pass(played int64) {
	for c.next <= played && c.k < c.windows {
		c.k++
		c.next = c.warmup + c.k*c.counted/c.windows
	}
}
