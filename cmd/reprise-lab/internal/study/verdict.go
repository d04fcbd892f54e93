package study

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/policies"
)

// clearly is the difference from which a cell counts as won or lost.
const clearly = 0.005

// excess is the difference of a policy from the best of some others, over cells.
type excess struct {
	worst, mean float64
	at          string // case of the worst
	lost, won   int    // cells by more than clearly
}

// over returns the excess of a policy over all rows.
func over(rows []Row, others []string, policy string) excess {
	e := excess{worst: math.Inf(1)}
	for i := range rows {
		best, _ := rows[i].Best(others)
		more, _ := rows[i].over(policy, best)
		if e.mean += more / float64(len(rows)); more < e.worst {
			e.worst, e.at = more, strings.TrimSpace(rows[i].Case+" "+share(rows[i].Capacity))
		}
		if more < -clearly {
			e.lost++
		} else if more > clearly {
			e.won++
		}
	}
	return e
}

// verdict is how a policy compares with others over cells, in three ways. The best is chosen for each cell with hindsight.
type verdict struct {
	policy   string
	families excess // minus the best of the other families: for a relational policy that of Baselines, else that of Baselines with other names
	others   excess // minus the best of all policies of other names, the relational ones included
	regret   excess // minus the best of all and itself: the distance, never above 0
	greedy   excess // minus gdsf
}

func judge(rows []Row, policy string) verdict {
	all := append(Baselines(), ours...)
	name := nameOf(policy)
	families := slices.DeleteFunc(Baselines(), func(p string) bool { return nameOf(p) == name })
	others := slices.DeleteFunc(slices.Clone(all), func(p string) bool { return nameOf(p) == name })
	return verdict{policy, over(rows, families, policy), over(rows, others, policy), over(rows, append(all, policy), policy),
		over(rows, []string{"gdsf"}, policy)}
}

// nameOf is a policy without its parameters.
func nameOf(policy string) string {
	name, _, _ := strings.Cut(policy, ":")
	return name
}

// judged are the rows that count.
func judged(rows []Row) (kept []Row) {
	for _, r := range rows {
		if !r.small() {
			kept = append(kept, r)
		}
	}
	return kept
}

// verdicts are those of all policies that were played, the lowest mean regret first.
func verdicts(rows []Row, policies []string) (all []verdict) {
	for _, p := range policies {
		all = append(all, judge(rows, p))
	}
	slices.SortStableFunc(all, func(a, b verdict) int {
		switch {
		case a.regret.mean > b.regret.mean:
			return -1
		case a.regret.mean < b.regret.mean:
			return 1
		}
		return 0
	})
	return all
}

// verdictHead are the columns of verdict.cells.
func verdictHead(texts []string, bytes bool) []string {
	head := append(texts, "families: mean", "worst", "lost", "won", "others: mean", "worst", "lost", "won", "regret: mean", "worst")
	if bytes {
		head = append(head, "gdsf: mean", "worst", "lost", "won")
	}
	return append(head, "cell of the worst, families")
}

// cells are the figures of a verdict.
func (v *verdict) cells(bytes bool) (row []report.Cell) {
	parts := []excess{v.families, v.others, {worst: -v.regret.worst, mean: -v.regret.mean}}
	if bytes {
		parts = append(parts, v.greedy)
	}
	for i, e := range parts {
		if i == 2 {
			row = append(row, report.Cells(points(e.mean+0), points(e.worst+0))...) // + 0, because zero may be -0
			continue
		}
		row = append(row, report.Cells(signed(e.mean, 0), signed(e.worst, 0), fmt.Sprint(e.lost), fmt.Sprint(e.won))...)
	}
	return append(row, report.Cell{Text: v.families.at})
}

// verdictTable has a line for each policy.
func verdictTable(caption string, all []verdict, roles map[string]string, bytes bool) *report.Table {
	t := &report.Table{Caption: caption, Head: verdictHead([]string{"policy", ""}, bytes), Texts: 2}
	for i := range all {
		v := &all[i]
		row := []report.Cell{{Text: label(v.policy), Strong: v.policy == panelOf}, {Text: roles[v.policy]}}
		t.Rows = append(t.Rows, append(row, v.cells(bytes)...))
	}
	return t
}

// roles are what the policies under test are, for tables.
func roles(names, given []string) map[string]string {
	of := map[string]string{}
	for _, p := range names {
		if policies.Relational(p) {
			of[p] = "relational"
		}
	}
	for _, p := range experts {
		of[p] = "expert alone"
	}
	for _, p := range given {
		of[p] = "given"
	}
	of[panelOf] = "default"
	return of
}

// mostPoints is how many policies a plot of the frontier shows besides those that are the subject.
const mostPoints = 10

// frontier plots mean against worst: minus the best of the other families, and regret. all is in the order of the mean regret; the subject is the
// default, its experts and what was given, and of the others there are the first ones.
func (c comparison) frontier(s *report.Section, title string, all []verdict) {
	const x, y = "mean, points (root scale)", "worst cell, points (root scale)"
	gain := &report.Scatter{Title: title + ": minus the best of the other families", X: x, Y: y}
	regret := &report.Scatter{Title: title + ": regret to the best of each cell", X: x, Y: y}
	for i, v := range all {
		must := v.policy == panelOf || slices.Contains(c.designs, v.policy)
		if i >= mostPoints && !must && !slices.Contains(experts, v.policy) {
			continue
		}
		gain.Points = append(gain.Points, report.Spot{Name: label(v.policy), X: 100 * v.families.mean, Y: 100 * v.families.worst, Strong: must})
		regret.Points = append(regret.Points, report.Spot{Name: label(v.policy), X: -100 * v.regret.mean, Y: -100 * v.regret.worst, Strong: must})
	}
	s.Scatter(gain)
	s.Scatter(regret)
}
