package main

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise-lab/internal/evaluate"
	"reprise/cmd/reprise-lab/internal/report"
	"reprise/topics/reuse/evidence"
)

func (o *evaluateFlags) page() *report.Page {
	gate := o.gate
	if gate == 0 {
		gate = o.made.Thresholds().Hit
	}
	note := fmt.Sprintf("Embedder %s, hit gate %g.", o.embedder, gate)
	return &report.Page{Title: "Answers served by meaning", Command: o.command, Notes: []string{note,
		"Served: the stored answer of the first prompt would be given to the second one. Precision: of the served pairs, those with one answer. Recall: of the pairs with " +
			"one answer, those that are served. False hits: of the pairs with two answers, those that are served. Intervals are of 95 % (Wilson)."}}
}

func percents(x float64) string { return strconv.FormatFloat(100*x, 'f', 2, 64) }

// pairsSection is the part of one file of pairs.
func (o *evaluateFlags) pairsSection(path string, delta float64, s *evaluate.Summary) (out report.Section) {
	out.Title = fmt.Sprintf("%s, error rate %g", path, delta)
	p, low, high := s.Precision()
	about := fmt.Sprintf("%s pairs, %s with one answer. Served: %s with one answer, %s with two. Precision %s %% (%s to %s), recall %s %%, false hits %s %%.",
		thousands(s.Pairs), thousands(s.Same), thousands(s.Served.Same), thousands(s.Served.Different), percents(p), percents(low), percents(high), percents(s.Recall()), percents(s.FalseHits()))
	if s.AUC > 0 {
		about += fmt.Sprintf(" Area under the ROC curve of the similarity alone: %.3f.", s.AUC)
	}
	if s.LowestServed > 0 {
		about += fmt.Sprintf(" Least similarity of a served pair: %.2f.", s.LowestServed)
	}
	out.Say(about)
	if s.AUC > 0 {
		out.Draw(roc(s.Curve))
	}
	for _, t := range []struct {
		caption, name string
		rows          []evaluate.Tally
	}{
		{"Served, by what explains them", "by", s.By}, {"Served, by class of edit", "edit", s.Edits}, {"Not served, by what prevents it", "by", s.Refused},
	} {
		if len(t.rows) > 0 {
			out.Show(tallyTable(t.caption, t.name, t.rows))
		}
	}
	if len(s.Kinds) > 1 {
		out.Show(kindTable(s.Kinds))
	}
	if len(s.Calibration) > 0 {
		out.Show(calibrationTable(s.Calibration))
	}
	if n := min(o.shown, len(s.WrongServed)); n > 0 {
		out.Show(wrongTable(s.WrongServed[:n]))
	}
	return out
}

func thousands(n int) string { return cli.Thousands(int64(n)) }

func roc(points []evaluate.Point) *report.Plot {
	line := report.Line{Name: "similarity", Style: report.Bold}
	step := max(1, len(points)/200)
	for i, p := range points {
		if i%step == 0 || i == len(points)-1 {
			line.Points = append(line.Points, report.Point{X: p.Different, Y: p.Same})
		}
	}
	chance := report.Line{Name: "chance", Style: report.Dashed, Points: []report.Point{{}, {X: 1, Y: 1}}}
	return &report.Plot{Title: "ROC of the similarity", X: "pairs with two answers, share", Y: "pairs with one answer, share", Lines: []report.Line{line, chance}}
}

func tallyTable(caption, name string, rows []evaluate.Tally) *report.Table {
	t := &report.Table{Caption: caption, Texts: 1, Head: []string{name, "one answer", "two answers"}}
	for _, r := range rows {
		t.Rows = append(t.Rows, report.Cells(r.Name, thousands(r.Same), thousands(r.Different)))
	}
	return t
}

func kindTable(rows []evaluate.Kind) *report.Table {
	t := &report.Table{Caption: "By kind of pair", Texts: 1, Head: []string{"kind", "pairs", "one answer", "served", "%"}}
	for _, r := range rows {
		t.Rows = append(t.Rows, report.Cells(r.Name, thousands(r.Pairs), thousands(r.Same), thousands(r.Served), percents(float64(r.Served)/float64(r.Pairs))))
	}
	return t
}

func calibrationTable(rows []evaluate.Bin) *report.Table {
	t := &report.Table{Caption: "Calibration: the estimated probability that the answer is right, and the share of pairs with one answer", Texts: 1,
		Head: []string{"estimated", "pairs", "mean, %", "one answer, %"}}
	for _, r := range rows {
		t.Rows = append(t.Rows, report.Cells(fmt.Sprintf("%g to %g", r.From, r.To), thousands(r.Pairs), percents(r.P), percents(float64(r.Same)/float64(r.Pairs))))
	}
	return t
}

// widest is how much of a prompt a table shows.
const widest = 100

func wrongTable(rows []evaluate.Scored) *report.Table {
	t := &report.Table{Caption: "Served pairs with two answers", Texts: 3, Head: []string{"by", "stored", "asked"}}
	for _, r := range rows {
		by := r.By
		if names := r.Classes(); len(names) > 0 {
			by = strings.Join(names, "+")
		}
		t.Rows = append(t.Rows, report.Cells(by, short(r.A), short(r.B)))
	}
	return t
}

// short is a text on one line; the end of a long one is shown, because templates are in front.
func short(text string) string {
	text = strconv.Quote(text)
	text = text[1 : len(text)-1]
	if runes := []rune(text); len(runes) > widest {
		return "…" + string(runes[len(runes)-widest:])
	}
	return text
}

func streamSection(path string, plays []evaluate.Play) (out report.Section) {
	out.Title = path
	out.Say(fmt.Sprintf("%s requests; those whose class had come before could be served.", thousands(plays[0].Requests)))
	t := &report.Table{Caption: "Plays: requests, and the error among those that were served by meaning", Texts: 0,
		Head: []string{"error rate", "seed", "could be", "exact", "form", "edits", "meaning", "hits, %", "wrong", "error, %", "at most, %", "explored", "different"}}
	for i := range plays {
		p := &plays[i]
		mean, high := p.Error()
		t.Rows = append(t.Rows, report.Cells(fmt.Sprint(p.MaxError), fmt.Sprint(p.Seed), thousands(p.Repeats), thousands(p.Exact), thousands(p.Form), thousands(p.Edits),
			thousands(p.Meaning), percents(float64(p.Exact+p.ByMeaning())/float64(max(p.Requests, 1))), thousands(p.Wrong), percents(mean), percents(high), thousands(p.Explored),
			thousands(p.Different)))
	}
	out.Show(t)
	return out
}

// answersSection is the part of one file of answers.
func (o *evaluateFlags) answersSection(path string, all []evaluate.Answers) (out report.Section) {
	out.Title = path + ", answers compared"
	t := &report.Table{Caption: "Answers by label, compared without knowledge of noise", Texts: 2, Head: []string{"kind", "label", "pairs", "same %", "different %", "unknown %"}}
	for _, c := range evaluate.CountAnswers(all) {
		kind, label := cmp.Or(c.Kind, "all"), "different"
		if c.Same {
			label = "same"
		}
		t.Rows = append(t.Rows, report.Cells(kind, label, thousands(c.All()), percents(c.Share(evidence.Same)), percents(c.Share(evidence.Different)), percents(c.Share(evidence.Unknown))))
	}
	out.Show(t)
	wrong := &report.Table{Caption: "Different answers that are called the same", Texts: 3, Head: []string{"stored", "fresh", "why"}}
	for i := range all {
		if x := &all[i]; !x.Same && x.Outcome == evidence.Same && len(wrong.Rows) < o.shown {
			wrong.Rows = append(wrong.Rows, report.Cells(x.Stored, x.Fresh, x.Why))
		}
	}
	if len(wrong.Rows) > 0 {
		out.Show(wrong)
	}
	return out
}
