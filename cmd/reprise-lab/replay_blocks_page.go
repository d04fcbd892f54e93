package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/sim/blocks"
)

// blockPage is the report of a replay of block traces: a summary of the first, and a section for each.
func blockPage(all []playedBlocks, with *blocks.Options, command string) *report.Page {
	p := &report.Page{Title: "Prefix caches on block traces", Command: command, Words: blockWords, Notes: []string{modelNote(with)}}
	for i := range all {
		if i == 0 {
			p.Summary = all[i].summary()
		}
		p.Sections = append(p.Sections, all[i].section())
	}
	return p
}

// modelNote describes how the requests were played.
func modelNote(with *blocks.Options) string {
	text := "A prompt is a chain of KV blocks; a block of it hits if it and all before it are in the cache. Bold: the best policy. "
	s := with.Speed
	if s == nil {
		return text + "Requests take no time here."
	}
	text += fmt.Sprintf("Servers: %d, each with %s tokens of prefill per second", max(1, s.Servers), cli.Thousands(int64(s.Prefill)))
	if s.Fixed > 0 {
		text += fmt.Sprintf(" after %g s", s.Fixed)
	}
	if s.Decode > 0 {
		text += fmt.Sprintf("; %g tokens per second of an answer", s.Decode)
	}
	if s.Closed {
		text += "; a turn arrives its think time after the answer before it"
	}
	return text + "."
}

// section is the part of one trace: plots, then tables.
func (p *playedBlocks) section() report.Section {
	s := report.Section{Title: nameOfTrace(p.trace)}
	s.Say(aboutTrace(p.trace) + ".")
	groups := blocksByCapacity(p.results)
	if len(groups) > 1 {
		s.Draw(p.overCapacities("Hits by capacity", "hits, % of the blocks", func(r *blocks.Result) float64 { return 100 * r.HitRatio }))
		if p.results[0].Time != nil {
			s.Draw(p.overCapacities("TTFT by capacity: the mean", "TTFT, s", func(r *blocks.Result) float64 { return r.Time.Mean }))
			s.Draw(p.overCapacities("Queued TTFT by capacity: p90", "queued TTFT, s", func(r *blocks.Result) float64 { return r.Queued.P90 }))
		}
	} else {
		s.Compare(hitBars(groups[0]))
	}
	middle := len(groups) / 2
	for i, rows := range groups {
		for _, t := range []*report.Table{hitTable(rows), timeTable(rows)} {
			if t != nil {
				t.Folded = i != middle
				s.Show(t)
			}
		}
	}
	return s
}

// hitBars are the hits at the only capacity.
func hitBars(rows []blocks.Result) *report.Bars {
	b := &report.Bars{Title: "Hits at " + rows[0].Capacity, Y: "hits, % of the blocks", Digits: 2, Series: []report.Series{{Name: "hits"}}}
	for _, r := range ranked(rows) {
		b.Groups = append(b.Groups, r.Policy)
		b.Series[0].Values = append(b.Series[0].Values, report.Value{Y: 100 * r.HitRatio})
	}
	return b
}

// mostNamed is how many policies of a plot have a color, besides the bounds.
const mostNamed = 8

// overCapacities plots a figure of each policy over the capacities: in % of the distinct blocks if all are given so, else in blocks.
func (p *playedBlocks) overCapacities(title, y string, figure func(*blocks.Result) float64) *report.Plot {
	shares := !slices.ContainsFunc(p.results, func(r blocks.Result) bool { return !strings.HasSuffix(r.Capacity, "%") })
	chart := &report.Plot{Title: title, X: "capacity, blocks", Y: y, LogX: true}
	if shares {
		chart.X = "capacity, % of the distinct blocks"
	}
	slots := p.slots()
	for i := range p.results {
		r := &p.results[i]
		at := slices.IndexFunc(chart.Lines, func(l report.Line) bool { return l.Name == r.Policy })
		if at < 0 {
			at = len(chart.Lines)
			chart.Lines = append(chart.Lines, report.Line{Name: r.Policy, Style: p.style(r)})
		}
		x := float64(slots[r.Capacity])
		if shares {
			fmt.Sscanf(r.Capacity, "%g%%", &x)
		}
		chart.Lines[at].Points = append(chart.Lines[at].Points, report.Point{X: x, Y: figure(r)})
		if at == 0 {
			chart.Ticks = append(chart.Ticks, report.Tick{At: x, Name: tickName(x)})
		}
	}
	for _, l := range chart.Lines {
		slices.SortFunc(l.Points, func(a, b report.Point) int { return cmp.Compare(a.X, b.X) })
	}
	slices.SortFunc(chart.Ticks, func(a, b report.Tick) int { return cmp.Compare(a.At, b.At) })
	return chart
}

func tickName(x float64) string {
	if x >= 1000 {
		return cli.Thousands(int64(x))
	}
	return fmt.Sprintf("%g", x)
}

// slots are the blocks of each capacity.
func (p *playedBlocks) slots() map[string]int {
	all := map[string]int{}
	for _, r := range p.results {
		if n, ok := all[r.Capacity]; !ok || r.Policy != blocks.Infinite && n > 0 {
			all[r.Capacity] = r.Slots
		}
	}
	return all
}

// style is that of a policy's line: the one with the most hits over all capacities is the subject.
func (p *playedBlocks) style(r *blocks.Result) report.Style {
	if r.Bound {
		return report.Dashed
	}
	hits := map[string]int64{}
	for _, r := range p.results {
		if !r.Bound {
			hits[r.Policy] += r.Hits
		}
	}
	above := 0
	for name, n := range hits { // the order does not matter
		if n > hits[r.Policy] || n == hits[r.Policy] && name < r.Policy {
			above++
		}
	}
	switch {
	case above == 0:
		return report.Bold
	case above < mostNamed || r.Policy == "lru":
		return report.Plain
	}
	return report.Faint
}

// summary are the figures of the capacity in the middle of those played.
func (p *playedBlocks) summary() []report.Figure {
	groups := blocksByCapacity(p.results)
	rows := groups[len(groups)/2]
	best, lru, infinite := bestOf(rows), rowOf(rows, "lru"), rowOf(rows, blocks.Infinite)
	if best == nil {
		return nil
	}
	text := "Of the blocks of " + nameOfTrace(p.trace) + " at " + atCapacity(rows)
	if lru != nil && best != lru {
		text += ", " + overLRU(best, lru) + " points from lru"
	}
	all := []report.Figure{{Name: "Hits of the best policy, " + best.Policy, Value: share(best.HitRatio), Text: text + "."}}
	if f, ok := p.saving(rows, lru); ok {
		all = append(all, f)
	}
	if infinite != nil {
		all = append(all, report.Figure{Name: "The most that can hit", Value: share(infinite.HitRatio), Text: "With a cache that keeps every block; " + best.Policy + " has " + ofInfinite(best, infinite) + " of that."})
	}
	if best.Time != nil {
		f := report.Figure{Name: "TTFT, mean", Value: shortTime(best.Time.Mean), Text: "With " + best.Policy}
		if lru != nil && best != lru {
			f.Text += ", " + shortTime(lru.Time.Mean) + " with lru"
		}
		f.Text += "; " + shortTime(best.Queued.Mean) + " with the time in the queue."
		all = append(all[:1:1], append([]report.Figure{f}, all[1:]...)...)
	}
	return all[:min(3, len(all))]
}

// shortTime is seconds, or milliseconds below a tenth of a second.
func shortTime(s float64) string {
	if s < 0.1 {
		return fmt.Sprintf("%.3g ms", 1000*s)
	}
	return seconds(s)
}

// saving is the figure of the capacity at which a policy has the hit ratio that lru has at the capacity of rows.
func (p *playedBlocks) saving(rows []blocks.Result, lru *blocks.Result) (f report.Figure, ok bool) {
	if lru == nil || len(blocksByCapacity(p.results)) < 2 {
		return f, false
	}
	least, by := math.Inf(1), ""
	for _, r := range rows {
		if r.Bound || r.Policy == "lru" {
			continue
		}
		if slots, ok := p.needs(r.Policy, lru.HitRatio); ok && slots < least {
			least, by = slots, r.Policy
		}
	}
	if by == "" || least >= float64(lru.Slots) {
		return f, false
	}
	return report.Figure{Name: "Capacity for the hits of lru", Value: fmt.Sprintf("−%.0f %%", 100*(1-least/float64(lru.Slots))),
		Text: fmt.Sprintf("%s has the hits of lru at %s with about %s blocks in place of %s, interpolated between the capacities that were played.",
			by, lru.Capacity, cli.Thousands(int64(least)), cli.Thousands(int64(lru.Slots)))}, true
}

// needs interpolates at how many blocks a policy has a hit ratio; ok is false where that is not between two capacities.
func (p *playedBlocks) needs(policy string, hits float64) (slots float64, ok bool) {
	var own []blocks.Result
	for _, r := range p.results {
		if r.Policy == policy {
			own = append(own, r)
		}
	}
	slices.SortFunc(own, func(a, b blocks.Result) int { return cmp.Compare(a.Slots, b.Slots) })
	for i := 1; i < len(own); i++ {
		a, b := own[i-1], own[i]
		if a.HitRatio <= hits && b.HitRatio >= hits && b.HitRatio > a.HitRatio {
			t := (hits - a.HitRatio) / (b.HitRatio - a.HitRatio)
			return math.Exp(math.Log(float64(a.Slots))*(1-t) + math.Log(float64(b.Slots))*t), true
		}
	}
	return 0, false
}
