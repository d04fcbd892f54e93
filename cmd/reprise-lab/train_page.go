package main

import (
	"fmt"
	"strconv"
	"strings"

	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/internal/train"
)

func trainPage(s *train.Set, r *train.Result, command string) *report.Page {
	form := r.Model.Form()
	all := &r.Sources[len(r.Sources)-1]
	p := &report.Page{Title: "Does the conversation go on", Command: command, Summary: []report.Figure{
		{Name: "MCC", Value: digits(all.Model.MCC), Text: "of the model, on conversations that it has not seen; 0 is chance, 1 is perfect"},
		{Name: "MCC of the turn alone", Value: digits(max(all.Turns.MCC, all.Majority.MCC)), Text: "the better of both predictions that see only the number of the turn"},
		{Name: "Brier score", Value: digits(all.Model.Brier), Text: "mean squared error of the probability; " + digits(all.Model.BrierBase) + " is that of the share of all"},
	}, Words: trainWords}
	p.Notes = append(p.Notes,
		fmt.Sprintf("%s conversations of %s, split by first prompts with seed %d: %s requests set the weights, %s measure them. Embedder %s; one text for each window of %s prompts, %d tokens at most.",
			thousands(s.Talks), strings.Join(s.Sources, ", "), s.Seed, thousands(all.Training), thousands(all.Model.Examples), form.Embedder, joined(form.Windows), form.Tokens),
		fmt.Sprintf("Best validation loss in epoch %d of %d. The threshold of a yes, %.3f, has the highest MCC on validation data; a cache ranks by the probability and needs none.", r.Epoch, r.Epochs, r.Threshold))
	for i := range r.Sources {
		p.Sections = append(p.Sections, sourceSection(&r.Sources[i]))
	}
	if len(r.Ablations) > 0 {
		p.Sections = append(p.Sections, ablationSection(r))
	}
	return p
}

var trainWords = []report.Term{
	{Name: "MCC", Text: "Matthews correlation coefficient of a yes or no and what happened: 0 is chance, 1 is perfect, whatever the shares of the two are"},
	{Name: "F1 macro", Text: "mean of the F1 scores of both labels"},
	{Name: "AUC", Text: "probability that a turn that went on has a higher prediction than one that ended; 0.5 is chance"},
	{Name: "AUC in turn", Text: "the same among requests with one number of the turn: what the text adds to it"},
}

func digits(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }

func joined(all []int) string {
	texts := make([]string, len(all))
	for i, n := range all {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, " and ")
}

// scoreHead and scoreCells are the columns of a Score.
var scoreHead = []string{"MCC", "F1 macro", "accuracy", "AUC", "AUC in turn", "Brier"}

func scoreCells(s *train.Score) []string {
	return []string{digits(s.MCC), digits(s.F1Macro), digits(s.Accuracy), digits(s.AUC), digits(s.AUCInTurn), digits(s.Brier)}
}

func sourceSection(s *train.SourceResult) (out report.Section) {
	out.Title = s.Name
	out.Say(fmt.Sprintf("%s held-out requests, of which %s %% go on; Brier score of that share %s.", thousands(s.Model.Examples), percents(s.Model.GoesOn), digits(s.Model.BrierBase)))
	t := &report.Table{Caption: "Predictions of the held-out half", Texts: 1, Head: append([]string{"prediction"}, scoreHead...)}
	for _, row := range []struct {
		name  string
		score *train.Score
	}{{"model", &s.Model}, {"turn alone, majority of the training half", &s.Majority}, {"turn alone, threshold of the validation data", &s.Turns}} {
		t.Rows = append(t.Rows, report.Cells(append([]string{row.name}, scoreCells(row.score)...)...))
	}
	t.Rows[0][0].Strong = true
	out.Show(t)
	out.Draw(calibration(s.Reliability))
	bins := &report.Table{Caption: "Calibration", Texts: 1, Head: []string{"predicted", "requests", "mean, %", "went on, %"}}
	for _, b := range s.Reliability {
		bins.Rows = append(bins.Rows, report.Cells(fmt.Sprintf("%g to %g", b.From, b.To), thousands(b.Examples), percents(b.P), percents(b.GoesOn)))
	}
	out.Show(bins)
	return out
}

func calibration(bins []train.Bin) *report.Plot {
	measured := report.Line{Name: "measured", Style: report.Bold}
	for _, b := range bins {
		measured.Points = append(measured.Points, report.Point{X: b.P, Y: b.GoesOn})
	}
	perfect := report.Line{Name: "perfect", Style: report.Dashed, Points: []report.Point{{}, {X: 1, Y: 1}}}
	return &report.Plot{Title: "Calibration", X: "predicted probability", Y: "went on, share", Lines: []report.Line{measured, perfect}}
}

func ablationSection(r *train.Result) (out report.Section) {
	out.Title = "Ablations"
	out.Say("Each row is a model of its own, with its own threshold, on the same held-out half. The paper finds that responses and a window of 10 do not help, and that a model for each source is at least as good as one for all.")
	t := &report.Table{Caption: "Other inputs and other data", Texts: 2, Head: append([]string{"held-out half of", "model", "inputs"}, scoreHead...)}
	for i := range r.Sources {
		s := &r.Sources[i]
		row := report.Cells(append([]string{s.Name, "the model", strconv.Itoa(r.Model.Form().Layers[0])}, scoreCells(&s.Model)...)...)
		row[1].Strong = true
		t.Rows = append(t.Rows, row)
		for _, a := range r.Ablations {
			if a.Source == s.Name {
				t.Rows = append(t.Rows, report.Cells(append([]string{s.Name, a.Name, strconv.Itoa(a.Inputs)}, scoreCells(&a.Score)...)...))
			}
		}
	}
	out.Show(t)
	return out
}
