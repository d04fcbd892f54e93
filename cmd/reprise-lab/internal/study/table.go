package study

import (
	"fmt"
	"math"
	"strings"

	"reprise/cmd/reprise-lab/internal/report"
	"reprise/policy/registry"
)

// Baselines returns the policies that the relational ones are compared with: all others of the registry except those for KV blocks, and W-TinyLFU as in the
// published study, with exact counts and a window of 1 and of 20 %.
func Baselines() (names []string) {
	for _, name := range registry.Names() {
		if !registry.Relational(name) && !registry.ForBlocks(name) {
			names = append(names, name)
		}
	}
	return append(names, exact, exactWide)
}

const (
	exact     = "w-tinylfu:form=exact,climb=off"
	exactWide = exact + ",window=0.2C"
)

// compared returns a table with a line for each case: the best of the baselines by its mean over the seeds, which is a choice
// with hindsight; the difference of each policy from it, in points; and that difference as a share of the gap to Belady.
func compared(caption string, rows []Row, baselines, policies []string) *report.Table {
	t := &report.Table{Caption: caption, Head: []string{"case", "capacity", "best baseline", "%"}, Texts: 3}
	for _, p := range policies {
		t.Head = append(t.Head, label(p), "gap")
	}
	t.Head = append(t.Head, "belady")
	for _, r := range rows {
		best, base := r.Best(baselines)
		belady, _ := Mean(r.Values["belady"])
		row := report.Cells(r.Case, r.Capacity, label(best), points(base))
		for _, p := range policies {
			more, half := Mean(difference(r.Values[p], r.Values[best]))
			row = append(row, report.Cell{Text: signed(more, half), Strong: half > 0 && more > half},
				report.Cell{Text: gap(more, belady-base)})
		}
		t.Rows = append(t.Rows, append(row, report.Cell{Text: points(belady)}))
	}
	return t
}

// verdict describes the worst and the mean of the differences in compared.
func verdict(rows []Row, baselines, policies []string) string {
	var all []string
	for _, p := range policies {
		o := over(rows, baselines, p)
		all = append(all, fmt.Sprintf("%s worst %+.2f (%s), mean %+.2f", label(p), 100*o.worst, o.at, 100*o.mean))
	}
	return "Minus the best baseline, in points: " + strings.Join(all, "; ") + "."
}

// excess is the difference of a policy from the best of some baselines.
type excess struct {
	worst, mean float64
	at          string // case of the worst
}

// over returns the excess of a policy over all rows.
func over(rows []Row, baselines []string, policy string) excess {
	e := excess{worst: math.Inf(1)}
	for _, r := range rows {
		best, _ := r.Best(baselines)
		more, _ := Mean(difference(r.Values[policy], r.Values[best]))
		if e.mean += more / float64(len(rows)); more < e.worst {
			e.worst, e.at = more, strings.TrimSpace(r.Case+" "+share(r.Capacity))
		}
	}
	return e
}

// share returns a capacity that is a share. Other capacities are the same for all rows of a case and not shown.
func share(capacity string) string {
	if strings.HasSuffix(capacity, "%") {
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
	case exact:
		return "w-tinylfu exact"
	case exactWide:
		return "w-tinylfu exact 20%"
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
