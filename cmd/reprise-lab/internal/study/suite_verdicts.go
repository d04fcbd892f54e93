package study

import (
	"fmt"
	"slices"

	"reprise/cmd/reprise-lab/internal/report"
)

// pool is cells that are judged together.
type pool struct {
	title, says string
	parts       []slot
	half        string // of the recorded traces; "": no matter
}

const caseSays = `The figure of a cell is the mean over the seeds; the intervals are those of the difference seed by seed. `

// pools are those of the study of regimes, each a section of its page.
var pools = []pool{
	{"Generated regimes", "Every workload of the published comparison, generated, in all its readings of repeats: 10,000 to 20,000 requests. " + caseSays,
		[]slot{{"regimes", false}}, ""},
	{"Long generated regimes", "The same, generated, in 40 times the capacity and more. " + caseSays, []slot{{"long", false}}, ""},
	{"Texts", `The texts are real and their order is generated, as the records have no times and hardly any repeats. Capacities are shares of the distinct
requests. ` + caseSays, []slot{{"texts", false}}, ""},
	{"Recorded traces and agent blocks", fmt.Sprintf(`The first %d requests of each file, at shares of the distinct ones; of agent blocks each block of a prompt is a request.
The figure of a cell is the median over the seeds, of policies that draw random numbers; the others are played once. Cells of fewer than %d entries are shown and
not counted. The design was chosen with one half of the files.`, recordedRequests, leastEntries), []slot{{"traces", false}, {"blocks", false}}, ""},
	{"Capacities in bytes, by the tokens saved", `Tokens saved by hits, in % of all. A regime has room for as many mean answers as in entries; other cells have a
share of the bytes of the distinct requests. Sizes and costs of regimes, recorded traces and agent blocks are generated, those of texts are recorded.`,
		[]slot{{"regimes", true}, {"texts", true}, {"traces", true}, {"blocks", true}}, ""},
}

// of returns the cells of a pool that were played.
func (c comparison) of(p pool) (rows []Row) {
	for _, s := range p.parts {
		for _, r := range c.rows[s] {
			if p.half == "" || r.Fixed && half(r.Case) == p.half {
				rows = append(rows, r)
			}
		}
	}
	return rows
}

// parts are a pool and its parts that have cells which count: each half of the recorded traces, and in bytes each of the others.
func (c comparison) parts(p pool) (all []pool) {
	candidates := []pool{p}
	if len(p.parts) > 1 {
		for _, s := range p.parts {
			if s.part != "traces" && s.part != "blocks" {
				candidates = append(candidates, pool{title: s.String(), parts: []slot{s}})
			}
		}
		for _, h := range []string{chosenHalf, heldHalf} {
			candidates = append(candidates, pool{title: h, parts: p.parts, half: h})
		}
	}
	for _, one := range candidates {
		if len(judged(c.of(one))) > 0 {
			all = append(all, one)
		}
	}
	return all
}

// sections are the verdicts of the default over all pools, and a section for each.
func (c comparison) sections() (all []report.Section) {
	if len(c.rows) == 0 {
		return nil
	}
	total := report.Section{Title: "The default against all others"}
	total.Say(fmt.Sprintf(`Families: %s minus the best of the %d policies of other families; others: minus the best of these and rac-paper, rac and haz. Each best is chosen for
each cell with hindsight. Regret: the best of all policies of the cell, its own family included, minus the policy. Points of the hit ratio, in bytes of the tokens saved.
Lost, won: cells by more than %.1f points. The first half of the recorded traces, and seeds below 100, were used to choose the design.`,
		panelOf, len(Baselines()), 100*clearly))
	t := &report.Table{Caption: panelOf + ", in points", Head: verdictHead([]string{"cells", ""}, c.bytes()), Texts: 2}
	total.Show(t)
	all = append(all, total)
	for _, p := range pools {
		rows := c.of(p)
		if len(rows) == 0 {
			continue
		}
		all = append(all, c.section(p))
		for _, part := range c.parts(p) {
			counted := judged(c.of(part))
			v := judge(counted, panelOf)
			name := part.title
			if part.title != p.title {
				name = "– " + name
			}
			t.Rows = append(t.Rows, append(report.Cells(name, fmt.Sprint(len(counted))), v.cells(c.bytes())...))
		}
	}
	return all
}

// bytes reports whether any cells were played at a capacity in bytes.
func (c comparison) bytes() bool {
	for p := range c.rows {
		if p.bytes {
			return true
		}
	}
	return false
}

// section has the cells of a pool, the verdicts of all policies over them, and the frontier.
func (c comparison) section(p pool) report.Section {
	s := report.Section{Title: p.title}
	s.Say(p.says)
	rows, bytes := c.of(p), p.parts[0].bytes
	shown := append(slices.Clone(ours), c.designs...)
	s.Show(compared("Minus the best of the other families, in points", rows, Baselines(), shown))
	if bytes {
		s.Show(compared("Minus gdsf, in points of the tokens", rows, []string{"gdsf"}, shown))
	}
	for i, part := range c.parts(p) {
		counted := judged(c.of(part))
		title := fmt.Sprintf("%s, %d cells", part.title, len(counted))
		all := verdicts(counted, c.policies)
		t := verdictTable("All policies: "+title+", in points", all, roles(c.policies, c.designs), bytes)
		t.Folded = i > 0
		s.Show(t)
		if i == 0 || part.half != "" && !bytes {
			c.frontier(&s, title, all)
		}
	}
	return s
}
