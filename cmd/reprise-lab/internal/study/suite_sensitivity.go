package study

import (
	"strings"

	"reprise/cmd/reprise-lab/internal/report"
)

// knob is a parameter of rac with its values in RQ4.
type knob struct {
	name, axis, says string
	values           []string
}

var knobs = []knob{
	{"alpha", "α per request", "Decay factor α: a topic's prevalence halves in 1/α requests; C is the capacity", []string{"0.1/C", "0.3/C", "1/C", "3/C", "10/C", "0.1", "1"}},
	{"lambda", "λ", "Structural weight λ: what a dependent counts for", []string{"0", "0.5", "1", "2", "4", "8"}},
}

// with returns a policy with the knob at a value. If the policy has a value already, the last one counts.
func (k knob) with(policy, value string) string {
	sep := ":"
	if strings.Contains(policy, ":") {
		sep = ","
	}
	return policy + sep + k.name + "=" + value
}

// turned are the policies whose knobs are varied.
var turned = []form{{says: "as published", full: "rac" + plainForm}, {says: "tuned", full: "rac"}}

// sensitivity plays RQ4 without the gates.
func (l *lab) sensitivity() ([]outcome, error) {
	policies := Baselines()
	for _, k := range knobs {
		for _, f := range turned {
			for _, v := range k.values {
				policies = append(policies, k.with(f.full, v))
			}
		}
	}
	var settings []setting
	for _, g := range []struct{ name, spec string }{
		{"syn W", syn(0.5, 0.7, "W")}, {"syn U", syn(0.5, 0.7, "U")}, {"drift W", "drift:weight=W"},
	} {
		settings = append(settings, l.generated(g.name, g.spec, policies, shares(10)...))
	}
	return l.play("RQ4, alpha and lambda", settings)
}

// sensitivitySection is RQ4.
func sensitivitySection(all []outcome, gates []gate) report.Section {
	s := report.Section{Title: "RQ4: sensitivity at a capacity of 10 % of the distinct requests"}
	s.Say("One parameter is varied; the others are as published, or as in rac (tuned). The grey lines are the best baseline of each workload.")
	rows := allRows(all, HitRatio)
	for _, k := range knobs {
		p := &report.Plot{Title: k.says, X: k.axis, Y: "hit ratio, %"}
		t := &report.Table{Caption: k.says + ": hit ratio in %", Head: []string{k.name}, Texts: 1}
		for i, v := range k.values {
			p.Ticks = append(p.Ticks, report.Tick{At: float64(i), Name: v})
			t.Rows = append(t.Rows, report.Cells(v))
		}
		for r := range rows {
			for i, f := range turned {
				t.Head = append(t.Head, rows[r].Case+", "+f.says)
				line := report.Line{Name: rows[r].Case + ", " + f.says, Style: report.Style(i)}
				for j, v := range k.values {
					mean, half := Mean(rows[r].Values[k.with(f.full, v)])
					line.Points = append(line.Points, report.Point{X: float64(j), Y: 100 * mean})
					t.Rows[j] = append(t.Rows[j], report.Cell{Text: points(mean) + " ± " + points(half)})
				}
				p.Lines = append(p.Lines, line)
			}
			_, best := rows[r].Best(Baselines())
			p.Lines = append(p.Lines, report.Line{Style: report.Faint, Points: []report.Point{{Y: 100 * best}, {X: float64(len(k.values) - 1), Y: 100 * best}}})
		}
		s.Draw(p)
		s.Show(t)
	}
	gateBlocks(&s, gates)
	return s
}

// spread returns the lowest and the highest hit ratio of a policy over the values of a knob, and the best value.
func (k knob) spread(r *Row, policy string) (least, most float64, best string) {
	least = 1
	for _, v := range k.values {
		m, _ := Mean(r.Values[k.with(policy, v)])
		least = min(least, m)
		if m > most {
			most, best = m, v
		}
	}
	return least, most, best
}

// of returns the row of a case, nil if there is none.
func of(rows []Row, name string) *Row {
	for i := range rows {
		if rows[i].Case == name {
			return &rows[i]
		}
	}
	return nil
}
