package kvstudy

import (
	"fmt"

	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/sim/blocks"
)

// claims is the page of honest comparison.
func (s *wild) claims() report.Section {
	return honest("", s.overBest, s.overOthers, s.byCapacity, s.fallsBack, s.queue, s.parts, s.delay)
}

func (s *wild) overBest() (c report.Claim) {
	c = report.Claim{Claim: "WA has a hit ratio 1.5 to 3.9 points above the best of the others.", Where: "§4.3, Figures 25 to 27",
		Why: "Categories say which blocks return, and that matters where a cache cannot keep even the active conversations: at 1 to 5 % of the distinct blocks. At 10 % and more LRU has nearly all that any policy can have on these traces, and a mean " +
			"gain of 1.5 points would take much of the way to Belady. The paper gives its capacities as multiples of GPU memory, not of the blocks, and no numbers for single policies; its caches have two tiers, and its traces a whole day with more " +
			"types. Generated A has the published shares of types and turns, but within a category its conversations are alike."}
	for i := range s.hits {
		p := &s.hits[i]
		c.Measured += p.title + ": "
		for at, place := range p.sweep.at {
			name, _ := best(p, at)
			c.Measured += comma(at) + fmt.Sprintf("%s at %s (over %s)", signed(gain(p, at)), place.text(), label(name))
		}
		c.Measured += ". "
	}
	if p := of(s.hits, s.chat); p != nil {
		c.Measured += fmt.Sprintf("What bounds it on %s: ", p.title)
		for n, at := range tight {
			c.Measured += comma(n) + fmt.Sprintf("Belady is %s points above LRU at %s", points(p.mean(blocks.Belady, at, hits)-p.mean("lru", at, hits)), p.sweep.at[at].text())
		}
		c.Measured += "."
	}
	return c
}

func comma(n int) string {
	if n == 0 {
		return ""
	}
	return ", "
}

func (s *wild) overOthers() (c report.Claim) {
	c = report.Claim{Claim: "It is 8.1 to 23.9 points above the other policies.", Where: "§4.3, Figures 25 to 27",
		Why: "The others differ most in how long they keep blocks of ended conversations: LFU for ever. Which one is last, and how far, depends on the trace; the paper gives the range over all of its traces and models."}
	for i := range s.hits {
		p := &s.hits[i]
		c.Measured += p.title + " at " + p.sweep.at[middle].text() + ": "
		for n, name := range others {
			c.Measured += comma(n) + signed(p.less("wa", name, middle, hits)) + " over " + label(name)
		}
		c.Measured += ". "
	}
	return c
}

func (s *wild) byCapacity() (c report.Claim) {
	c = report.Claim{Claim: "The advantage is smaller in larger caches.", Where: "§4.3",
		Why: "A cache that has nearly everything that returns leaves nothing to choose: from 25 % on all differences are small here too, as is the way to Belady."}
	for i := range s.hits {
		p := &s.hits[i]
		c.Measured += p.title + ", WA minus LRU: "
		for at, place := range p.sweep.at {
			c.Measured += comma(at) + signed(p.less("wa", "lru", at, hits)) + " at " + place.text()
		}
		c.Measured += ". "
	}
	return c
}

func (s *wild) fallsBack() (c report.Claim) {
	c = report.Claim{Claim: "On trace B, where 99 % of the requests have one turn, WA falls back to LRU.", Where: "§4.3",
		Why: "With one category the order of WA is that of LRU exactly. Two types with one turn each are two such queues with similar times of reuse. LFU is better than both here: a few system prompts carry all hits of the generated trace, and they do not change in two hours."}
	if p := of(s.hits, s.api); p != nil {
		name, _ := best(p, middle)
		c.Measured = fmt.Sprintf("%s: at most %s points between WA and LRU at any capacity; the best other at 10 %% is %s.", p.title, points(farthest(p)), label(name))
	}
	return c
}

func (s *wild) queue() (c report.Claim) {
	c = report.Claim{Claim: "Queued TTFT is 28.3 to 41.9 % lower with WA.", Where: "§4.3, Figures 25 to 27",
		Why: "A queue makes a small difference in work a large one in time, the more the higher the load: at 90 % of the capacity of a server, 3 % less work is about a quarter less waiting. The paper does not give its load; its range needs no more hits than it claims, " +
			"if the load is high. Attention makes long prompts cost more there than in our linear model."}
	for i := range s.queues {
		p := &s.queues[i]
		c.Measured += fmt.Sprintf("%s at %s, load %g %%: %s. ", p.title, p.sweep.at[0].text(), 100*p.speed.load, changeOf(p.changes("wa", queued)))
	}
	return c
}

func (s *wild) parts() (c report.Claim) {
	c = report.Claim{Claim: "Distributions of reuse by category add 1 point to GDFS, and life adds 2.4.", Where: "§4.3, Figure 28",
		Why: "Without life, the paper's form counts any later use, so that categories that return late and often fill the cache. How much life then adds depends on how different the times of the categories are: in a trace with one category it is nothing. " +
			"The paper does not say whether its form without life has p, the share that returns at all; ours has."}
	for i := range s.hits {
		p := &s.hits[i]
		c.Measured += fmt.Sprintf("%s at %s: categories %s, life %s, p %s. ", p.title, p.sweep.at[middle].text(), signed(p.less(lifeOff, "gdfs", middle, hits)), signed(p.less("wa", lifeOff, middle, hits)), signed(p.less("wa", pOff, middle, hits)))
	}
	return c
}

func (s *wild) delay() (c report.Claim) {
	c = report.Claim{Claim: "An eviction takes 79 µs.", Where: "§4.2",
		Why: "The structure is the paper's: a queue for each category, whose ends are compared. Its figure is measured inside vLLM, an engine in Python; ours is of Go, in memory that is laid out for it, and without an engine around it."}
	for n, one := range s.costs {
		c.Measured += comma(n) + fmt.Sprintf("%s %.3f µs", label(one.policy), one.nanos/1000)
	}
	if c.Measured != "" {
		c.Measured += ", with a million blocks of 40 categories."
	}
	return c
}
