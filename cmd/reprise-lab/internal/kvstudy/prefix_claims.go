package kvstudy

import (
	"fmt"
	"strings"

	"reprise/cmd/reprise-lab/internal/report"
)

// claims is the page of honest comparison.
func (s *sharing) claims() report.Section {
	return honest("Its traces (ShareGPT, AgentBank, LMSys, CC-Bench, EkaCare) are not here, and it gives neither their request rates nor how they overlap. So absolute figures cannot agree; the order of policies, the form of curves and signs can.",
		s.validated, s.mixHits, s.mixTime, s.order, s.linear, s.convex, s.weight, s.blockSize)
}

func (s *sharing) validated() (c report.Claim) {
	c = report.Claim{Claim: "The hit rate of a prefix that grows through a cache of 100 tokens rises, peaks when its tokens fill the cache, then decays.", Where: "§2.2.3, Figure 2",
		Why: "They do not differ where the deepest blocks are evicted first. The length at the peak is exact, because a request of n tokens can hit n - 1 of them while they fit, and 100 at most afterwards."}
	n, peak, last := s.peak()
	c.Measured = fmt.Sprintf("LRU: %s %% at 10 tokens, the peak of %s %% at %d, %s %% at %d.", points(s.grownAt(10)), points(peak), n, points(last), s.lengths[len(s.lengths)-1])
	return c
}

// grownAt is what LRU hits of the prompt of a size.
func (s *sharing) grownAt(size int) float64 {
	for i, n := range s.lengths {
		if n == size {
			return s.grown[0][i]
		}
	}
	return 0
}

func (s *sharing) mixHits() (c report.Claim) {
	c = report.Claim{Claim: "On the mix LRU has the highest hit rate, 68 %, and Aging LFU follows with 65 %.", Where: "§3.4, Figure 7, 500 blocks of 16 tokens",
		Why: "With its printed formula one request of age cancels one use, so a block that was used n times is kept n requests longer than under LRU and no more: the two differ only where the cache has the blocks of few requests. Three points suggest that " +
			"the code of the paper does something else: read literally, its text adds a growing counter to the count at every access, which is another policy. With w = C uses have as much weight as under LFU, and blocks of ended conversations stay."}
	if s.mix == nil {
		return c
	}
	for _, i := range []int{s.nearest(.68), len(s.mix.sweep.at) - 1} {
		c.Measured += fmt.Sprintf("At %s: LRU %s %%, Aging LFU %s %%, with w = C %s %%, LFU %s %%, FIFO %s %%. ", s.mix.sweep.at[i].text(), points(s.mix.mean("lru", i, byRequest)),
			points(s.mix.mean(agingPaper, i, byRequest)), points(s.mix.mean("aging-lfu", i, byRequest)), points(s.mix.mean("lfu", i, byRequest)), points(s.mix.mean("fifo", i, byRequest)))
	}
	return c
}

func (s *sharing) mixTime() (c report.Claim) {
	c = report.Claim{Claim: "On the mix Aging LFU has the lowest TTFT, up to 8 % below that of LRU, in spite of fewer hits.", Where: "abstract, §3.3, Figures 6 and 8",
		Why: "The hit rate per request counts a short prompt as much as a long one; TTFT counts the tokens that miss, and a queue multiplies them. So both parts of the claim hold at once where a policy has fewer hits per request and a higher hit " +
			"ratio over all blocks: the tables have such rows for the smallest caches of the recorded mix, where the long prompts of agents have more uses than short chats. In larger caches the two policies are equal. With w = C, and with LFU, " +
			"ended conversations stay, and the loss of hits becomes a much larger one of time."}
	if s.timed == nil {
		return c
	}
	for _, name := range []string{agingPaper, "aging-lfu", "lfu", "fifo"} {
		var changes []string
		for i, at := range s.timed.sweep.at {
			changes = append(changes, fmt.Sprintf("%s at %s", relative(s.timed.mean("lru", i, queued), s.timed.mean(name, i, queued)), at.text()))
		}
		c.Measured += label(name) + " against LRU, queued TTFT: " + strings.Join(changes, ", ") + ". "
	}
	return c
}

func (s *sharing) order() (c report.Claim) {
	c = report.Claim{Claim: "FIFO is the lowest, LFU is better, and LRU is marginally better than LFU.", Where: "§3.3, Figures 3 and 4",
		Why: "Blocks of ended conversations have many uses and are kept by LFU, while those of a new one have few: in traces with many conversations LFU is below FIFO. It is above LRU only where a few prompts carry the hits, as in calls with " +
			"system prompts. The paper does not say how many of its conversations are active at a time: with few, LFU keeps them."}
	cells, agree, lowest := 0, 0, 0
	for i := range s.alone {
		p := &s.alone[i]
		for k := range p.sweep.at {
			fifo, lfu, lru := p.mean("fifo", k, byRequest), p.mean("lfu", k, byRequest), p.mean("lru", k, byRequest)
			cells++
			if fifo <= lfu && lfu <= lru {
				agree++
			}
			if lfu < fifo {
				lowest++
			}
		}
	}
	if cells > 0 {
		c.Measured = fmt.Sprintf("Of %d pairs of trace and capacity the order holds in %d; LFU is below FIFO in %d.", cells, agree, lowest)
	}
	return c
}

func (s *sharing) linear() report.Claim {
	return report.Claim{Claim: "On chats the hit rate grows linearly with the capacity, from 0.2 to 0.3 at the smallest.", Where: "§3.2, Figure 3", Measured: s.growthOf(func(title string) bool {
		return strings.Contains(title, "hat")
	}), Why: "The paper plots the capacities of one decade. Over the range from 1 to 50 % the curves are concave: the reuses of active conversations come first, and more capacity only adds those after long pauses. " +
		"A part of such a curve that is small enough is linear."}
}

func (s *sharing) convex() report.Claim {
	return report.Claim{Claim: "On agents it is convex: near 0.05 up to a threshold, then it accelerates.", Where: "§3.2, Figure 4", Measured: s.growthOf(func(title string) bool {
		return strings.HasPrefix(title, "agents") || strings.HasPrefix(title, "calls")
	}) + none(s.alone, "agents"), Why: "A threshold is there where all active chains together fit at once and not before: with few agents of long chains, as in Figure 4. A cache that evicts the deepest block first keeps the start of each chain, and so has hits below the threshold too."}
}

// none says that a kind of trace was not played.
func none(all []played, kind string) string {
	for i := range all {
		if strings.HasPrefix(all[i].title, kind) {
			return ""
		}
	}
	return "No trace of " + kind + " was played: --data has some."
}

// growthOf describes the curves of LRU of some traces: at the ends, and how much of the rise comes in the first half of the range.
func (s *sharing) growthOf(which func(string) bool) (text string) {
	for i := range s.alone {
		p := &s.alone[i]
		if !which(p.title) {
			continue
		}
		first, middle, last := p.mean("lru", 0, byRequest), p.mean("lru", 3, byRequest), p.mean("lru", len(p.sweep.at)-1, byRequest)
		share := 0.0
		if last > first {
			share = (middle - first) / (last - first)
		}
		text += fmt.Sprintf("%s: %s %% at %s, %s %% at %s, %s %% at %s: %.0f %% of the rise comes in the first fifth of the capacity, where a line has 18 %%. ", p.title, points(first), p.sweep.at[0].text(),
			points(middle), p.sweep.at[3].text(), points(last), p.sweep.at[len(p.sweep.at)-1].text(), 100*share)
	}
	return text
}

func (s *sharing) weight() (c report.Claim) {
	c = report.Claim{Claim: "Aging LFU balances LFU and LRU.", Where: "§2.3.2, §3.3",
		Why: "The balance is in the weight, which the paper does not have. With w = 1 the policy is nearly LRU; with w = C it is nearly LFU. Which one is better depends on the trace, and neither learns it."}
	near, far := 0.0, 0.0
	for i := range s.alone {
		p := &s.alone[i]
		for k := range p.sweep.at {
			lru := p.mean("lru", k, byRequest)
			near, far = max(near, abs(p.mean(agingPaper, k, byRequest)-lru)), max(far, abs(p.mean("aging-lfu", k, byRequest)-lru))
		}
	}
	if len(s.alone) > 0 {
		c.Measured = fmt.Sprintf("The largest difference from LRU of all traces and capacities, per request: %s points with w = 1, %s with w = C.", points(near), points(far))
	}
	return c
}

func abs(v float64) float64 { return max(v, -v) }

func (s *sharing) blockSize() (c report.Claim) {
	c = report.Claim{Claim: "Blocks that are too large reduce sharing, blocks that are too small may fragment memory.", Where: "§1.2",
		Why: "The first half is measured. The second one is not a matter of hits: small blocks cost look-ups and scattered memory, which neither the paper nor this study measures."}
	for _, sizes := range s.sizes {
		last := &sizes[len(sizes)-1]
		c.Measured += fmt.Sprintf("%s, LRU at %s: %s %% of the tokens hit with blocks of %d tokens, %s %% with %d. ", sizes[0].title, last.sweep.at[1].text(),
			points(sizes[0].mean("lru", 1, saved(&sizes[0]))), sizes[0].tokens, points(last.mean("lru", 1, saved(last))), last.tokens)
	}
	return c
}
