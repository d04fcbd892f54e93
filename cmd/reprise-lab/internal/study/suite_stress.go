package study

import (
	"fmt"
	"slices"

	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/sim"
)

// sweep is one of the stress axes of paper 002 §4.2 in one reading of how sessions are repeated.
type sweep struct {
	axis, unit string
	weight     string
	at         []float64
	rows       []Row // one for each value
}

var (
	longRatios = []float64{0.5, 0.6, 0.7, 0.8, 0.9}
	gammas     = []float64{0.7, 0.8, 0.9, 1.0, 1.1, 1.2}
	readings   = []string{"W", "U", "T"}
)

// stress plays both axes in all readings.
func (l *lab) stress() (all []sweep, err error) {
	for _, w := range readings {
		for _, axis := range []string{"long", "gamma"} {
			s := sweep{axis: "long reuse ratio", unit: "%", weight: w, at: few(l, longRatios)}
			if axis == "gamma" {
				s = sweep{axis: "Zipf exponent of the topics", weight: w, at: few(l, gammas)}
			}
			var settings []setting
			for _, x := range s.at {
				spec, name := syn(x, 0.7, w), fmt.Sprintf("long %g %s", x, w)
				if axis == "gamma" {
					spec, name = syn(0.5, x, w), fmt.Sprintf("gamma %g %s", x, w)
				}
				settings = append(settings, l.generated(name, spec, l.contenders(), sim.Capacity{Entries: 1000}))
			}
			out, err := l.play(fmt.Sprintf("RQ1, %s, reading %s", s.axis, w), settings)
			s.rows = allRows(out, HitRatio)
			s.at = s.at[:len(s.rows)]
			if len(s.rows) > 0 {
				all = append(all, s)
			}
			if err != nil {
				return all, err
			}
		}
	}
	return all, nil
}

// stressSection is RQ1.
func (l *lab) stressSection(all []sweep) report.Section {
	s := report.Section{Title: "RQ1: long reuse distances, skewed popularity"}
	s.Say(`Generator G: 120 topics of 40 sessions each, 10,000 requests, a cache of 1,000 entries. Sessions are never split, and some are repeated.
A reuse is long if there are 1,000 or more distinct requests since the last equal one. The paper does not say how the repeated session is drawn, which
decides the sign of the result. Reading W draws it by the weight of its topic, U draws from all prior sessions uniformly, T draws a topic by its weight and then
one of its sessions uniformly.`)
	s.Say("Our policies are given the true topics, which no proxy has, and the first request of each session as the parent of the later ones: this is the best case.")
	s.Draw(advantage(all, "long reuse ratio"))
	s.Draw(advantage(all, "Zipf exponent of the topics"))
	for _, x := range all {
		title := fmt.Sprintf("%s, reading %s", x.axis, x.weight)
		s.Show(compared("Minus the best of all baselines, in points: "+title, x.rows, Baselines(), ours))
		s.Show(verdictTable("The same over all of them, in points", verdicts(x.rows, ours), roles(ours, nil), false))
		if x.weight != "T" {
			s.Draw(x.plot())
		}
		s.Show(ratios("Hit ratio in %, and normalised by that of an infinite cache: "+title, l.contenders(), x.heads(), x.rows))
	}
	return s
}

// shown are the named policies of a plot, in the order of the legend.
var shown = []string{"belady", panelOf, tuned, literal, "lirs", "w-tinylfu", "arc", "lru"}

// styles are the styles of lines; other policies are plain or faint.
var styles = map[string]report.Style{"belady": report.Dashed, "infinite": report.Dashed, "lirs": report.Plain, "w-tinylfu": report.Plain,
	"arc": report.Plain, "lru": report.Plain, panelOf: report.Bold, tuned: report.Bold, literal: report.Bold}

func (x *sweep) plot() *report.Plot {
	p := &report.Plot{Title: fmt.Sprintf("Hit ratio, reading %s; the other baselines in grey", x.weight), X: x.label(), Y: "hit ratio, %", Ticks: x.ticks()}
	names := slices.Clone(shown)
	for _, n := range Baselines() {
		if _, ok := styles[n]; !ok {
			names = append(names, n)
		}
	}
	for _, n := range names {
		style, ok := styles[n]
		if !ok {
			style = report.Faint
		}
		p.Lines = append(p.Lines, x.line(n, style, func(r *Row) (float64, float64) { m, _ := Mean(r.Values[n]); return m, 0 }))
	}
	return p
}

// advantage plots the difference of our policies from the best of all baselines.
func advantage(all []sweep, axis string) *report.Plot {
	p := &report.Plot{Title: "Ours minus the best of all baselines, with 95 % intervals, along the " + axis, Y: "difference, points", Zero: true}
	for _, x := range all {
		if x.axis != axis || x.weight == "T" {
			continue
		}
		p.X, p.Ticks = x.label(), x.ticks()
		for i, n := range []string{panelOf, tuned, literal} {
			style := report.Plain
			if i == 0 {
				style = report.Bold
			}
			line := x.line(label(n)+" "+x.weight, style, func(r *Row) (float64, float64) {
				best, _ := r.Best(Baselines())
				return Mean(difference(r.Values[n], r.Values[best]))
			})
			p.Lines = append(p.Lines, line)
		}
	}
	return p
}

func (x *sweep) line(name string, style report.Style, figure func(*Row) (v, half float64)) report.Line {
	l := report.Line{Name: label(name), Style: style}
	for i := range x.rows {
		v, half := figure(&x.rows[i])
		l.Points = append(l.Points, report.Point{X: x.at[i], Y: 100 * v, Half: 100 * half})
	}
	return l
}

func (x *sweep) label() string {
	if x.unit == "" {
		return x.axis
	}
	return x.axis + ", " + x.unit
}

func (x *sweep) heads() (all []string) {
	for _, t := range x.ticks() {
		all = append(all, t.Name)
	}
	return all
}

func (x *sweep) ticks() (all []report.Tick) {
	for _, v := range x.at {
		name := fmt.Sprintf("%.1f", v)
		if x.unit == "%" {
			name = fmt.Sprintf("%.0f", 100*v)
		}
		all = append(all, report.Tick{At: v, Name: name})
	}
	return all
}

// ratios is the table of all policies in all rows.
func ratios(caption string, policies, heads []string, rows []Row) *report.Table {
	t := &report.Table{Caption: caption, Head: append([]string{"policy"}, heads...), Texts: 1, Folded: true}
	for _, p := range policies {
		row := report.Cells(label(p))
		for _, r := range rows {
			best, _ := r.Best(Baselines())
			mean, half := r.Figure(p)
			full, _ := r.Figure("infinite")
			text := points(mean)
			if half > 0 {
				text += " ± " + points(half)
			}
			row = append(row, report.Cell{Text: fmt.Sprintf("%s (%.3f)", text, ratio(mean, full)), Strong: p == best})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
