package kvstudy

import (
	"fmt"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/internal/study"
	"reprise/cmd/reprise-lab/internal/train"
	"reprise/cmd/reprise-lab/sim/blocks"
)

// score is the mean of a figure of the predictors of all seeds.
func (t *talks) score(figure func(*train.SourceResult) float64) (mean, half float64) {
	var all []float64
	for _, s := range t.scores {
		all = append(all, figure(s))
	}
	return study.Mean(all)
}

func modelMCC(s *train.SourceResult) float64    { return s.Model.MCC }
func turnsMCC(s *train.SourceResult) float64    { return max(s.Turns.MCC, s.Majority.MCC) }
func majorityMCC(s *train.SourceResult) float64 { return s.Majority.MCC }

// predictorSection is the paper's §A.3, §B.1, §B.2 and §B.3.
func (s *predicted) predictorSection() (out report.Section) {
	out.Title = "The predictor"
	bars := &report.Bars{Title: "MCC of the predictor and of the turn alone", Y: "MCC on held-out conversations", Digits: 3,
		Series: []report.Series{{Name: "prompts and turn"}, {Name: "turn, best threshold"}, {Name: "turn, majority"}}}
	table := &report.Table{Caption: "The predictor beside the turn alone (the paper's Table 3), means over the seeds", Texts: 2, Head: []string{"conversations", "input", "MCC", "F1 macro", "Brier"}}
	for _, t := range s.complete() {
		bars.Groups = append(bars.Groups, t.short())
		for k, mcc := range []func(*train.SourceResult) float64{modelMCC, turnsMCC, majorityMCC} {
			mean, half := t.score(mcc)
			bars.Series[k].Values = append(bars.Series[k].Values, report.Value{Y: mean, Half: half})
		}
		for _, input := range []struct {
			name string
			of   func(*train.SourceResult) *train.Score
		}{
			{"prompts and turn", func(s *train.SourceResult) *train.Score { return &s.Model }},
			{"turn, threshold of the validation data", func(s *train.SourceResult) *train.Score { return &s.Turns }},
			{"turn, majority (LPC-turns of the paper)", func(s *train.SourceResult) *train.Score { return &s.Majority }},
		} {
			row := report.Cells(t.short(), input.name)
			for _, figure := range []func(*train.Score) float64{func(s *train.Score) float64 { return s.MCC }, func(s *train.Score) float64 { return s.F1Macro }, func(s *train.Score) float64 { return s.Brier }} {
				mean, _ := t.score(func(s *train.SourceResult) float64 { return figure(input.of(s)) })
				row = append(row, report.Cell{Text: fmt.Sprintf("%.3f", mean)})
			}
			table.Rows = append(table.Rows, row)
		}
	}
	out.Compare(bars)
	out.Say("The embedder is the built-in one, a table of words with 384 dimensions; the paper has a transformer of 118 million parameters. Brier is the mean squared error of the probability.")
	out.Show(table)
	if s.together != nil {
		out.Show(s.inputTable())
	}
	return out
}

// inputTable has the paper's Tables 4 to 6.
func (s *predicted) inputTable() *report.Table {
	table := &report.Table{Caption: "Other inputs, and one model for all (the paper's Tables 4 to 6), with the first seed", Texts: 2, Head: []string{"conversations", "model", "MCC", "F1 macro"}}
	add := func(source, model string, score *train.Score) {
		table.Rows = append(table.Rows, report.Cells(source, model, fmt.Sprintf("%.3f", score.MCC), fmt.Sprintf("%.3f", score.F1Macro)))
	}
	for i, t := range s.complete() {
		add(t.short(), "for this source alone: prompt, and window of 5", &t.scores[0].Model)
		if i < len(s.together.Sources) {
			add(t.short(), "for all sources: prompt, and window of 5", &s.together.Sources[i].Model)
		}
		for k := range s.together.Ablations {
			if a := &s.together.Ablations[k]; a.Source == t.source() && a.Name != "dedicated to "+t.source() {
				add(t.short(), "for all sources: "+a.Name, &a.Score)
			}
		}
	}
	return table
}

// timeSection is the paper's §4.5, as far as a linear model has it.
func (s *predicted) timeSection() (out report.Section) {
	out.Title = "Time to the first token"
	out.Say(fmt.Sprintf("One server computes prompts at a constant rate, such that LRU at %s of the live tokens would keep it busy for %g %% of the time if answers took none; an answer has %d tokens per second, during which its blocks are pinned, and the next turn comes a pause after its end. "+
		"Computed is the tokens of prompts that miss: prefill throughput is its inverse.", shares(halfLive)[0].text(), 100*busy, decode))
	bars := &report.Bars{Title: "Change of LPC from LRU, mean", Y: "%", Digits: 1, Series: []report.Series{{Name: "TTFT"}, {Name: "queued TTFT"}, {Name: "tokens computed"}}}
	table := &report.Table{Caption: "Time to the first token, s", Texts: 2, Head: []string{"conversations", "policy", "hits, %", "TTFT, mean", "p50", "p99", "queued TTFT, mean", "p99", "computed, thousand tokens"}}
	for _, t := range s.talks {
		if t.timed == nil {
			continue
		}
		bars.Groups = append(bars.Groups, t.short())
		for k, figure := range []func(*blocks.Result) float64{served, queued, t.missed} {
			mean, half := study.Mean(t.timed.changes("lpc", figure))
			bars.Series[k].Values = append(bars.Series[k].Values, report.Value{Y: 100 * mean, Half: 100 * half})
		}
		for _, name := range t.timed.policies {
			row := report.Cells(t.short(), lpcName(name), points(t.timed.mean(name, 0, hits)))
			for _, figure := range []func(*blocks.Result) float64{served, func(r *blocks.Result) float64 { return r.Time.P50 }, func(r *blocks.Result) float64 { return r.Time.P99 },
				queued, func(r *blocks.Result) float64 { return r.Queued.P99 }} {
				row = append(row, report.Cell{Text: fmt.Sprintf("%.3f", t.timed.mean(name, 0, figure))})
			}
			table.Rows = append(table.Rows, append(row, report.Cell{Text: cli.Thousands(int64(t.timed.mean(name, 0, t.missed) / 1000))}))
		}
	}
	out.Compare(bars)
	out.Show(table)
	return out
}

// missed is the tokens of prompts that were computed. The trace of the first seed counts for all, which are nearly as large.
func (t *talks) missed(r *blocks.Result) float64 {
	return float64(r.Blocks-r.Hits) * float64(t.timed.tokens)
}

// changes are the relative changes of a figure from LRU, seed by seed.
func (p *played) changes(policy string, figure func(*blocks.Result) float64) []float64 {
	all, base := p.values(policy, 0, figure), p.values("lru", 0, figure)
	for i := range all {
		all[i] = all[i]/max(base[i], 1e-12) - 1
	}
	return all
}

// lpcName is the name of a policy in the tables of this study.
func lpcName(policy string) string {
	switch policy {
	case "lpc":
		return "LPC"
	case "lpc:pool=max":
		return "LPC, pool=max"
	case "lpc:pool=last":
		return "LPC, pool=last"
	case "lpc-wa":
		return "LPC with rates"
	case blocks.Oracle:
		return "Oracle"
	}
	return label(policy)
}

// sharedSection examines §3.5.
func (s *predicted) sharedSection() (out report.Section) {
	out.Title = "Blocks of several conversations"
	out.Say("A block that several conversations share has the larger of its decayed probability and the new one (§3.5). That sentence can be read in two ways. pool=shared, the default, takes the larger one only where several conversations have used the block. " +
		"pool=max takes it at each use: then a conversation that the predictor calls ended keeps the high probability of its earlier turns, and LPC loses much of its gain. pool=last never takes it.")
	out.Say(fmt.Sprintf("The second workload has one of %d generated system prompts of %d tokens before each conversation, some of them used rarely. In the third one, where there is one, users branch: several turns continue one answer.", systemPrompts, systemBlocks*talkTokens))
	bars := &report.Bars{Title: "More hits than LRU", Y: "points of hit ratio", Digits: 2}
	for _, name := range pools[1:] {
		bars.Series = append(bars.Series, report.Series{Name: lpcName(name)})
	}
	table := &report.Table{Caption: "Hit ratio at " + shares(halfLive)[0].text() + " of the live tokens, %", Texts: 1, Head: []string{"conversations"}}
	for _, name := range pools {
		table.Head = append(table.Head, lpcName(name))
	}
	for _, t := range s.talks {
		for i, p := range t.traps {
			name := t.short()
			if i > 0 {
				name = t.name + []string{", system prompts", ", branches"}[i-1]
			}
			bars.Groups = append(bars.Groups, name)
			row := report.Cells(p.title)
			for k, policy := range pools {
				row = append(row, report.Cell{Text: points(p.mean(policy, 0, hits))})
				if k > 0 {
					mean, half := study.Mean(p.less(policy, "lru", 0, hits))
					bars.Series[k-1].Values = append(bars.Series[k-1].Values, report.Value{Y: 100 * mean, Half: 100 * half})
				}
			}
			table.Rows = append(table.Rows, row)
		}
	}
	out.Compare(bars)
	out.Show(table)
	out.Say("With branches the end of one says nothing of the others, and the truth about one is not the truth about their common prefix. Where blocks are shared, Oracle is no bound: it has the truth about a conversation, not about a block.")
	return out
}

// otherSection is where LPC is not better, and why.
func (s *predicted) otherSection() (out report.Section) {
	out.Title = "Traces without texts, and where LPC is not better"
	out.Say("Recorded traces without texts: LPC has the share of conversations that go on after a turn. Agents ask again after seconds, nearly always, and when they stop is in no turn: there is nothing to predict, and a decay of 1/100 per second, fitted to people, " +
		"keeps ended sessions for minutes. With scale=1, or with rates that are learned, LPC is about LRU there. People's conversations end after few turns, and their turn says something.")
	for i := range s.others {
		p := &s.others[i]
		table := &report.Table{Caption: p.title + ": hit ratio, %", Texts: 1, Head: []string{"capacity", "LPC by turn", "LPC by turn, scale=1", "lpc-wa", "WA", "LRU", "LPC - LRU"}}
		for k, at := range p.sweep.at {
			row := report.Cells(at.text())
			for _, name := range []string{"lpc", "lpc:scale=1", "lpc-wa", "wa", "lru"} {
				row = append(row, report.Cell{Text: points(p.mean(name, k, hits))})
			}
			table.Rows = append(table.Rows, append(row, report.Cell{Text: signed(p.less("lpc", "lru", k, hits))}))
		}
		out.Show(table)
	}
	return out
}
