package study

import (
	"fmt"
	"math"
	"strings"

	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/policies"
)

// Baselines returns the policies that the relational ones are compared with: all others of the registry except those for KV blocks, and W-TinyLFU as in the
// published study, with a fixed window of 1 and of 20 %.
func Baselines() (names []string) {
	for _, name := range policies.All.Names() {
		if !policies.Relational(name) && !policies.ForBlocks(name) {
			names = append(names, name)
		}
	}
	return append(names, fixed, fixedWide)
}

const (
	fixed     = "w-tinylfu:climb=off"
	fixedWide = fixed + ",window=0.2C"
)

// compared returns a table with a line for each case: the best of some others by its figure, which is a choice with hindsight; the
// difference of each policy from it, in points; and that difference as a share of the gap to Belady, where Belady was played.
func compared(caption string, rows []Row, others, policies []string) *report.Table {
	t := &report.Table{Caption: caption, Head: []string{"case", "capacity", "best of them", "%"}, Texts: 3}
	bounded := len(rows) > 0 && len(rows[0].Values["belady"]) > 0
	for _, p := range policies {
		t.Head = append(t.Head, label(p))
		if bounded {
			t.Head = append(t.Head, "gap")
		}
	}
	if bounded {
		t.Head = append(t.Head, "belady")
	}
	for _, r := range rows {
		best, base := r.Best(others)
		belady, _ := r.Figure("belady")
		row := report.Cells(r.Case, r.Capacity, label(best), points(base))
		if r.small() {
			row[0].Text += " (not counted)"
		}
		for _, p := range policies {
			more, half := r.over(p, best)
			row = append(row, report.Cell{Text: signed(more, half), Strong: half > 0 && more > half})
			if bounded {
				row = append(row, report.Cell{Text: gap(more, belady-base)})
			}
		}
		if bounded {
			row = append(row, report.Cell{Text: points(belady)})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// share returns a capacity that is a share. Other capacities are the same for all rows of a case and not shown.
func share(capacity string) string {
	if strings.Contains(capacity, "%") {
		return "at " + capacity
	}
	return ""
}

// gap returns more as a share of the way to Belady, "" if that way is less than a point.
func gap(more, way float64) string {
	if way < 0.01 {
		return ""
	}
	return fmt.Sprintf("%.0f%%", math.Round(100*more/way)+0) // + 0, because zero may be -0
}

// label is the name of a policy in tables and plots.
func label(policy string) string {
	switch policy {
	case literal:
		return "rac-paper"
	case fixed:
		return "w-tinylfu fixed"
	case fixedWide:
		return "w-tinylfu fixed 20%"
	}
	return policy
}

func points(v float64) string { return fmt.Sprintf("%.2f", 100*v) }

// signed formats a difference in points, with its interval if there is one.
func signed(v, half float64) string {
	if half == 0 {
		return fmt.Sprintf("%+.2f", 100*v)
	}
	return fmt.Sprintf("%+.2f ± %.2f", 100*v, 100*half)
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// difference returns a - b, seed by seed.
func difference(a, b []float64) []float64 {
	d := make([]float64, min(len(a), len(b)))
	for i := range d {
		d[i] = a[i] - b[i]
	}
	return d
}
