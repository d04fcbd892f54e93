package kvstudy

import (
	"fmt"
	"math"
	"slices"

	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/internal/study"
	"reprise/cmd/reprise-lab/sim/blocks"
)

// label is the name of a policy in tables and plots.
func label(policy string) string {
	if l, ok := labels[policy]; ok {
		return l
	}
	return policy
}

var labels = map[string]string{
	"wa": "WA", "wa+": "WA+", lifeOff: "WA without life", pOff: "WA without p", "lru": "LRU", "fifo": "FIFO", "lfu": "LFU", "s3fifo": "S3-FIFO", "gdfs": "GDFS",
	agingPaper: "Aging LFU, w = 1", "aging-lfu": "Aging LFU, w = C", "lpc": "LPC by turn", blocks.Belady: "Belady", blocks.Oracle: "Oracle", blocks.Infinite: "infinite",
}

// The forms of policies that are compared.
const (
	lifeOff    = "wa:life=off"
	pOff       = "wa:p=off"
	agingPaper = "aging-lfu:w=1"
)

// curve plots a figure of policies over the capacities that are shares. The first policy is the subject.
func (p *played) curve(title, y string, scale float64, figure func(*blocks.Result) float64, policies ...string) *report.Plot {
	plot := &report.Plot{Title: title, X: "capacity, % of the distinct blocks", Y: y, LogX: true}
	for n, name := range policies {
		line := report.Line{Name: label(name), Style: report.Plain}
		switch {
		case bound(name):
			line.Style = report.Dashed
		case n == 0:
			line.Style = report.Bold
		}
		for i, at := range p.sweep.at {
			if at.tokens > 0 {
				continue
			}
			mean, half := study.Mean(p.values(name, i, figure))
			line.Points = append(line.Points, report.Point{X: 100 * at.share, Y: scale * mean, Half: scale * half})
			if n == 0 {
				plot.Ticks = append(plot.Ticks, report.Tick{At: 100 * at.share, Name: fmt.Sprintf("%g", 100*at.share)})
			}
		}
		plot.Lines = append(plot.Lines, line)
	}
	return plot
}

// figures is a table of a figure: a line for each capacity, a column for each policy. The best that is no bound is strong.
func (p *played) figures(caption string, scale float64, digits int, least bool, figure func(*blocks.Result) float64, policies ...string) *report.Table {
	t := &report.Table{Caption: caption, Head: []string{"capacity"}, Texts: 1}
	for _, name := range policies {
		t.Head = append(t.Head, label(name))
	}
	for i, at := range p.sweep.at {
		row, best := report.Cells(at.text()), math.Inf(-1)
		for _, name := range policies {
			if m := p.mean(name, i, figure); !bound(name) {
				best = max(best, signedIf(least, m))
			}
		}
		for _, name := range policies {
			m := p.mean(name, i, figure)
			row = append(row, report.Cell{Text: fmt.Sprintf("%.*f", digits, scale*m), Strong: !bound(name) && signedIf(least, m) == best})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func bound(policy string) bool { return slices.Contains(blocks.Bounds(), policy) }

func signedIf(negative bool, v float64) float64 {
	if negative {
		return -v
	}
	return v
}

// points formats a share as %, with two digits.
func points(v float64) string { return fmt.Sprintf("%.2f", 100*v) }

// signed formats a difference of shares in points, with its interval if there is one.
func signed(values []float64) string {
	mean, half := study.Mean(values)
	mean = math.Round(1e4*mean)/100 + 0 // + 0, because zero may be -0
	if half == 0 {
		return fmt.Sprintf("%+.2f", mean)
	}
	return fmt.Sprintf("%+.2f ± %.2f", mean, 100*half)
}

// relative formats the change from one value to another.
func relative(from, to float64) string {
	if from == 0 {
		return "0.0 %"
	}
	return fmt.Sprintf("%+.1f %%", math.Round(1000*(to/from-1))/10+0) // + 0, because zero may be -0
}

// honest is the page of honest comparison: the claims of a paper of which something was measured, after a remark on all of them, if any.
func honest(remark string, claims ...func() report.Claim) report.Section {
	one := report.Section{Title: "What the paper claims, what we measure, why they differ"}
	if remark != "" {
		one.Say(remark)
	}
	all := &report.Claims{}
	for _, claim := range claims {
		if c := claim(); c.Measured != "" {
			all.Items = append(all.Items, c)
		}
	}
	one.Claim(all)
	return one
}
