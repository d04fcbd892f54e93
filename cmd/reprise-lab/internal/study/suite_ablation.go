package study

import (
	"fmt"

	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/sim"
)

// plainForm are the parameters with which rac is the policy of paper 002, and its ablations are those of the paper.
const plainForm = ":alpha=1/C,dep-cap=0,admission=paper,ghosts=0"

// form is a policy with and without each of its two signals.
type form struct{ says, full, noTP, noTSI string }

var forms = []form{
	{"as published", "rac" + plainForm, "rac-no-tp" + plainForm, "rac-no-tsi" + plainForm},
	{"tuned", "rac", "rac-no-tp", "rac-no-tsi"},
}

// ablate plays RQ3.
func (l *lab) ablate() ([]outcome, error) {
	policies := []string{"infinite"}
	for _, f := range forms {
		policies = append(policies, f.full, f.noTP, f.noTSI)
	}
	var settings []setting
	for _, w := range []string{"W", "U"} {
		settings = append(settings, l.generated("syn "+w, syn(0.5, 0.7, w), policies, few(l, shares(2.5, 5, 7.5, 10, 12.5, 15, 17.5, 20))...))
	}
	given, err := l.traces()
	if err != nil {
		return nil, err
	}
	for _, s := range given {
		if len(l.Given) > 0 || l.Data != "" {
			s.policies, s.capacities, s.known = policies, few(l, shares(2.5, 5, 7.5, 10, 12.5, 15, 17.5, 20)), ""
			settings = append(settings, s)
		}
	}
	return l.play("RQ3", settings)
}

// ablationSection is RQ3.
func ablationSection(all []outcome) report.Section {
	s := report.Section{Title: "RQ3: what each signal adds"}
	s.Say(fmt.Sprintf(`TP, topical prevalence, and TSI, structural importance, are left out in turn. The gain of a signal is the normalised hit ratio of the
full policy minus that of the policy without it. "As published" is the policy of the paper (rac%s). "Tuned" is rac as it is here: with a faster decay, with a memory
of evicted topics, and without refusing new entries at once.`, plainForm))
	for _, o := range all {
		rows := o.rows(normalised)
		x := sweep{at: percents(o.capacities), rows: rows}
		level := &report.Plot{Title: o.name + ": normalised hit ratio", Y: "hit ratio, % of infinite"}
		gain := &report.Plot{Title: o.name + ": gain of each signal, with 95 % intervals", Y: "gain, points", Zero: true}
		for _, p := range []*report.Plot{level, gain} {
			p.X, p.Ticks = "capacity, % of the distinct requests", capacityTicks(o.capacities)
		}
		for i, f := range forms {
			style := report.Style(i) // bold and plain
			for j, n := range []string{f.full, f.noTP, f.noTSI} {
				level.Lines = append(level.Lines, x.line([]string{"TP and TSI", "without TP", "without TSI"}[j]+", "+f.says, style,
					func(r *Row) (float64, float64) { m, _ := Mean(r.Values[n]); return m, 0 }))
			}
			gain.Lines = append(gain.Lines, x.line("TP, "+f.says, style, func(r *Row) (float64, float64) { return f.gain(r, f.noTP) }),
				x.line("TSI, "+f.says, style, func(r *Row) (float64, float64) { return f.gain(r, f.noTSI) }))
		}
		s.Draw(level)
		s.Draw(gain)
		s.Show(ablationTable(o.name, rows))
	}
	return s
}

func normalised(r sim.Result) float64 { return r.NormalizedHitRatio }

// gain is the difference of the full policy from the one without a signal.
func (f form) gain(r *Row, without string) (more, half float64) {
	return Mean(difference(r.Values[f.full], r.Values[without]))
}

func ablationTable(name string, rows []Row) *report.Table {
	t := &report.Table{Caption: name + ": normalised hit ratio in %, and the gains in points", Head: []string{"capacity"}, Texts: 1}
	for _, f := range forms {
		t.Head = append(t.Head, f.says, "without TP", "without TSI", "gain of TP", "gain of TSI")
	}
	for _, r := range rows {
		row := report.Cells(r.Capacity)
		for _, f := range forms {
			for _, n := range []string{f.full, f.noTP, f.noTSI} {
				m, _ := Mean(r.Values[n])
				row = append(row, report.Cell{Text: points(m)})
			}
			row = append(row, report.Cells(signed(f.gain(&r, f.noTP)), signed(f.gain(&r, f.noTSI)))...)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
