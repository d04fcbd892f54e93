package replay

import (
	"fmt"
	"io"
	"strings"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise-lab/sim"
	"reprise/policy"
)

// WindowsLegend explains the tables of windows.
const WindowsLegend = `Regret: what the best policy of this replay that can run had more in the window; to experts: what the shadow cache of the panel's
best expert had more. The leader changes when another expert is ahead by more hits than the change costs: see the policy's factor.
`

// writeWindows writes the windows of results at one capacity: a table of all policies, and one for each panel with the changes of its leader.
func writeWindows(w io.Writer, rows []sim.Result) {
	if len(rows[0].Windows) == 0 {
		return
	}
	head, cells := Windows(rows)
	writeIndented(w, head, cells)
	for i := range rows {
		if rows[i].Windows[0].Panel != nil {
			writePanel(w, &rows[i])
		}
	}
}

func writePanel(w io.Writer, r *sim.Result) {
	head, cells := PanelWindows(r)
	writeIndented(w, head, cells)
	changes, left := Changes(r)
	for _, c := range changes {
		fmt.Fprintf(w, "  request %s: %s\n", cli.Thousands(c.Seq), Reason(&c))
	}
	if left > 0 {
		fmt.Fprintf(w, "  and %s earlier ones in windows of more than %d\n", cli.Thousands(left), policy.MostChanges)
	}
	if len(changes) > 0 {
		fmt.Fprintln(w)
	}
}

func writeIndented(w io.Writer, head string, cells [][]string) {
	for _, row := range cells {
		row[0] = "  " + row[0]
	}
	fmt.Fprintln(w, head)
	align(w, cells)
	fmt.Fprintln(w)
}

// Shown are the results that have a column or a line of their own in what is shown of windows: belady, and the first ones of the policies
// that can run.
func Shown(rows []sim.Result, most int) (some []*sim.Result) {
	for i := range rows {
		r := &rows[i]
		if r.Policy == "belady" {
			some = append(some, r)
		} else if !r.Bound && most > 0 {
			some, most = append(some, r), most-1
		}
	}
	return some
}

// mostColumns is how many policies have a column in a table of windows, besides belady: it fits a terminal.
const mostColumns = 7

// Windows returns the heading and the cells of a table of the hit ratios in each window. rows are those of Table, in its order. The first two
// columns are texts: the requests, and the best policy that can run.
func Windows(rows []sim.Result) (head string, cells [][]string) {
	head, objective := ByWindow(rows)
	shown := Shown(rows, mostColumns)
	cells = [][]string{{"requests", "best"}}
	for _, r := range shown {
		cells[0] = append(cells[0], r.Policy)
	}
	for k := range rows[0].Windows {
		row := []string{span(&rows[0].Windows[k]), bestOf(rows, k, objective)}
		for _, r := range shown {
			row = append(row, percent(r.Windows[k].Measure(objective)))
		}
		cells = append(cells, row)
	}
	return head, cells
}

// ByWindow is the heading of what compares rows by window, and the objective whose measure that is.
func ByWindow(rows []sim.Result) (head, objective string) {
	if _, byTokens := objectives(rows); byTokens {
		return "Share of the tokens that is saved, by window", sim.ObjectiveTokens
	}
	return "Hit ratio by window", sim.ObjectiveHits
}

// bestOf is the policy that can run with the highest figure in window k; "" where there is none.
func bestOf(rows []sim.Result, k int, objective string) string {
	var best *sim.Result
	for i := range rows {
		r := &rows[i]
		if !r.Bound && (best == nil || r.Windows[k].Measure(objective) > best.Windows[k].Measure(objective)) {
			best = r
		}
	}
	if best == nil {
		return ""
	}
	return best.Policy
}

// PanelWindows returns the heading and the cells of a table of what a panel did in each window. The first two columns are texts: the
// requests, and who led.
func PanelWindows(r *sim.Result) (head string, cells [][]string) {
	measure := "hit ratio"
	if r.Objective == sim.ObjectiveTokens {
		measure = "of tokens"
	}
	cells = [][]string{{"requests", "led", measure, "regret", "to experts", "changes"}}
	for k := range r.Windows {
		x := &r.Windows[k]
		cells = append(cells, []string{span(x), led(x.Panel), percent(x.Measure(r.Objective)), percent(x.Regret), percent(x.Panel.Regret), cli.Thousands(x.Panel.Changed)})
	}
	return r.Policy + " by window", cells
}

// span is the requests of a window, by their positions.
func span(w *sim.Window) string {
	return cli.Thousands(w.First) + " to " + cli.Thousands(w.First+w.Requests-1)
}

// led is who led in a window: "haz 75 %, lirs 25 %".
func led(p *policy.PanelWindow) string {
	var all []string
	for _, x := range p.Experts {
		if x.Led > 0 {
			all = append(all, fmt.Sprintf("%s %.0f %%", x.Name, 100*x.Led))
		}
	}
	return strings.Join(all, ", ")
}

// Changes are the changes of the leader in all windows of a panel, and how many others of the same windows are not listed.
func Changes(r *sim.Result) (all []policy.Change, others int64) {
	for _, w := range r.Windows {
		all = append(all, w.Panel.Changes...)
		others += w.Panel.Changed - int64(len(w.Panel.Changes))
	}
	return all, others
}

// Reason is a change of the leader with its reason.
func Reason(c *policy.Change) string {
	return fmt.Sprintf("%s leads in place of %s, ahead by %.1f hits of more than %.1f needed", c.To, c.From, c.Ahead, c.Needed)
}
