package characterize

import (
	"fmt"

	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/sim/blocks/profile"
)

const (
	fewest   = 30 // uses that return, below which a fit is that of the wider group
	pictured = 6  // categories in one plot
)

// returns is figures 12 to 15.
func (w *writer) returns() (out report.Section) {
	out.Title = "When blocks return"
	all := w.p.Reuse
	if w.p.Hits == 0 {
		out.Say("No block is used a second time.")
		return out
	}
	r := all[0]
	out.Say(fmt.Sprintf("Of all uses of blocks, %s are followed by another one, %s later in the median. The fitted exponential has P %s and a mean of %s; its distance KS to the observed "+
		"distribution is %s, and it explains %s of the variance (R²).", percent(r.Share), duration(r.P50), digits(r.Fit.P), duration(r.Fit.Mean), digits(r.Fit.KS), percent(r.Fit.R2)))
	wide, narrow := w.split()
	if len(wide) > 1 {
		out.Draw(w.reuse("Reuse time of all uses, and of those by single-turn and multi-turn requests", wide))
	}
	if len(narrow) > 0 {
		out.Draw(w.reuse("Reuse time by kind and category: those with the most uses", narrow))
	}
	out.Draw(w.fit(&r))
	n := len(wide)
	for n < len(all) && n < len(wide)+len(w.p.Kinds) && len(w.p.Kinds) > 1 {
		n++
	}
	out.Show(fits("Reuse time in seconds, and the fitted exponential", all[:n]))
	if n < len(all) {
		t := fits("Reuse time by category", all[n:])
		t.Folded = len(t.Rows) > 10
		out.Show(t)
	}
	return out
}

// split is the groups over all kinds, and the largest of the others.
func (w *writer) split() (wide, narrow []profile.Reuse) {
	wide = w.p.Reuse[:1]
	rest := w.p.Reuse[1:]
	if w.p.Turns != nil {
		for len(rest) > 0 && (rest[0].Name == "single-turn" || rest[0].Name == "multi-turn") {
			wide, rest = append(wide[:len(wide):len(wide)], rest[0]), rest[1:]
		}
	}
	for _, r := range rest {
		if r.Reused >= fewest && len(narrow) < pictured {
			narrow = append(narrow, r)
		}
	}
	return wide, narrow
}

func (w *writer) reuse(title string, groups []profile.Reuse) *report.Plot {
	plot := &report.Plot{Title: title + " (observed)", X: "seconds since the last use", Y: "used again, %", LogX: true, Zero: true}
	for i, r := range groups {
		style := report.Plain
		if i == 0 {
			style = report.Bold
		}
		plot.Lines = append(plot.Lines, line(r.Name, style, visible(r.Within), 1))
	}
	return plot
}

// visible leaves out the begin of a curve, as far as it is flat, except the last of these points.
func visible(points []profile.Point) []profile.Point {
	for least := points; len(points) > 1 && points[1].Y-least[0].Y < 0.001; {
		points = points[1:]
	}
	return points
}

// fit is the observed distribution beside the fitted one.
func (w *writer) fit(r *profile.Reuse) *report.Plot {
	fitted := report.Line{Name: "fitted", Style: report.Dashed}
	for _, p := range visible(r.Within) {
		fitted.Points = append(fitted.Points, report.Point{X: p.X, Y: 100 * r.Fit.At(p.X)})
	}
	return &report.Plot{Title: "Reuse time of all uses, and the fitted exponential", X: "seconds since the last use", Y: "used again, %", LogX: true, Zero: true,
		Lines: []report.Line{line("observed", report.Bold, visible(r.Within), 1), fitted}}
}

func fits(caption string, groups []profile.Reuse) *report.Table {
	t := &report.Table{Caption: caption, Texts: 1,
		Head: []string{"uses by", "uses", "return, %", "mean", "p50", "p90", "p99", "P", "mean of fit", "KS", "R²"}}
	for _, r := range groups {
		row := report.Cells(r.Name, thousands(r.Uses), share(r.Share), "–", "–", "–", "–", digits(r.Fit.P), digits(r.Fit.Mean), "–", "–")
		if r.Reused > 0 {
			for i, v := range []float64{r.Mean, r.P50, r.P90, r.P99} {
				row[3+i].Text = digits(v)
			}
		}
		if r.Reused >= fewest {
			row[9].Text, row[10].Text = digits(r.Fit.KS), digits(r.Fit.R2)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
