package characterize

import (
	"fmt"
	"math"
	"strings"

	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/sim/blocks/profile"
)

// places is figures 16 to 18.
func (w *writer) places() (out report.Section) {
	out.Title = "Where in the requests hits are"
	out.Say("Each map is the ideal hit ratio when only a stride of each request's blocks, prompt and answer, is kept, from an offset on. An engine can use a block only with all blocks before it: the first column is what it gets, and the others say where the content " +
		"is that returns.")
	for _, s := range w.p.Spatial {
		if s.Name == "all" || s.Blocks*20 >= w.p.Blocks {
			out.Map(place(&s))
		}
	}
	return out
}

func place(s *profile.Spatial) *report.Heat {
	h := &report.Heat{Title: "Hit ratio by place, %, of " + strings.Replace(s.Name+" ", " ", " requests ", 1), X: "offset, %", Y: "stride, %", Digits: 1, Most: 100 * s.Ratios[len(s.Ratios)-1][0]}
	h.Title = strings.TrimSpace(h.Title) // of all requests, of single-turn requests, of single-turn requests text
	for i := range s.Ratios {
		h.Columns = append(h.Columns, fmt.Sprint(10*i))
	}
	for i, row := range s.Ratios {
		h.Rows = append(h.Rows, fmt.Sprint(10*(i+1)))
		values := make([]float64, len(s.Ratios))
		for c := range values {
			values[c] = math.NaN()
			if c < len(row) {
				values[c] = 100 * row[c]
			}
		}
		h.Values = append(h.Values, values)
	}
	return h
}

// lives is figures 19 and 20.
func (w *writer) lives() (out report.Section) {
	out.Title = "How long blocks live"
	if len(w.p.Lifespans) == 0 || w.p.Lifespans[0].Blocks == 0 {
		out.Say("There is no block.")
		return out
	}
	all := w.p.Lifespans[0]
	out.Say(fmt.Sprintf("The lifespan of %s of the blocks is 0: they are used once. Nine in ten blocks are not used later than %s after their first use, and 99 in 100 not later than %s; the longest "+
		"lifespan is %s. Uses after the end of the trace are not seen.", percent(1-float64(all.Reused)/float64(all.Blocks)), duration(all.P90), duration(all.P99), duration(all.Max)))
	plot := &report.Plot{Title: "Lifespan of blocks", X: "seconds", Y: "blocks with a shorter one, %", LogX: true, Zero: true}
	for i, l := range w.p.Lifespans {
		style := report.Plain
		if i == 0 {
			style = report.Bold
		}
		if len(plot.Lines) <= pictured && l.Blocks > 0 {
			plot.Lines = append(plot.Lines, line(l.Name, style, visible(l.CDF), 1))
		}
	}
	out.Draw(plot)
	over := w.heat("Mean lifespan in seconds, by the category and time of the first use", w.p.LifeMap, 0)
	over.Most = bulk(over)
	out.Map(over)
	t := &report.Table{Caption: "Lifespan in seconds", Texts: 1, Head: []string{"first used by", "blocks", "used again, %", "mean", "p50", "p90", "p99", "longest"}}
	for _, l := range w.p.Lifespans {
		t.Rows = append(t.Rows, report.Cells(l.Name, thousands(l.Blocks), share(float64(l.Reused)/float64(max(1, l.Blocks))), digits(l.Mean), digits(l.P50), digits(l.P90), digits(l.P99), digits(l.Max)))
	}
	out.Show(t)
	return out
}

// sizes is figure 21, and the arrivals.
func (w *writer) sizes() (out report.Section) {
	out.Title = "How large requests are, and when they come"
	a := w.p.Arrivals
	out.Say(fmt.Sprintf("%s requests a second, at most %s in a window. The times between them have a coefficient of variation of %s: 1 is that of independent arrivals, more comes in bursts.",
		digits(a.Rate), digits(a.Peak), digits(a.CV)))
	out.Draw(&report.Plot{Title: "Requests a second", X: w.time(), Y: "requests/s", Zero: true, Lines: []report.Line{
		w.over("requests", report.Bold, func(x *profile.Window) float64 { return float64(x.Requests) / w.p.Window })}})
	t := &report.Table{Caption: "Tokens of a request", Texts: 1, Head: []string{"requests", "number", "prompt: mean", "p50", "p90", "p99", "answer: mean", "p50", "p90", "p99", "both: mean", "p50", "p90", "p99"}}
	for _, s := range w.p.Sizes {
		row := report.Cells(s.Name, thousands(s.Requests))
		for _, q := range []profile.Quantiles{s.Prompt, s.Answer, s.Whole} {
			row = append(row, report.Cells(digits(q.Mean), thousands(q.P50), thousands(q.P90), thousands(q.P99))...)
		}
		t.Rows = append(t.Rows, row)
	}
	out.Show(t)
	return out
}
