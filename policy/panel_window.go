package policy

import (
	"math"
	"slices"
)

// PanelWindow is what a panel did between two calls of Stats.
type PanelWindow struct {
	Leader  string         `json:"leader"`            // at the end
	Changed int64          `json:"changed"`           // how often the leader changed
	Changes []Change       `json:"changes,omitempty"` // the latest of these, the oldest first, at most MostChanges
	Experts []expertWindow `json:"experts,omitempty"` // none where no request was counted
	// HitRatio is that of the cache, counted as those of the experts. It differs from the share of hits where the objective is tokens, and
	// where the shadows see a sample.
	HitRatio float64 `json:"hit_ratio"`
	// Regret is the hit ratio of the best expert in the window minus HitRatio. It is below 0 where the cache had more hits than each of its
	// experts.
	Regret float64 `json:"regret"`
}

// expertWindow is the figure of an expert in a window.
type expertWindow struct {
	Name     string  `json:"name"`
	HitRatio float64 `json:"hit_ratio"` // that its shadow cache would have had, counted as ExpertStats.HitRatio
	Led      float64 `json:"led"`       // share of the requests during which it led, counted in the same way
}

// Since is what happened between before, an earlier result of Stats of the same panel, and p. A zero before is the start. Where Restore was
// called in between, there are no experts and no regret.
func (p *PanelStats) Since(before *PanelStats) PanelWindow {
	w := PanelWindow{Changed: max(p.Changed-before.Changed, 0)}
	if p.Leader >= 0 && p.Leader < len(p.Experts) {
		w.Leader = p.Experts[p.Leader].Name
	}
	if n := int64(len(p.Changes)); w.Changed > 0 && n > 0 {
		w.Changes = slices.Clone(p.Changes[max(n-w.Changed, 0):])
	}
	own, ok := quotient(p.Hits-before.Hits, p.Asked-before.Asked)
	best := math.Inf(-1)
	for i, x := range p.Experts {
		var was ExpertStats
		if i < len(before.Experts) {
			was = before.Experts[i]
		}
		ratio, counted := quotient(x.Hits-was.Hits, x.Asked-was.Asked)
		ok = ok && counted
		best = max(best, ratio)
		led, _ := quotient(x.Led-was.Led, x.Asked-was.Asked)
		w.Experts = append(w.Experts, expertWindow{x.Name, ratio, led})
	}
	if !ok {
		w.Experts = nil
		return w
	}
	if len(w.Experts) > 0 {
		w.HitRatio, w.Regret = own, best-own
	}
	return w
}

// quotient is hits by asked; false where either has decreased or no request was counted.
func quotient(hits, asked float64) (ratio float64, ok bool) {
	if !(asked > 0) || !(hits >= 0) {
		return 0, false
	}
	return hits / asked, true
}
