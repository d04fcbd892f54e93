package kvstudy

import (
	"fmt"
	"strconv"
	"strings"

	"reprise/cmd/reprise-lab/internal/report"
)

// everySharer are the columns of tables.
func everySharer() []string { return append(append([]string{}, sharers...), sharerBounds...) }

func (s *sharing) mixSection() report.Section {
	one := report.Section{Title: "The mix"}
	one.Say(s.mix.title + ": " + s.mix.text() + ".")
	one.Draw(s.mix.curve("Hit rate of the mix, per request", "hits, % of a request's blocks", 100, byRequest, everySharer()...))
	if s.timed != nil {
		one.Draw(s.timed.curve("TTFT of the mix, with the time in the queue", "queued TTFT, mean, s", 1, queued, sharers...))
	}
	one.Show(s.mix.figures("Hits per request, %, which is the hit rate of the paper", 100, 2, false, byRequest, everySharer()...))
	one.Show(s.mix.figures("Hit ratio over all blocks, %", 100, 2, false, hits, everySharer()...))
	if s.timed != nil {
		one.Say(s.speedText())
		one.Show(s.timed.figures("Queued TTFT, mean, s", 1, 3, true, queued, sharers...))
		one.Show(s.timed.figures("TTFT without the queue, mean, s", 1, 3, true, served, sharers...))
	}
	return one
}

// speedText describes the server of the mix.
func (s *sharing) speedText() string {
	return fmt.Sprintf("Times are of one server that computes %.0f tokens of prompts per second, so that LRU at %g %% keeps it busy for %g %% of the time: queues exist there, a miss costs those behind it too, and larger caches make them shorter. "+
		"An answer has %d tokens per second, and its blocks are pinned until its end. Requests arrive when the trace has them, whether or not earlier ones are answered.", rate(s.timed), 100*s.timed.speed.share, 100*s.timed.speed.load, decode)
}

func (s *sharing) aloneSection() report.Section {
	one := report.Section{Title: "Traces of one use"}
	for i := range s.alone {
		p := &s.alone[i]
		one.Draw(p.curve(p.title+": hits per request", "hits, % of a request's blocks", 100, byRequest, everySharer()...))
	}
	for i := range s.alone {
		p := &s.alone[i]
		one.Show(p.figures(p.title+": hits per request, %. "+p.text(), 100, 2, false, byRequest, everySharer()...))
		all := p.figures(p.title+": hit ratio over all blocks, %", 100, 2, false, hits, everySharer()...)
		all.Folded = true
		one.Show(all)
	}
	return one
}

func (s *sharing) sizeSection() report.Section {
	one := report.Section{Title: "Block sizes"}
	one.Say("Blocks are joined to larger ones. The capacity in tokens stays: a share of the distinct tokens at the smallest size. A hit ends at the last whole block, so that larger blocks lose the rest " +
		"of every shared prefix, and keep tokens that are not shared. An engine gains from larger blocks by fewer look-ups, which is not measured here.")
	for _, at := range []int{0, 1, 2} {
		b := &report.Bars{Title: fmt.Sprintf("LRU by block size, capacity %s", s.sizes[0][0].sweep.at[at].text()), Y: "hits, % of a request's tokens", Digits: 2}
		for k := range blockTokens {
			b.Series = append(b.Series, report.Series{Name: "× " + strconv.Itoa(blockTokens[k])})
			for _, sizes := range s.sizes {
				b.Series[k].Values = append(b.Series[k].Values, report.Value{Y: 100 * sizes[k].mean("lru", at, saved(&sizes[k]))})
			}
		}
		for _, sizes := range s.sizes {
			b.Groups = append(b.Groups, short(sizes[0].title))
		}
		one.Compare(b)
	}
	one.Show(s.sizeTable())
	return one
}

// short is a title without what is in brackets, which the tables have.
func short(title string) string {
	name, rest, ok := strings.Cut(title, " (")
	if ok && strings.HasPrefix(rest, "generated") {
		return name + ", generated"
	}
	return name
}

func (s *sharing) sizeTable() *report.Table {
	t := &report.Table{Caption: "Tokens of prompts that hit, %, by block size, capacity and policy", Head: []string{"trace", "tokens of a block"}, Texts: 2}
	first := &s.sizes[0][0]
	for _, at := range first.sweep.at {
		for _, name := range first.policies {
			t.Head = append(t.Head, label(name)+" at "+at.text())
		}
	}
	for _, sizes := range s.sizes {
		for k := range sizes {
			p := &sizes[k]
			row := report.Cells(sizes[0].title, strconv.Itoa(p.tokens))
			for i := range p.sweep.at {
				for _, name := range p.policies {
					row = append(row, report.Cell{Text: points(p.mean(name, i, saved(p)))})
				}
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}
