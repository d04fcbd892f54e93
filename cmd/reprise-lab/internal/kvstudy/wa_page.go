package kvstudy

import (
	"fmt"
	"strconv"

	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/internal/study"
	"reprise/cmd/reprise-lab/sim/blocks"
)

func (s *wild) summary() (all []report.Figure) {
	a, b := of(s.hits, s.chat), of(s.hits, s.api)
	if len(s.hits) > 0 && s.hits[0].real {
		all = append(all, s.realFigure())
	}
	if a != nil {
		all = append(all, report.Figure{Name: "WA minus the best of five others", Value: signed(tightGain(a)) + " points",
			Text: fmt.Sprintf("Of the hit ratio on %s, mean of 5, 10 and 25 %% of the distinct blocks; the paper has +1.5 to +3.9. The other is chosen with hindsight at each capacity.", a.title)})
	}
	if b != nil && len(all) < 2 {
		all = append(all, report.Figure{Name: "WA against LRU on API calls", Value: points(farthest(b)) + " points",
			Text: fmt.Sprintf("The largest difference at any capacity on %s: with one turn there is nothing to distinguish, and WA falls back to LRU, as in the paper.", b.title)})
	}
	if f, ok := s.queueFigure(); ok {
		all = append(all, f)
	}
	return all
}

// queueFigure is the change of times at 10 %: that of the first trace, which is the recorded one where there is one.
func (s *wild) queueFigure() (f report.Figure, ok bool) {
	text := ""
	for i := range s.queues {
		p := &s.queues[i]
		switch {
		case *p.speed != (sizing{load: .8, share: .1}):
		case !ok:
			f = report.Figure{Name: "Queued TTFT, WA against LRU", Value: changeOf(p.changes("wa", queued)), Text: "On " + p.title + " at 10 % of the distinct blocks, where LRU keeps a server busy for 80 % of the time"}
			ok = true
		default:
			text += "; on " + p.title + " " + changeOf(p.changes("wa", queued))
		}
	}
	f.Text += text + ". The paper has -28.3 to -41.9 %."
	return f, ok
}

// realFigure is the figure of the recorded traces.
func (s *wild) realFigure() report.Figure {
	first, text := &s.hits[0], ""
	for at, place := range first.sweep.at {
		text += comma(at) + signed(gain(first, at)) + " at " + place.text()
	}
	text += ". Other recorded traces at 5 %: "
	n := 0
	for i := range s.hits {
		if p := &s.hits[i]; p.real && i > 0 {
			text += comma(n) + p.name + " " + signed(gain(p, small))
			n++
		}
	}
	return report.Figure{Name: "WA minus the best of five others on " + first.name, Value: signed(gain(first, small)) + " points", Text: "Of the hit ratio at 5 % of the distinct blocks; " + text + "."}
}

func (s *wild) hitSection() report.Section {
	one := report.Section{Title: "Hit ratios"}
	for i := range s.hits {
		p := &s.hits[i]
		one.Draw(p.curve(p.title, "hit ratio, %", 100, hits, append(append([]string{"wa", "wa+"}, others...), blocks.Oracle, blocks.Belady)...))
	}
	one.Show(s.gains())
	for i := range s.hits {
		p := &s.hits[i]
		t := p.figures("Hit ratio of "+p.title+", %. "+p.text(), 100, 2, false, hits, everyEvictor()...)
		t.Folded = i > 0
		one.Show(t)
	}
	return one
}

// gains is the comparison with the best of the others.
func (s *wild) gains() *report.Table {
	t := &report.Table{Caption: "WA minus the best of LRU, FIFO, LFU, S3-FIFO and GDFS, which is chosen with hindsight, in points of the hit ratio. Bold: a gain; of several seeds, one whose interval is above 0", Texts: 3,
		Head: []string{"trace", "capacity", "best other", "its hits, %", "WA", "WA without life", "WA without p", "WA+", "WA minus LRU", "Oracle", "Belady"}}
	for i := range s.hits {
		p := &s.hits[i]
		for at, place := range p.sweep.at {
			name, base := best(p, at)
			row := report.Cells(p.title, place.text(), label(name), points(base))
			for _, form := range []string{"wa", lifeOff, pOff, "wa+"} {
				all := p.less(form, name, at, hits)
				mean, half := study.Mean(all)
				row = append(row, report.Cell{Text: signed(all), Strong: mean > max(half, 5e-5)})
			}
			row = append(row, report.Cells(signed(p.less("wa", "lru", at, hits)), points(p.mean(blocks.Oracle, at, hits)), points(p.mean(blocks.Belady, at, hits)))...)
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// steps are the forms of the ablation.
var ablated = []string{"lru", "gdfs", lifeOff, pOff, "wa"}

func (s *wild) ablationSection() report.Section {
	one := report.Section{Title: "What each part of WA does"}
	one.Say("As Figure 28 of the paper: from GDFS, by times of reuse for each category, then with a life that bounds how far ahead they count. In all forms ties go to the deepest block. Without p every block is assumed to return.")
	b := &report.Bars{Title: "Parts of WA at 10 % of the distinct blocks", Y: "hit ratio, %", Digits: 2}
	for i := range s.hits {
		b.Groups = append(b.Groups, short(s.hits[i].title))
	}
	for _, name := range ablated {
		series := report.Series{Name: label(name)}
		for i := range s.hits {
			mean, half := study.Mean(s.hits[i].values(name, middle, hits))
			series.Values = append(series.Values, report.Value{Y: 100 * mean, Half: 100 * half})
		}
		b.Series = append(b.Series, series)
	}
	one.Compare(b)
	t := &report.Table{Caption: "What a part adds, in points of the hit ratio at 10 % of the distinct blocks", Texts: 1,
		Head: []string{"trace", "categories: WA without life - GDFS", "life: WA - WA without life", "p: WA - WA without p"}}
	for i := range s.hits {
		p := &s.hits[i]
		t.Rows = append(t.Rows, report.Cells(p.title, signed(p.less(lifeOff, "gdfs", middle, hits)), signed(p.less("wa", lifeOff, middle, hits)), signed(p.less("wa", pOff, middle, hits))))
	}
	one.Show(t)
	return one
}

func (s *wild) queueSection() report.Section {
	one := report.Section{Title: "Queues"}
	one.Say(fmt.Sprintf("The load is chosen so that queues exist: one server computes prompts as fast as keeps it busy for 80 or 90 %% of the time under LRU with that capacity, in the order of arrival (open loop). "+
		"Answers have %d tokens per second and pin their blocks; they take no time from prompts. Attention, batches and swapping are left out.", decode))
	b := &report.Bars{Title: "Queued TTFT with WA against LRU", Y: "change of the mean, %", Digits: 1, Series: []report.Series{{Name: "WA against LRU"}}}
	t := &report.Table{Caption: "Queued TTFT, s", Texts: 2, Head: []string{"trace", "capacity", "load under LRU", "tokens/s", "LRU mean", "WA mean", "change", "LRU p90", "WA p90", "TTFT without queue, change", "hit ratio, points"}}
	for i := range s.queues {
		p := &s.queues[i]
		mean, half := study.Mean(p.changes("wa", queued))
		b.Groups = append(b.Groups, fmt.Sprintf("%s, %s, load %g", short(p.title), p.sweep.at[0].text(), p.speed.load))
		b.Series[0].Values = append(b.Series[0].Values, report.Value{Y: 100 * mean, Half: 100 * half})
		t.Rows = append(t.Rows, report.Cells(p.title, p.sweep.at[0].text(), fmt.Sprintf("%g %%", 100*p.speed.load), fmt.Sprintf("%.0f", rate(p)),
			fmt.Sprintf("%.3f", p.mean("lru", 0, queued)), fmt.Sprintf("%.3f", p.mean("wa", 0, queued)), changeOf(p.changes("wa", queued)),
			fmt.Sprintf("%.3f", p.mean("lru", 0, queued90)), fmt.Sprintf("%.3f", p.mean("wa", 0, queued90)),
			relative(p.mean("lru", 0, served), p.mean("wa", 0, served)), signed(p.less("wa", "lru", 0, hits))))
	}
	one.Compare(b)
	one.Show(t)
	return one
}

// rate is the mean tokens of prompts that the servers of a sweep compute per second.
func rate(p *played) float64 {
	var all []float64
	for _, s := range p.speeds {
		all = append(all, s.Prefill)
	}
	mean, _ := study.Mean(all)
	return mean
}

func (s *wild) calibrationSection() report.Section {
	one := report.Section{Title: "How near the generated traces are to the published ones"}
	one.Say("The generators of full size beside the published statistics of two hours of the traces. They were fitted to these, and to nothing else.")
	for _, c := range s.calibrated {
		t := &report.Table{Caption: c.name, Texts: 1, Head: []string{"statistic", "published", "measured here", "within 10 %"}, Folded: true}
		near := 0
		for _, f := range c.figures {
			within := "no"
			if f.Near(.1) {
				within = "yes"
				near++
			}
			t.Rows = append(t.Rows, report.Cells(f.Name, number(f.Target), number(f.Measured), within))
		}
		t.Caption += fmt.Sprintf(": %d of %d statistics within 10 %%", near, len(c.figures))
		one.Show(t)
	}
	return one
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
