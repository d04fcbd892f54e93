package main

import (
	"fmt"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise-lab/internal/fleet"
	"reprise/cmd/reprise-lab/internal/report"
)

func (o *fleetFlags) page() *report.Page {
	e := o.engine
	note := fmt.Sprintf("%d engines with KV caches of %s tokens. A step takes %g ms, and %g µs for each token of a prompt, %g µs for each of an answer, and more with "+
		"longer contexts; up to %s tokens a step.", o.engines, cli.Thousands(int64(e.Tokens)), e.Step*1e3, e.Prefill*1e6, e.Decode*1e6, cli.Thousands(int64(e.Budget)))
	if o.speed != 1 || o.size != 1 {
		note += fmt.Sprintf(" The last one has %g times the speed and %g times the KV cache.", o.speed, o.size)
	}
	return &report.Page{Title: "Choice of a replica in simulated time", Command: o.command, Notes: []string{note,
		"TTFT is the time to first token. Hits: tokens of the prompts that the engine had in its KV cache. Of oracle: hits by those of the oracle. Imbalance: work of the " +
			"engine with the most, by the mean. Predicted: tokens that the proxy expected to be cached, by those that were. Bold (in text: a star): the best TTFT p90 of the choosers."}}
}

// fleetSection is the part of one trace: a table for each load, and a plot over the loads.
func fleetSection(p *fleet.Played) (s report.Section) {
	s.Title = p.Trace.Name
	about := fmt.Sprintf("%s requests, %s tokens of prompts.", cli.Thousands(int64(len(p.Trace.Requests))), cli.Thousands(p.Trace.Prompts()))
	if p.Capacity > 0 {
		about += fmt.Sprintf(" Capacity: %.3g requests a second.", p.Capacity)
	}
	s.Say(about)
	loads := byLoad(p.Results)
	if len(loads) > 1 {
		s.Draw(overLoads(loads))
	}
	for _, rows := range loads {
		s.Show(loadTable(rows))
	}
	for _, rows := range loads {
		if t := savedTable(rows); t != nil {
			s.Show(t)
		}
	}
	return s
}

func byLoad(results []fleet.Result) (groups [][]fleet.Result) {
	for i, r := range results {
		if i == 0 || r.Rate != results[i-1].Rate {
			groups = append(groups, nil)
		}
		last := &groups[len(groups)-1]
		*last = append(*last, r)
	}
	return groups
}

// nameOf is a chooser with what distinguishes its play.
func nameOf(r *fleet.Result) string {
	name := r.Chooser
	if r.Proxies > 1 {
		name += fmt.Sprintf(", %d proxies", r.Proxies)
	}
	if r.Cached {
		name += ", response cache"
	}
	return name
}

func caption(r *fleet.Result) string {
	if r.Load == 0 {
		return fmt.Sprintf("%.3g requests a second", r.Rate)
	}
	return fmt.Sprintf("Load %g: %.3g requests a second", r.Load, r.Rate)
}

func loadTable(rows []fleet.Result) *report.Table {
	t := &report.Table{Caption: caption(&rows[0]), Texts: 1, Head: []string{"chooser", "requests", "TTFT mean", "p50", "p90", "p99", "hits", "of oracle", "predicted", "imbalance", "refused", "prefilled"}}
	oracle, best := 0.0, -1.0
	for i := range rows {
		r := &rows[i]
		switch {
		case r.Chooser == fleet.Oracle:
			oracle = r.Hit
		case r.Proxies == 1 && !r.Cached && (best < 0 || r.TTFT.P90 < best):
			best = r.TTFT.P90
		}
	}
	for i := range rows {
		r := &rows[i]
		if r.Cached {
			continue
		}
		share := "-"
		if oracle > 0 {
			share = percent(r.Hit / oracle)
		}
		cells := report.Cells(nameOf(r), cli.Thousands(int64(r.Requests)), seconds(r.TTFT.Mean), seconds(r.TTFT.P50), seconds(r.TTFT.P90), seconds(r.TTFT.P99), percent(r.Hit), share,
			percent(r.Predicted), fmt.Sprintf("%.2f", r.Imbalance), fmt.Sprint(r.Rejected), cli.Thousands(r.Tokens.Prefilled))
		cells[4].Strong = r.TTFT.P90 == best && r.Chooser != fleet.Oracle
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// savedTable shows what became of the prompts' tokens with a response cache and affinity, against clients that send to the engines in turn.
func savedTable(rows []fleet.Result) *report.Table {
	var direct, stored, both *fleet.Result
	for i := range rows {
		r := &rows[i]
		switch {
		case r.Cached && r.Chooser == fleet.Direct:
			stored = r
		case r.Cached:
			both = r
		case r.Chooser == fleet.Direct && r.Proxies == 1:
			direct = r
		}
	}
	if direct == nil || stored == nil || both == nil {
		return nil
	}
	share := func(tokens int64, of *fleet.Result) float64 { return float64(tokens) / float64(of.Tokens.All) }
	d, s, b := share(direct.Tokens.Prefilled, direct), share(stored.Tokens.Prefilled, stored), share(both.Tokens.Prefilled, both)
	t := &report.Table{Caption: caption(&rows[0]) + ": the tokens of the prompts", Texts: 1, Head: []string{"cause", "share"}}
	for _, cause := range []struct {
		name  string
		share float64
	}{{"prefix hit, sent directly in turns", 1 - d}, {"response hit", d - s}, {"affinity", s - b}, {"prefilled", b}, {"prefilled, sent directly", d}} {
		t.Rows = append(t.Rows, report.Cells(cause.name, percent(cause.share)))
	}
	return t
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// seconds has three digits, so that short and long times can be compared.
func seconds(s float64) string { return fmt.Sprintf("%.3g s", s) }

// overLoads plots the 90th percentile of TTFT.
func overLoads(loads [][]fleet.Result) *report.Plot {
	p := &report.Plot{Title: "Time to first token by load", X: "load, share of the fleet's capacity", Y: "TTFT p90, s", Zero: true}
	at := map[string]int{}
	for _, rows := range loads {
		p.Ticks = append(p.Ticks, report.Tick{At: rows[0].Load, Name: fmt.Sprintf("%g", rows[0].Load)})
		for i := range rows {
			r := &rows[i]
			name := nameOf(r)
			if _, ok := at[name]; !ok {
				at[name] = len(p.Lines)
				p.Lines = append(p.Lines, report.Line{Name: name, Style: styleOf(r)})
			}
			line := &p.Lines[at[name]]
			line.Points = append(line.Points, report.Point{X: r.Load, Y: r.TTFT.P90})
		}
	}
	return p
}

func styleOf(r *fleet.Result) report.Style {
	switch {
	case r.Chooser == fleet.Oracle:
		return report.Dashed
	case r.Cached || r.Proxies > 1:
		return report.Faint
	case r.Chooser == "prefix":
		return report.Bold
	}
	return report.Plain
}
