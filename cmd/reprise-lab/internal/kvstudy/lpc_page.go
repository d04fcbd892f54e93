package kvstudy

import (
	"fmt"
	"strings"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/internal/study"
	"reprise/cmd/reprise-lab/sim/blocks"
)

// page has the sections of what was complete.
func (s *predicted) page() report.Page {
	p := report.Page{Title: "Learned prefix caching, measured again", Words: lpcWords, Summary: s.summary(), Notes: []string{
		`The paper is "Learned Prefix Caching for Efficient LLM Inference"; § is a section of it. It trains a predictor with one half of the conversations of LMSys, ShareGPT and ` +
			`Chatbot-Arena, and replays the other half. None of the three is here: other conversations take their place, and ShareGPT can be given with --trace. All figures are of conversations that training has not seen.`,
	}}
	for _, t := range s.talks {
		p.Notes = append(p.Notes, t.workload())
	}
	p.Notes = append(p.Notes, fmt.Sprintf("Conversations begin at random (a Poisson process), and users pause for %d seconds on average, by an exponential distribution, as in §A4. Capacities are shares of the live tokens, because these conversations are shorter than "+
		"those of the paper: 200 of them fill less of a cache.", pause))
	p.Part(s.curves(), s.capacitySection)
	p.Part(s.curves(), s.predictorSection)
	p.Part(s.played(), s.pauseSection)
	p.Part(s.played(), s.timeSection)
	p.Part(s.curves(), s.memorySection)
	p.Part(s.played(), s.sharedSection)
	p.Part(len(s.others) > 0, s.otherSection)
	p.Part(s.curves(), s.claimSection)
	return p
}

// curves reports whether there is a corpus with hit ratios by capacity.
func (s *predicted) curves() bool { return len(s.talks) > 0 && s.talks[0].bare != nil }

// played reports whether a corpus was played in all ways.
func (s *predicted) played() bool { return s.curves() && len(s.talks[0].traps) > 1 }

var lpcWords = []report.Term{
	{Name: "LPC", Text: "evicts the block of the conversation that goes on with the least probability, which a predictor computes from the user's prompts, and which decays with time."},
	{Name: "LPC by turn", Text: "the same without a predictor: the probability is the share of earlier conversations that went on after that turn."},
	{Name: "LPC with rates", Text: "the predicted probability, and a time until the next turn that is learned for each turn, as WA does (policy lpc-wa)."},
	{Name: "WA", Text: "evicts by the probability of reuse that it learns for each turn (paper: KVCache Cache in the Wild)."},
	{Name: "Oracle", Text: "LPC with the truth in place of a prediction: whether the conversation goes on."},
	{Name: "MCC", Text: "Matthews correlation coefficient of a yes or no and what happened: 0 is chance, 1 is perfect, whatever the shares of the two are."},
	{Name: "F1 macro", Text: "mean of the F1 scores of both labels."},
	{Name: "live tokens", Text: "tokens of prompts and answers that wait for the next turn of their conversation, on average over the time: what an ideal cache would hold."},
}

func (t *talks) workload() string {
	less := ""
	if t.active < activeTalks {
		less = fmt.Sprintf(" (they are too few for %d at a time over 20 minutes)", activeTalks)
	}
	text := fmt.Sprintf("%s: %s conversations at a time on average%s, %s live tokens.", t.title(), cli.Thousands(int64(t.active+.5)), less, cli.Thousands(t.live))
	if t.full != nil {
		text = strings.TrimSuffix(text, ".") + "; " + t.full.text() + "."
	}
	if t.path == "" {
		text += " They are generated to have what the recorded ones have not: the lengths of chats, and ends that are as hard to predict as the paper's."
	}
	return text
}

// title is the name of a corpus with what of it is generated.
func (t *talks) title() string {
	if t.full != nil {
		return t.full.title
	}
	return t.name
}

// name of a corpus in short tables.
func (t *talks) short() string {
	if t.path == "" {
		return t.name + " (generated)"
	}
	return t.name
}

// column is a line of plots, and a column of tables.
type column struct {
	name   string
	of     *played
	policy string
	style  report.Style
}

func (t *talks) columns() []column {
	return []column{{"LPC", t.full, "lpc", report.Bold}, {"LRU", t.full, "lru", report.Plain}, {"LPC by turn", t.bare, "lpc", report.Plain}, {"LPC with rates", t.full, "lpc-wa", report.Plain},
		{"WA", t.full, "wa", report.Plain}, {"Oracle", t.full, blocks.Oracle, report.Dashed}, {"Belady", t.full, blocks.Belady, report.Dashed}}
}

func (s *predicted) capacitySection() (out report.Section) {
	out.Title = "Hit ratio and capacity"
	for _, t := range s.complete() {
		plot := &report.Plot{Title: t.title() + ": hit ratio by capacity", X: "capacity, thousand tokens", Y: "hits, % of the blocks", LogX: true}
		for _, c := range t.columns() {
			line := report.Line{Name: c.name, Style: c.style}
			for i, at := range c.of.sweep.at {
				mean, half := study.Mean(c.of.values(c.policy, i, hits))
				line.Points = append(line.Points, report.Point{X: at.share * float64(t.live) / 1000, Y: 100 * mean, Half: 100 * half})
			}
			plot.Lines = append(plot.Lines, line)
		}
		out.Draw(plot)
	}
	out.Say("Cache that a policy needs for the hit ratio that LRU has, between the capacities that were played, as a change from LRU's. The first five ratios are those of the paper's Figure 4.")
	for _, t := range s.complete() {
		out.Show(t.savingTable())
	}
	for _, t := range s.complete() {
		out.Show(t.hitTable())
	}
	return out
}

// complete are the corpora with hit ratios by capacity.
func (s *predicted) complete() (all []*talks) {
	for _, t := range s.talks {
		if t.bare != nil {
			all = append(all, t)
		}
	}
	return all
}

func (t *talks) savingTable() *report.Table {
	out := &report.Table{Caption: t.short() + ": cache for LRU's hit ratio, change from LRU", Texts: 1, Head: []string{"hit ratio", "LRU needs, tokens"}}
	columns := []column{t.columns()[0], t.columns()[2], t.columns()[3], t.columns()[5]}
	for _, c := range columns {
		out.Head = append(out.Head, c.name)
	}
	for _, ratio := range ratios {
		var needs []float64
		for seed := range t.full.seeds {
			if n := t.full.need("lru", seed, ratio); n > 0 {
				needs = append(needs, n)
			}
		}
		if len(needs) < len(t.full.seeds) {
			continue
		}
		mean, _ := study.Mean(needs)
		row := report.Cells(fmt.Sprintf("%.0f %%", 100*ratio), cli.Thousands(int64(mean*float64(t.live))))
		for _, c := range columns {
			row = append(row, report.Cell{Text: changeOf(t.savings(c.of, c.policy, ratio)), Strong: c.name == "LPC"})
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

func (t *talks) hitTable() *report.Table {
	out := &report.Table{Caption: t.title() + ": hit ratio, %, and what LPC has more than LRU in points", Texts: 1, Folded: true, Head: []string{"capacity, tokens", "of the live"}}
	for _, c := range t.columns() {
		out.Head = append(out.Head, c.name)
	}
	out.Head = append(out.Head, "LPC - LRU")
	for i, at := range t.full.sweep.at {
		row := report.Cells(cli.Thousands(int64(at.share*float64(t.live)+.5)), at.text())
		for _, c := range t.columns() {
			row = append(row, report.Cell{Text: points(c.of.mean(c.policy, i, hits))})
		}
		out.Rows = append(out.Rows, append(row, report.Cell{Text: signed(t.full.less("lpc", "lru", i, hits))}))
	}
	return out
}

// pauseSection is the paper's Figure 5.
func (s *predicted) pauseSection() (out report.Section) {
	out.Title = "Think times"
	out.Say(fmt.Sprintf("Conversations begin as often in all columns, so that longer pauses have more of them at a time. The capacity stays: %s of the live tokens at pauses of %d s. LPC decays with 1/100 per second, the constant of the paper; "+
		"fitted is with 1 / the mean pause.", shares(halfLive)[0].text(), pause))
	table := &report.Table{Caption: "Hit ratio by think time, %", Head: []string{"conversations", "policy"}, Texts: 2}
	for _, think := range thinkTimes {
		table.Head = append(table.Head, fmt.Sprintf("%g s", think))
	}
	for _, t := range s.talks {
		if len(t.pauses) < len(thinkTimes) {
			continue
		}
		plot := &report.Plot{Title: t.title() + ": hit ratio by think time", X: "mean pause between an answer and the next turn, s", Y: "hits, % of the blocks"}
		for k, name := range []string{"LPC", "LRU", "LPC fitted", "Oracle"} {
			line, row := report.Line{Name: name, Style: []report.Style{report.Bold, report.Plain, report.Plain, report.Dashed}[k]}, report.Cells(t.short(), name)
			for i, p := range t.pauses {
				mean, half := study.Mean(p.values(p.policies[[]int{1, 0, 2, 3}[k]], 0, hits))
				line.Points = append(line.Points, report.Point{X: thinkTimes[i], Y: 100 * mean, Half: 100 * half})
				row = append(row, report.Cell{Text: points(mean)})
			}
			plot.Lines, table.Rows = append(plot.Lines, line), append(table.Rows, row)
		}
		out.Draw(plot)
	}
	out.Show(table)
	return out
}

// memorySection is the paper's §A.2.
func (s *predicted) memorySection() (out report.Section) {
	out.Title = "Memory of the predictor"
	out.Say("The paper takes 1 GB from LPC's cache for its predictor, and shows 0, 1, 2 and 4 times that: 0 to 10 % of 40 GB, and 0 to 25 % of 16 GB. Here are the same shares of a capacity, of the curves above. " +
		"The predictor of this program runs on the CPU and takes half a megabyte of weights, so that 0 is its column.")
	table := &report.Table{Caption: "LPC's hit ratio more than LRU's, in points, with that share of the cache reserved", Texts: 2, Head: []string{"conversations", "capacity", "0 %", "2.5 %", "5 %", "6.25 %", "10 %", "12.5 %", "25 %"}}
	for _, t := range s.complete() {
		for _, share := range []float64{.2, .5, 1} {
			row := report.Cells(t.short(), fmt.Sprintf("%g %% of the live tokens", 100*share))
			for _, reserved := range []float64{0, .025, .05, .0625, .1, .125, .25} {
				var more []float64
				for seed := range t.full.seeds {
					more = append(more, t.full.between("lpc", seed, share*(1-reserved))-t.full.between("lru", seed, share))
				}
				row = append(row, report.Cell{Text: signed(more)})
			}
			table.Rows = append(table.Rows, row)
		}
	}
	out.Show(table)
	return out
}
