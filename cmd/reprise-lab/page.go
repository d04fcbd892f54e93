package main

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"reprise/cmd/reprise-lab/internal/replay"
	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/policies"
	"reprise/cmd/reprise-lab/sim"
)

// pageOf is the report of a replay: for each trace its tables, and a plot of the hit ratios if there are several capacities.
func pageOf(results []sim.Result, command string, notes ...string) report.Page {
	p := report.Page{Title: "Cache policies on request traces", Command: command, Notes: append(slices.Compact(notes),
		"A request is a hit when its answer is in the cache. Of infinite: hits by those of a cache that keeps everything. Gap closed: how much of "+
			"the way from the best baseline, in bold, to belady. Baselines are the policies that are neither rac nor haz; infinite and belady could not be run.")}
	if len(results) > 0 && len(results[0].Windows) > 0 {
		p.Notes = append(p.Notes, strings.ReplaceAll(replay.WindowsLegend, "\n", " "))
	}
	for len(results) > 0 {
		n := slices.IndexFunc(results, func(r sim.Result) bool { return r.Trace != results[0].Trace })
		if n < 0 {
			n = len(results)
		}
		p.Sections = append(p.Sections, section(results[:n]))
		results = results[n:]
	}
	return p
}

// section is the part of one trace.
func section(results []sim.Result) report.Section {
	s := report.Section{Title: results[0].Trace}
	if chart := overCapacities(results); chart != nil {
		s.Blocks = append(s.Blocks, report.Block{Plot: chart})
	}
	for _, rows := range replay.ByCapacity(results) {
		head, all := replay.Table(rows)
		t := report.Table{Caption: strings.ReplaceAll(head, "\n", " "), Head: all[0][1:], Texts: 1}
		for _, row := range all[1:] {
			cells := report.Cells(row[1:]...)
			cells[0].Strong = row[0] != ""
			t.Rows = append(t.Rows, cells)
		}
		s.Show(&t)
		showWindows(&s, rows)
	}
	return s
}

// namedLines is how many policies of a plot are named, besides the bounds.
const namedLines = 7

// overCapacities plots the hit ratios over the capacities that have the unit of the first one; nil if that is only one.
func overCapacities(results []sim.Result) *report.Plot {
	lines := map[string]*report.Line{}
	var order []*report.Line
	p := &report.Plot{Title: "Hit ratio by capacity: the best of the policies, lru and rac+", Y: "hit ratio, %"}
	for _, r := range results {
		x, unit := measure(r.Capacity)
		if p.X == "" {
			p.X = unit
		}
		if unit != p.X {
			continue
		}
		if lines[r.Policy] == nil {
			lines[r.Policy] = &report.Line{Name: r.Policy, Style: report.Faint}
			order = append(order, lines[r.Policy])
		}
		l := lines[r.Policy]
		l.Points = append(l.Points, report.Point{X: x, Y: 100 * r.HitRatio})
		if l == order[0] {
			p.Ticks = append(p.Ticks, report.Tick{At: x, Name: strconv.FormatFloat(x, 'g', 4, 64)})
		}
	}
	if len(order) == 0 || len(order[0].Points) < 2 {
		return nil
	}
	style(order, results)
	for _, l := range order {
		slices.SortFunc(l.Points, func(a, b report.Point) int { return cmp.Compare(a.X, b.X) })
		p.Lines = append(p.Lines, *l)
	}
	return p
}

// style picks the lines that are named: belady, lru, rac+, and the policies with the best sums of hit ratios.
func style(lines []*report.Line, results []sim.Result) {
	total := map[string]float64{}
	bounds := map[string]bool{}
	for _, r := range results {
		total[r.Policy] += r.HitRatio
		bounds[r.Policy] = r.Bound
	}
	slices.SortStableFunc(lines, func(a, b *report.Line) int { return cmp.Compare(total[b.Name], total[a.Name]) })
	left := namedLines
	for _, always := range []bool{true, false} {
		for _, l := range lines {
			switch {
			case l.Style != report.Faint || always != (l.Name == "lru" || l.Name == "rac+" || l.Name == "belady"):
			case l.Name == "belady":
				l.Style = report.Dashed
			case !bounds[l.Name] && left > 0:
				l.Style, left = report.Plain, left-1
				if policies.Relational(l.Name) {
					l.Style = report.Bold
				}
			}
		}
	}
}

// measure returns a capacity as a number, and the axis that it belongs to.
func measure(capacity string) (x float64, unit string) {
	c, err := sim.ParseCapacity(capacity)
	switch {
	case err != nil || c.Entries > 0:
		return float64(c.Entries), "capacity, entries"
	case c.Bytes > 0:
		return float64(c.Bytes) / (1 << 20), "capacity, MiB"
	}
	return 100 * c.Share, "capacity, % of the distinct requests"
}
