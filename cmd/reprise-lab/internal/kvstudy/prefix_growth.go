package kvstudy

import (
	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/sim/blocks"
	"reprise/cmd/reprise-lab/sim/blocks/generate"
	"strconv"
)

// growers are the policies of the validation run.
var growers = []string{"lru", "fifo", "lfu", agingPaper}

// growthSizes are the lengths of the prompts that are plotted, in tokens.
var growthSizes = []int{2, 5, 10, 20, 40, 60, 80, 90, 95, 100, 101, 105, 110, 120, 150, 200, 300, 400, 500, 600, 700, 800, 900, 1000}

// growthBlocks is the cache of the validation run, in blocks of one token.
const growthBlocks = 100

// smallGrowth is how many of growthSizes a small study plays.
const smallGrowth = 16

// growth plays the prefix that grows by a token a request (papers/003 §2.2.3), and measures single requests of it.
func (l *lab) growth(s *sharing) error {
	t, err := generate.New("growth", l.Seeds[0])
	if err != nil {
		return err
	}
	plot := &report.Plot{Title: "Validation: a prefix that grows through a cache of 100 tokens (generated)", X: "tokens of the prompt", Y: "hits of this request, %"}
	grown := make([][]float64, len(growers))
	s.lengths = growthSizes
	if l.factor() > 1 {
		s.lengths = growthSizes[:smallGrowth]
	}
	for n, size := range s.lengths {
		part := *t
		part.Requests = t.Requests[:size]
		results, err := blocks.Replay(l.ctx, &part, blocks.Options{Policies: growers, Capacities: []blocks.Capacity{{Blocks: growthBlocks}},
			Warmup: size - 1, Parallel: l.Parallel, Seed: l.Seeds[0], Now: l.Now})
		if err != nil {
			return err
		}
		for i := range results {
			grown[i] = append(grown[i], results[i].HitRatio)
		}
		if n == len(s.lengths)-1 {
			l.all = append(l.all, results...)
		}
		if l.Progress != nil {
			l.Progress("growing prefix", n+1, len(s.lengths))
		}
	}
	for i, name := range growers {
		line := report.Line{Name: label(name), Style: report.Plain}
		if i == 0 {
			line.Style = report.Bold
		}
		for n, size := range s.lengths {
			line.Points = append(line.Points, report.Point{X: float64(size), Y: 100 * grown[i][n]})
		}
		plot.Lines = append(plot.Lines, line)
	}
	s.growth, s.grown = plot, grown
	return nil
}

// peak is the prompt with the most hits under LRU and their share, and that of the last prompt. n is 0 if it was not played.
func (s *sharing) peak() (n int, most, last float64) {
	if s.growth == nil {
		return 0, 0, 0
	}
	for i, v := range s.grown[0] {
		if v > most {
			n, most = s.lengths[i], v
		}
	}
	return n, most, s.grown[0][len(s.grown[0])-1]
}

func (s *sharing) growthSection() report.Section {
	one := report.Section{Title: "The validation run"}
	one.Say("Every request is the one before and a token more. The cache has 100 blocks of one token. Up to 100 tokens everything except the new token can hit; after that " +
		"at most the first 100 tokens can. A policy that evicts the start of the chain has no hits at all then: this is why ties go to the deepest block.")
	one.Draw(s.growth)
	t := &report.Table{Caption: "Hits of a request, % of its blocks", Head: []string{"tokens of the prompt"}, Texts: 1, Folded: true}
	for _, name := range growers {
		t.Head = append(t.Head, label(name))
	}
	for n, size := range s.lengths {
		row := report.Cells(strconv.Itoa(size))
		for i := range growers {
			row = append(row, report.Cell{Text: points(s.grown[i][n])})
		}
		t.Rows = append(t.Rows, row)
	}
	one.Show(t)
	return one
}
