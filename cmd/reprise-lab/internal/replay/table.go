package replay

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise-lab/policies"
	"reprise/cmd/reprise-lab/sim"
)

// bounds are the policies that every table shows.
var bounds = []string{"belady", "belady-bypass", "infinite"}

// WithBounds adds the policies that every table shows.
func WithBounds(policies []string) []string {
	all := slices.Clone(policies)
	for _, name := range bounds {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// writeTables writes a table for each capacity, in the order of their first results. The bounds come first, then the policies
// from the highest figure down, see byTokens.
func writeTables(w io.Writer, results []sim.Result) {
	for _, rows := range ByCapacity(results) {
		head, cells := Table(rows)
		fmt.Fprintln(w, head)
		align(w, cells)
		fmt.Fprintln(w)
		writeWindows(w, rows)
	}
	if len(results) > 0 {
		io.WriteString(w, legend)
	}
	if len(results) > 0 && len(results[0].Windows) > 0 {
		io.WriteString(w, WindowsLegend)
	}
}

// ByCapacity groups results by capacity, in the order of their first results.
func ByCapacity(results []sim.Result) [][]sim.Result {
	return GroupBy(results, func(r *sim.Result) string { return r.Capacity })
}

// GroupBy groups results by a name of each, in the order of their first results.
func GroupBy[T any](results []T, name func(*T) string) (groups [][]T) {
	place := map[string]int{}
	for i := range results {
		at, known := place[name(&results[i])]
		if !known {
			at = len(groups)
			place[name(&results[i])] = at
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], results[i])
	}
	return groups
}

const legend = "* the best baseline: of the policies that are neither rac nor haz. gap closed: how much of the way from it to belady.\n"

// Table returns the heading and the cells of a table of results at one capacity. The first column marks the best baseline with
// a star. Table sorts rows.
func Table(rows []sim.Result) (head string, cells [][]string) {
	tokens, byTokens := objectives(rows)
	figure := func(r *sim.Result) float64 { return float64(r.Hits) }
	if byTokens {
		figure = func(r *sim.Result) float64 { return r.TokensSaved }
	}
	slices.SortStableFunc(rows, func(a, b sim.Result) int {
		return cmp.Or(order(a)-order(b), cmp.Compare(figure(&b), figure(&a)))
	})
	best, belady := landmarks(rows, figure)
	cells = [][]string{{"", "policy", "hit ratio", "of infinite", "of bytes", "tokens saved", "evictions", "gap closed"}}
	for i := range rows {
		cells = append(cells, row(&rows[i], gapClosed(&rows[i], best, belady, figure), &rows[i] == best))
	}
	if tokens {
		addObjectives(cells, rows)
	}
	return title(rows), cells
}

// objectives reports whether any policy maximises tokens saved, and whether all do: then these order the rows, and else hits.
func objectives(rows []sim.Result) (tokens, byTokens bool) {
	hits := false
	for i := range rows {
		tokens = tokens || rows[i].Objective == sim.ObjectiveTokens
		hits = hits || rows[i].Objective == sim.ObjectiveHits
	}
	return tokens, tokens && !hits
}

// addObjectives adds to each row the tokens saved as a share of all, and the objective of the policy.
func addObjectives(cells [][]string, rows []sim.Result) {
	const last = 6 // the column of the evictions
	cells[0] = slices.Insert(cells[0], last, "of tokens", "objective")
	for i := range rows {
		cells[i+1] = slices.Insert(cells[i+1], last, percent(rows[i].TokenHitRatio), rows[i].Objective)
	}
}

// order puts the bounds, which no proxy could run, before the policies.
func order(r sim.Result) int {
	if r.Bound {
		return 0
	}
	return 1
}

// landmarks returns the results of the best baseline and of Belady, nil if there are none.
func landmarks(rows []sim.Result, figure func(*sim.Result) float64) (best, belady *sim.Result) {
	for i := range rows {
		r := &rows[i]
		switch {
		case r.Policy == "belady":
			belady = r
		case !r.Bound && !policies.Relational(r.Policy) && (best == nil || figure(r) > figure(best)):
			best = r
		}
	}
	return best, belady
}

func title(rows []sim.Result) string {
	r := rows[0]
	for _, other := range rows {
		if other.Limit != r.Limit && r.Limit.Entries == 0 && r.Limit.Bytes == 0 {
			r = other // the infinite cache has no limit
		}
	}
	limit := ""
	if r.Limit.Entries > 0 && r.Capacity != fmt.Sprint(r.Limit.Entries) {
		limit = " = " + cli.Thousands(int64(r.Limit.Entries)) + " entries"
	} else if r.Limit.Entries > 0 {
		limit = " entries"
	}
	text := fmt.Sprintf("%s at %s%s: %s requests, %s of them asked before", r.Trace, r.Capacity, limit, cli.Thousands(r.Requests), percent(r.HitRatioInfinite))
	if r.Limit.Bytes > 0 {
		text += "\n(with a limit in bytes belady is no bound but where all sizes are equal)"
	}
	return text
}

func row(r *sim.Result, closed string, best bool) []string {
	mark, evictions := "", cli.Thousands(r.Evictions)
	if best {
		mark = "*"
	}
	if r.Policy == "infinite" {
		evictions = ""
	}
	return []string{mark, r.Policy, percent(r.HitRatio), percent(r.NormalizedHitRatio), percent(r.ByteHitRatio),
		cli.Thousands(int64(r.TokensSaved + 0.5)), evictions, closed}
}

// gapClosed is "" for baselines and bounds, and where Belady is not ahead of the best baseline.
func gapClosed(r, best, belady *sim.Result, figure func(*sim.Result) float64) string {
	if best == nil || belady == nil || figure(belady) <= figure(best) || !policies.Relational(r.Policy) {
		return ""
	}
	return percent((figure(r) - figure(best)) / (figure(belady) - figure(best)))
}

// percent has no sign where it rounds to 0.
func percent(share float64) string { return fmt.Sprintf("%.2f %%", math.Round(1e4*share)/100+0) }

// align writes the first two columns left-aligned and the figures right-aligned.
func align(w io.Writer, cells [][]string) {
	width := make([]int, len(cells[0]))
	for _, row := range cells {
		for i, c := range row {
			width[i] = max(width[i], len(c))
		}
	}
	for _, row := range cells {
		line := ""
		for i, c := range row {
			if i < 2 {
				line += fmt.Sprintf("%-*s ", width[i], c)
			} else {
				line += fmt.Sprintf("  %*s", width[i], c)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}
