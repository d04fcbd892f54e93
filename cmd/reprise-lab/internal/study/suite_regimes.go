package study

import (
	"fmt"
	"slices"

	"reprise/cmd/reprise-lab/internal/report"
	"reprise/policy/sim"
	"reprise/policy/sim/workload"
)

// meanSize is the mean size of the answers of generated requests, in bytes.
const meanSize = 2200

// held are the cases that were not used for tuning. Tuning used the seeds 1 to 20, the figures use 101 and up.
var held = []string{"syn .7 W", "syn .9 U", "gamma 1.2 W", "drift U", "20k@5% U", "irm 1.0", "lru2", "zscan", "U .5", "T .5", "troot W",
	"G1 U", "NA4 U", "NA4 W"}

// regimes returns the settings of all regimes, in all readings. A capacity in bytes has room for as many mean answers as the
// capacity in entries.
func (l *lab) regimes(all []workload.Regime, policies []string, bytes bool) (settings []setting) {
	for _, r := range all {
		if l.Shrink > 1 && r.Name != "syn .5" && r.Name != "lru" && r.Name != "syn" {
			continue
		}
		for i, spec := range r.Specs() {
			name, c := r.Name, sim.Capacity{Entries: r.Capacity}
			if len(r.Weights) > 1 {
				name += " " + r.Weights[i]
			}
			if bytes {
				c = sim.Capacity{Bytes: int64(r.Capacity) * meanSize}
			}
			settings = append(settings, l.generated(name, spec, policies, c))
		}
	}
	return settings
}

// regimeRows has the figures of the policies in the regimes.
type regimeRows struct {
	short, long []Row // hit ratios in 10 to 20 thousand requests, and in 40 times the capacity or more
	bytes       []Row // shares of the tokens saved at a capacity in bytes
	texts       []Row // hit ratios
}

// playRegimes plays the regimes, short and long, and the texts if wanted; RQ2 plays those too.
func (l *lab) playRegimes(texts bool) (r regimeRows, err error) {
	out, err := l.play("regimes", l.regimes(workload.Study(), contenders(), false))
	if r.short = allRows(out, HitRatio); err != nil {
		return r, err
	}
	out, err = l.play("regimes, in bytes", l.regimes(workload.Study(), append(Baselines(), panelOf, "belady"), true))
	if r.bytes = allRows(out, TokensSaved); err != nil {
		return r, err
	}
	out, err = l.play("long regimes", l.regimes(workload.Long(), append(Baselines(), "haz", panelOf, "belady"), false))
	if r.long = allRows(out, HitRatio); err != nil || !texts || l.Data == "" {
		return r, err
	}
	all, err := l.texts(true, shares(2.5, 10, 20))
	if err != nil {
		return r, err
	}
	out, err = l.play("texts", all)
	r.texts = allRows(out, HitRatio)
	return r, err
}

// section has the results of the regimes.
func (r *regimeRows) section() report.Section {
	s := report.Section{Title: "Regimes: rac+ against the best of all baselines"}
	s.Say(`Every workload of the published comparison, in all its readings of repeats. The best baseline is chosen for each case with hindsight, by its mean
over the seeds; the intervals are those of the difference seed by seed. Gap: the share of the way from the best baseline to belady.`)
	parts := []struct {
		caption  string
		rows     []Row
		policies []string
	}{
		{"Minus the best of all baselines, in points: 10,000 to 20,000 requests", r.short, ours},
		{"The same on traces of 40 times the capacity and more", r.long, []string{"haz", panelOf}},
		{"The same on texts", r.texts, ours},
	}
	for _, p := range parts {
		if len(p.rows) > 0 {
			s.Show(compared(p.caption, p.rows, Baselines(), p.policies))
			s.Say(verdict(p.rows, Baselines(), p.policies))
		}
	}
	if kept := heldOut(r.short); len(kept) > 0 && len(kept) < len(r.short) {
		s.Say("The half of the first table that was not used for tuning. " + verdict(kept, Baselines(), ours))
	}
	if len(r.bytes) > 0 {
		s.Show(saved(r.bytes))
		greedy := over(r.bytes, []string{"gdsf"}, panelOf)
		s.Say(fmt.Sprintf("rac+ minus gdsf, in points of the tokens: worst %+.2f (%s), mean %+.2f. ", 100*greedy.worst, greedy.at, 100*greedy.mean) +
			verdict(r.bytes, Baselines(), []string{panelOf}))
	}
	return s
}

func heldOut(rows []Row) (kept []Row) {
	for _, r := range rows {
		if slices.Contains(held, r.Case) {
			kept = append(kept, r)
		}
	}
	return kept
}

// saved is the table of the tokens saved.
func saved(rows []Row) *report.Table {
	t := &report.Table{Caption: "Tokens saved under a capacity in bytes, % of all", Texts: 2,
		Head: []string{"case", "best baseline", "%", "gdsf, %", "rac+, %", "minus the best, points", "minus gdsf, points"}}
	for _, r := range rows {
		best, base := r.Best(Baselines())
		greedy, _ := Mean(r.Values["gdsf"])
		mine, _ := Mean(r.Values[panelOf])
		t.Rows = append(t.Rows, report.Cells(r.Case, label(best), points(base), points(greedy), points(mine),
			signed(Mean(difference(r.Values[panelOf], r.Values[best]))), signed(Mean(difference(r.Values[panelOf], r.Values["gdsf"])))))
	}
	return t
}
