package main

import (
	"fmt"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise-lab/internal/replay"
	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/sim"
	"reprise/policy"
)

// showWindows adds what there is of windows at one capacity: the figures of the policies, and for each panel its regret, who led, and why
// that changed. rows are in the order of their table.
func showWindows(s *report.Section, rows []sim.Result) {
	if len(rows[0].Windows) == 0 {
		return
	}
	at := " at " + rows[0].Capacity
	if p := overWindows(rows, at); p != nil {
		s.Draw(p)
	}
	head, cells := replay.Windows(rows)
	s.Show(folded(head+at, cells))
	for i := range rows {
		r := &rows[i]
		if r.Windows[0].Panel == nil {
			continue
		}
		if len(r.Windows) > 1 {
			s.Map(leadersOf(r, at))
			s.Draw(regretOf(r, at))
		}
		head, cells := replay.PanelWindows(r)
		s.Show(folded(head+at, cells))
		showChanges(s, r, at)
	}
}

// overWindows plots the figures by window; nil if there is one.
func overWindows(rows []sim.Result, at string) *report.Plot {
	if len(rows[0].Windows) < 2 {
		return nil
	}
	head, objective := replay.ByWindow(rows)
	p := &report.Plot{Title: head + at, X: "request", Y: "%"}
	for _, r := range replay.Shown(rows, namedLines) {
		l := report.Line{Name: r.Policy, Style: report.Plain}
		if r.Bound {
			l.Style = report.Dashed
		} else if r.Windows[0].Panel != nil {
			l.Style = report.Bold
		}
		for k := range r.Windows {
			l.Points = append(l.Points, report.Point{X: end(&r.Windows[k]), Y: 100 * r.Windows[k].Measure(objective)})
		}
		p.Lines = append(p.Lines, l)
	}
	return p
}

// end is the position of the last request of a window.
func end(w *sim.Window) float64 { return float64(w.First + w.Requests - 1) }

// leadersOf maps who led a panel. The share of an expert that led throughout is 100.
func leadersOf(r *sim.Result, at string) *report.Heat {
	h := &report.Heat{Title: "Who led " + r.Policy + " by window" + at + ", % of its requests", X: "last request", Y: "expert", Most: 100}
	rows := map[string]int{}
	for k := range r.Windows {
		x := &r.Windows[k]
		h.Columns = append(h.Columns, cli.Thousands(x.First+x.Requests-1))
		for _, e := range x.Panel.Experts {
			if _, known := rows[e.Name]; !known {
				rows[e.Name] = len(h.Rows)
				h.Rows = append(h.Rows, e.Name)
				h.Values = append(h.Values, make([]float64, len(r.Windows)))
			}
			h.Values[rows[e.Name]][k] = 100 * e.Led
		}
	}
	return h
}

// regretOf plots the regrets of a panel.
func regretOf(r *sim.Result, at string) *report.Plot {
	toAll := report.Line{Name: "to the best policy", Style: report.Bold}
	toExperts := report.Line{Name: "to its best expert", Style: report.Plain}
	for k := range r.Windows {
		x := &r.Windows[k]
		toAll.Points = append(toAll.Points, report.Point{X: end(x), Y: 100 * x.Regret})
		toExperts.Points = append(toExperts.Points, report.Point{X: end(x), Y: 100 * x.Panel.Regret})
	}
	return &report.Plot{Title: "Regret of " + r.Policy + " by window" + at, X: "request", Y: "points", Zero: true, Lines: []report.Line{toAll, toExperts}}
}

// showChanges adds the changes of the leader of a panel.
func showChanges(s *report.Section, r *sim.Result, at string) {
	changes, others := replay.Changes(r)
	if len(changes) == 0 {
		s.Say(fmt.Sprintf("The leader of %s%s never changed.", r.Policy, at))
		return
	}
	t := &report.Table{Caption: "Changes of the leader of " + r.Policy + at, Head: []string{"from", "to", "request", "ahead, hits", "needed"}, Texts: 2, Folded: len(changes) > 8}
	if others > 0 {
		t.Caption += fmt.Sprintf(", without %s in windows of more than %d", cli.Thousands(others), policy.MostChanges)
	}
	for _, c := range changes {
		t.Rows = append(t.Rows, report.Cells(c.From, c.To, cli.Thousands(c.Seq), fmt.Sprintf("%.1f", c.Ahead), fmt.Sprintf("%.1f", c.Needed)))
	}
	s.Show(t)
}

// folded is a table that shows its caption until it is clicked: its figures are in a plot.
func folded(head string, cells [][]string) *report.Table {
	t := &report.Table{Caption: "Figures of " + head, Head: cells[0], Texts: 2, Folded: true}
	for _, row := range cells[1:] {
		t.Rows = append(t.Rows, report.Cells(row...))
	}
	return t
}
