package characterize

import (
	"fmt"
	"math"

	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/sim/blocks/profile"
)

// hits is figures 4 and 5.
func (w *writer) hits() (out report.Section) {
	out.Title = "How much can be hit"
	out.Say(w.lacks() + w.windows() + w.sources())
	out.Draw(w.ratios())
	scale, unit := 1.0, "blocks"
	if w.p.Blocks/int64(len(w.p.Windows)) > 100_000 {
		scale, unit = 1e-6, "million blocks"
	}
	out.Draw(&report.Plot{Title: "Blocks in the prompts of a window, and those that could be hit", X: w.time(), Y: unit, Zero: true, Lines: []report.Line{
		w.over("accessed", report.Bold, func(x *profile.Window) float64 { return scale * float64(x.Blocks) }),
		w.over("ideal hits", report.Plain, func(x *profile.Window) float64 { return scale * float64(x.Hits) }),
	}})
	out.Show(w.groups("By kind of request", "kind", w.p.Kinds))
	if len(w.p.Categories) > 0 {
		t := w.groups("By category", "category", w.p.Categories)
		t.Folded = len(t.Rows) > 10
		out.Show(t)
	}
	return out
}

// sources says whose blocks are hit.
func (w *writer) sources() string {
	s := w.p.Sources
	if s == nil || w.p.Hits == 0 {
		return ""
	}
	return fmt.Sprintf("Of the hits, %s are in single-turn requests and %s in multi-turn ones; %s are on blocks that the same conversation used last, and %s on those of another one.",
		percent(s.SingleShare), percent(s.MultiShare), percent(s.Same), percent(s.Other))
}

// ratios is the hit ratio over time.
func (w *writer) ratios() *report.Plot {
	plot := &report.Plot{Title: "Block hit ratio over time: ideal, and LRU of three capacities", X: w.time(), Y: "hit ratio, %", Zero: true}
	ratio := func(of func(*profile.Window) float64) func(*profile.Window) float64 {
		return func(x *profile.Window) float64 {
			if x.Blocks == 0 {
				return math.NaN()
			}
			return 100 * of(x)
		}
	}
	plot.Lines = append(plot.Lines, w.over("ideal", report.Dashed, ratio(func(x *profile.Window) float64 { return x.HitRatio })))
	for i, c := range w.p.LRU.Capacities {
		style := report.Plain
		if i == 1 {
			style = report.Bold
		}
		plot.Lines = append(plot.Lines, w.over("LRU "+count(c, "block"), style, ratio(func(x *profile.Window) float64 { return x.LRU[i] })))
	}
	return plot
}

func (w *writer) groups(caption, name string, groups []profile.Group) *report.Table {
	t := &report.Table{Caption: caption, Texts: 1, Head: []string{name, "requests", "blocks", "ideal hits", "hit ratio, %", "of all hits, %"}}
	if w.p.Turns != nil {
		t.Head = append(t.Head, "multi-turn, %", "goes on, %")
	}
	for _, g := range groups {
		row := report.Cells(g.Name, thousands(g.Requests), thousands(g.Blocks), thousands(g.Hits), share(g.HitRatio), share(float64(g.Hits)/float64(max(1, w.p.Hits))))
		if w.p.Turns != nil {
			row = append(row, report.Cells(share(g.Multi), share(g.Next))...)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// capacity is the curve of LRU and figure 22.
func (w *writer) capacity() (out report.Section) {
	p := w.p
	out.Title = "The cache that it takes"
	text := "The curve of LRU is exact, from one pass over the trace. "
	if p.LRU.Rate < 1 {
		text = fmt.Sprintf("The curve of LRU is an estimate from %s of the blocks (SHARDS): its mean error is below one point where that is a thousand blocks or more. ", percent(p.LRU.Rate))
	}
	out.Say(text + fmt.Sprintf("LRU has 90 %% of the ideal hit ratio with %s. An ideal policy keeps the blocks that will be hit, and drops all others at once: it takes at most %s, %s in the mean. "+
		"These figures fall towards the end, because later hits are not in the trace.",
		count(p.LRU.Most, "block"), count(p.Needed.Most, "block"), thousands(int64(math.Round(p.Needed.Mean)))))
	curve := report.Line{Name: "LRU", Style: report.Bold}
	ideal := report.Line{Name: "ideal", Style: report.Dashed}
	for _, r := range p.LRU.Curve {
		curve.Points = append(curve.Points, report.Point{X: 100 * r.Share, Y: 100 * r.HitRatio})
		ideal.Points = append(ideal.Points, report.Point{X: 100 * r.Share, Y: 100 * p.HitRatio})
	}
	out.Draw(&report.Plot{Title: "Hit ratio of LRU by capacity", X: "capacity, % of the different blocks", Y: "hit ratio, %", LogX: true, Zero: true, Lines: []report.Line{curve, ideal}})
	needed := w.over("needed", report.Bold, func(x *profile.Window) float64 { return float64(x.Needed) })
	out.Draw(&report.Plot{Title: "Blocks that were used and will be hit: the capacity for the ideal hit ratio", X: w.time(), Y: "blocks", Zero: true, Lines: []report.Line{needed}})
	out.Show(w.curve())
	return out
}

func (w *writer) curve() *report.Table {
	p := w.p
	t := &report.Table{Caption: "LRU by capacity; GiB of KV cache " + w.kv.String(),
		Head: []string{"capacity, %", "blocks", "tokens", "GiB", "hit ratio, %", "of ideal, %"}}
	for _, r := range p.LRU.Curve {
		tokens := int64(r.Blocks) * int64(p.Tokens)
		of := "–"
		if p.HitRatio > 0 {
			of = share(r.HitRatio / p.HitRatio)
		}
		t.Rows = append(t.Rows, report.Cells(share(r.Share), thousands(r.Blocks), thousands(tokens), w.kv.gibibytes(tokens), share(r.HitRatio), of))
	}
	return t
}
