package characterize

import (
	"fmt"
	"slices"

	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/sim/blocks/profile"
)

// people is figures 6 to 11, and the skew of blocks.
func (w *writer) people() (out report.Section) {
	out.Title = "Who has the hits"
	s := w.p.Skew
	if w.p.Hits > 0 {
		out.Say(fmt.Sprintf("%s of the blocks have half of the hits, and %s have nine in ten.", percent(s.Half), percent(s.Most)))
	}
	out.Draw(w.skew())
	if u := w.p.Users; u != nil {
		w.users(&out, u)
	}
	if t := w.p.Turns; t != nil {
		w.turns(&out, t)
	}
	return out
}

func (w *writer) skew() *report.Plot {
	plot := &report.Plot{Title: "Skew of hits and requests", X: "blocks or users, % of them, the largest first", Y: "of the sum, %", LogX: true, Zero: true,
		Lines: []report.Line{line("hits by block", report.Bold, w.p.Skew.Curve, 100)}}
	if u := w.p.Users; u != nil {
		plot.Lines = append(plot.Lines, line("hits by user", report.Plain, u.Hits.Curve, 100), line("requests by user", report.Plain, u.Requests.Curve, 100))
	}
	return plot
}

func (w *writer) users(out *report.Section, u *profile.Users) {
	out.Say(fmt.Sprintf("%s. %s of them send half of the requests and %s nine in ten; %s have half of the hits and %s nine in ten. %s of the hits are on blocks that the same user used last.",
		count(u.Users, "user"), percent(u.Requests.Half), percent(u.Requests.Most), percent(u.Hits.Half), percent(u.Hits.Most), percent(u.Own)))
	heat := &report.Heat{Title: "Hits between the users with the most hits, % of the hits of a user", X: "user that used the block last, by rank", Y: "user that hits, by rank"}
	for i := range u.Top {
		name := fmt.Sprint(i + 1)
		heat.Rows, heat.Columns = append(heat.Rows, name), append(heat.Columns, name)
		row := make([]float64, len(u.Top))
		for k, n := range u.Between[i] {
			row[k] = 100 * float64(n) / float64(max(1, u.TopHits[i]))
		}
		heat.Values = append(heat.Values, row)
	}
	out.Map(heat)
	if len(u.Turns) > 0 {
		out.Draw(userTurns(u.Turns))
	}
}

// userTurns is figure 10: mean and standard deviation, each with the users in its own order.
func userTurns(users []profile.UserTurns) *report.Plot {
	var means, deviations []float64
	for _, t := range users {
		means, deviations = append(means, t.Mean), append(deviations, t.SD)
	}
	plot := &report.Plot{Title: "Turns of the conversations of a user", X: "users, %, those with the most first", Y: "turns", LogX: true, LogY: true}
	for i, values := range [][]float64{means, deviations} {
		slices.Sort(values)
		slices.Reverse(values)
		l := report.Line{Name: []string{"mean", "standard deviation"}[i], Style: []report.Style{report.Bold, report.Plain}[i]}
		for k := 0; k < len(values); k = max(k+1, k*6/5) {
			l.Points = append(l.Points, report.Point{X: 100 * float64(k+1) / float64(len(values)), Y: values[k]})
		}
		plot.Lines = append(plot.Lines, l)
	}
	return plot
}

func (w *writer) turns(out *report.Section, t *profile.Turns) {
	out.Say(fmt.Sprintf("%s: %s have one turn, the median has %d, nine in ten have at most %d, and the longest has %d. Of the requests, %s are at turn 1.",
		count(t.Sessions, "conversation"), percent(t.Single), t.P50, t.P90, t.Most, percent(t.First)))
	out.Draw(&report.Plot{Title: "Turns of a conversation", X: "turns", Y: "conversations with at most that, %", LogX: true, Zero: true,
		Lines: []report.Line{line("conversations", report.Bold, t.CDF, 1)}})
	if t.Next != nil {
		out.Map(w.heat("Share of the requests that a next turn follows, by category and time", t.Next, 2))
	}
	table := &report.Table{Caption: "Turns", Texts: 1, Head: []string{"", "number", "mean", "sd", "p50", "p90", "p99", "most", "at one turn, %"}}
	table.Rows = append(table.Rows, report.Cells("of conversations", thousands(t.Sessions), digits(t.Mean), digits(t.SD), fmt.Sprint(t.P50), fmt.Sprint(t.P90), fmt.Sprint(t.P99),
		fmt.Sprint(t.Most), share(t.Single)))
	table.Rows = append(table.Rows, report.Cells("of requests", thousands(w.p.Requests), "", "", fmt.Sprint(t.RequestP50), fmt.Sprint(t.RequestP90), "", fmt.Sprint(t.Most), share(t.First)))
	out.Show(table)
}
