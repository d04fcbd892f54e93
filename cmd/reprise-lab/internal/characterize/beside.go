package characterize

import (
	"sort"

	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/sim/blocks/profile"
)

// published are figures of section 3 of the paper for its trace A, of chats, and B, of calls by programs; empty: none.
var published = []struct {
	what, a, b string
	here       func(*profile.Profile) (figure string, ok bool)
}{
	{"ideal hit ratio, %", "62", "54", func(p *profile.Profile) (string, bool) { return share(p.HitRatio), true }},
	{"requests at turn 1, %", "54", "99.9", func(p *profile.Profile) (string, bool) {
		if p.Turns == nil {
			return "", false
		}
		return share(p.Turns.First), true
	}},
	{"turn of a request, p90", "5", "", func(p *profile.Profile) (string, bool) {
		if p.Turns == nil {
			return "", false
		}
		return thousands(p.Turns.RequestP90), true
	}},
	{"longest conversation, turns", "232", "", func(p *profile.Profile) (string, bool) {
		if p.Turns == nil {
			return "", false
		}
		return thousands(p.Turns.Most), true
	}},
	{"hits in single-turn requests, %", "", "97", func(p *profile.Profile) (string, bool) {
		if p.Sources == nil {
			return "", false
		}
		return share(p.Sources.SingleShare), true
	}},
	{"returns within 10 s, %", "", "80", func(p *profile.Profile) (string, bool) { return share(below(p.Reuse[0].Gaps, 10)), true }},
	{"returns within 10 min, %", "80", "", func(p *profile.Profile) (string, bool) { return share(below(p.Reuse[0].Gaps, 600)), true }},
	{"lifespan of blocks, p90, s", "612", "0.3", func(p *profile.Profile) (string, bool) { return digits(p.Lifespans[0].P90), true }},
	{"hits of the tenth of the blocks with the most, % (77 in the introduction)", "", "", func(p *profile.Profile) (string, bool) { return share(at(p.Skew.Curve, 0.1)), true }},
	{"users with 90 % of the requests, %", "72", "15", func(p *profile.Profile) (string, bool) {
		if p.Users == nil {
			return "", false
		}
		return share(p.Users.Requests.Most), true
	}},
	{"users with 90 % of the hits, %", "19", "4", func(p *profile.Profile) (string, bool) {
		if p.Users == nil {
			return "", false
		}
		return share(p.Users.Hits.Most), true
	}},
}

// beside puts the trace beside those of the paper.
func (w *writer) beside() (out report.Section) {
	out.Title = "Beside the traces of the paper"
	if w.p.Hits == 0 {
		out.Say("No block is used a second time.")
		return out
	}
	out.Say("The paper describes a day of each of two traces of a cloud provider: A is of people who chat, B of programs that call an API.")
	t := &report.Table{Caption: "Figures of this trace and of the paper", Texts: 1, Head: []string{"", "here", "A", "B"}}
	for _, f := range published {
		figure, ok := f.here(w.p)
		if !ok {
			figure = "–"
		}
		t.Rows = append(t.Rows, report.Cells(f.what, figure, orDash(f.a), orDash(f.b)))
	}
	out.Show(t)
	return out
}

func orDash(text string) string {
	if text == "" {
		return "–"
	}
	return text
}

// below is the share of a curve below x, taken as straight between its points.
func below(curve []profile.Point, x float64) float64 {
	i := sort.Search(len(curve), func(i int) bool { return curve[i].X >= x })
	switch {
	case i == len(curve):
		return 1
	case i == 0:
		return curve[0].Y * x / curve[0].X
	}
	a, b := curve[i-1], curve[i]
	return a.Y + (b.Y-a.Y)*(x-a.X)/(b.X-a.X)
}

// at is the value of a curve at one of its points.
func at(curve []profile.Point, x float64) float64 {
	for _, p := range curve {
		if p.X == x {
			return p.Y
		}
	}
	return 0
}
