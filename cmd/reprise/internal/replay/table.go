package replay

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"reprise/policy"
	"reprise/policy/sim"
)

// beside are the policies that a table shows whatever is asked for.
var beside = []string{"belady", "belady-bypass", "infinite"}

// WithBounds is policies with those that every table shows.
func WithBounds(policies []string) []string {
	all := slices.Clone(policies)
	for _, name := range beside {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// Tables writes a table for each capacity, in the order in which the results first name them: the bounds, then the
// policies from the highest hit ratio down.
func Tables(w io.Writer, results []sim.Result) {
	for _, rows := range byCapacity(results) {
		head, cells := tableOf(rows)
		fmt.Fprintln(w, head)
		align(w, cells)
		fmt.Fprintln(w)
	}
	if len(results) > 0 {
		io.WriteString(w, legend)
	}
}

// byCapacity are the results of each capacity, in the order in which they first name it.
func byCapacity(results []sim.Result) (groups [][]sim.Result) {
	place := map[string]int{}
	for _, r := range results {
		i, known := place[r.Capacity]
		if !known {
			i = len(groups)
			place[r.Capacity] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], r)
	}
	return groups
}

const legend = "* the best baseline: of the policies that are neither rac nor haz. gap closed: how much of the way from it to belady.\n"

// tableOf is what stands over a table, and its cells: the first column marks the best baseline.
func tableOf(rows []sim.Result) (head string, cells [][]string) {
	slices.SortStableFunc(rows, func(a, b sim.Result) int {
		return cmp.Or(bound(a)-bound(b), cmp.Compare(b.Hits, a.Hits))
	})
	best, belady := landmarks(rows)
	cells = [][]string{{"", "policy", "hit ratio", "of infinite", "of bytes", "tokens saved", "evictions", "gap closed"}}
	for i := range rows {
		cells = append(cells, row(&rows[i], best, belady))
	}
	return title(rows), cells
}

// bound is 0 for what nobody could run, which comes first, and 1 for the others.
func bound(r sim.Result) int {
	if r.Bound {
		return 0
	}
	return 1
}

// landmarks are the best baseline and Belady, nil where there is none.
func landmarks(rows []sim.Result) (best, belady *sim.Result) {
	for i := range rows {
		r := &rows[i]
		switch {
		case r.Policy == "belady":
			belady = r
		case !r.Bound && !policy.Relational(r.Policy) && (best == nil || r.Hits > best.Hits):
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
		limit = " = " + thousands(int64(r.Limit.Entries)) + " entries"
	} else if r.Limit.Entries > 0 {
		limit = " entries"
	}
	text := fmt.Sprintf("%s at %s%s: %s requests, %s of them asked before", r.Trace, r.Capacity, limit, thousands(r.Requests), percent(r.HitRatioInfinite))
	if r.Limit.Bytes > 0 {
		text += "\n(with a limit in bytes belady is no bound but where all sizes are equal)"
	}
	return text
}

func row(r, best, belady *sim.Result) []string {
	mark := ""
	if r == best {
		mark = "*"
	}
	evictions, closed := thousands(r.Evictions), ""
	if r.Policy == "infinite" {
		evictions = ""
	}
	if best != nil && belady != nil && belady.Hits > best.Hits && policy.Relational(r.Policy) {
		closed = percent(float64(r.Hits-best.Hits) / float64(belady.Hits-best.Hits))
	}
	return []string{mark, r.Policy, percent(r.HitRatio), percent(r.NormalizedHitRatio), percent(r.ByteHitRatio),
		thousands(int64(r.TokensSaved + 0.5)), evictions, closed}
}

func percent(share float64) string { return fmt.Sprintf("%.2f %%", 100*share) }

// align writes the first two columns to the left and the figures to the right.
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

func thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
