package kvstudy

import (
	"fmt"
	"strings"

	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/internal/study"
	"reprise/cmd/reprise-lab/internal/train"
	"reprise/cmd/reprise-lab/sim/blocks"
)

func (s *predicted) summary() (all []report.Figure) {
	if !s.played() {
		return nil
	}
	t := s.talks[0]
	mcc, _ := t.score(modelMCC)
	turns, _ := t.score(turnsMCC)
	half := t.place()
	return []report.Figure{
		{Name: "Cache for LRU's hit ratio", Value: changeOf(t.saving(t.full, "lpc")), Text: "of LPC on " + t.short() + ", at hit ratios of 20 to 40 %" + s.rest(func(t *talks) string { return changeOf(t.saving(t.full, "lpc")) }) + ". The paper has -18 to -47 %."},
		{Name: "Hit ratio", Value: relative(t.full.mean("lru", half, hits), t.full.mean("lpc", half, hits)), Text: fmt.Sprintf("from %s %% with LRU to %s %% with LPC, in a cache of half the live tokens", points(t.full.mean("lru", half, hits)), points(t.full.mean("lpc", half, hits))) +
			s.rest(func(t *talks) string { return relative(t.full.mean("lru", half, hits), t.full.mean("lpc", half, hits)) }) + ". The paper has +5 to +18 % in 40 GB."},
		{Name: "MCC of the predictor", Value: fmt.Sprintf("%.2f", mcc), Text: fmt.Sprintf("on held-out conversations; %.2f for the turn alone", turns) + s.rest(func(t *talks) string {
			mcc, _ := t.score(modelMCC)
			turns, _ := t.score(turnsMCC)
			return fmt.Sprintf("%.2f against %.2f", mcc, turns)
		}) + ". The paper has 0.28 to 0.37."},
	}
}

// spread formats a mean with its interval, if there is one.
func spread(mean, half float64) string {
	if half == 0 {
		return fmt.Sprintf("%.3f", mean)
	}
	return fmt.Sprintf("%.3f ± %.3f", mean, half)
}

// place is the number of the capacity of half the live tokens.
func (t *talks) place() int {
	for i, at := range t.full.sweep.at {
		if at.share == halfLive {
			return i
		}
	}
	return 0
}

// rest has a figure of the corpora after the first.
func (s *predicted) rest(figure func(*talks) string) string {
	var all []string
	for _, t := range s.complete()[1:] {
		all = append(all, figure(t)+" on "+t.short())
	}
	if len(all) == 0 {
		return ""
	}
	return " (" + strings.Join(all, ", ") + ")"
}

// lpcClaims makes the claims.
type lpcClaims struct{ *predicted }

func (s *predicted) claimSection() report.Section {
	c := lpcClaims{s}
	return honest("", c.claimCache, c.claimHits, c.claimOracle, c.claimPredictor, c.claimInputs, c.claimUnified, c.claimThroughput, c.claimTime, c.claimMemory)
}

// each has a figure of all corpora.
func (s *predicted) each(figure func(*talks) string) string {
	var all []string
	for _, t := range s.complete() {
		all = append(all, t.short()+": "+figure(t))
	}
	return strings.Join(all, "; ") + "."
}

func (s lpcClaims) claimCache() report.Claim {
	return report.Claim{Claim: "For the hit ratio of LRU, LPC needs 18 to 47 % less cache.", Where: "abstract, §4.3, Figure 4",
		Measured: "At hit ratios of 20 to 40 %, means over the ratios and the seeds: " + s.each(func(t *talks) string { return changeOf(t.saving(t.full, "lpc")) }),
		Why: "The gain is what the dead conversations take in LRU's cache: their share, and how soon the predictor sees that they are dead. Dialogues that end with a goodbye have long lives and sure ends; chats of two turns have a dead one for each live one, " +
			"and a turn says all. The generated chats have about the paper's MCC and save less than its least figure: a calibrated probability of 0.3 to 0.7 moves a block by less than the decay of two pauses does, so that the order is nearly that of LRU, whatever the truth would save. " +
			"Why the paper saves more with such a predictor cannot be seen without its data."}
}

func (s lpcClaims) claimHits() report.Claim {
	c := report.Claim{Claim: "With 40 GB, LPC has 5 to 18 % more hits than LRU, for all pauses between turns.", Where: "§4.4, Figure 5",
		Why: "The paper divides by LRU's hit ratio, which is large where pauses are short. With short pauses more of the live conversations fit, and less is to be gained. Half of the live tokens is a tighter cache than the paper's. " +
			"The constant decay costs little as long as pauses are near 100 s."}
	c.Measured = s.each(func(t *talks) string {
		var all []string
		for i, p := range t.pauses {
			all = append(all, fmt.Sprintf("%s at %g s", relative(p.mean("lru", 0, hits), p.mean("lpc", 0, hits)), thinkTimes[i]))
		}
		return strings.Join(all, ", ")
	})
	return c
}

func (s lpcClaims) claimOracle() report.Claim {
	return report.Claim{Claim: "LPC closes 22 to 66 % of the gap between LRU and Oracle.", Where: "§B.4, Figure 9",
		Measured: "In a cache of half the live tokens: " + s.each(func(t *talks) string {
			i := t.place()
			lru, lpc, oracle := t.full.mean("lru", i, hits), t.full.mean("lpc", i, hits), t.full.mean(blocks.Oracle, i, hits)
			return fmt.Sprintf("%.0f %%, with Belady at %s %%", 100*(lpc-lru)/max(oracle-lru, 1e-9), points(t.full.mean(blocks.Belady, i, hits)))
		}),
		Why: "The share follows the quality of the predictor. Oracle is not the best policy: it has no times. Belady, which has them, is far above it, and no predictor of this kind can reach that."}
}

func (s lpcClaims) claimPredictor() report.Claim {
	return report.Claim{Claim: "The predictor has an MCC of 0.28 to 0.37, above that of the turn alone.", Where: "§A.3, Table 3",
		Measured: s.each(func(t *talks) string {
			mcc, half := t.score(modelMCC)
			turns, _ := t.score(turnsMCC)
			return spread(mcc, half) + fmt.Sprintf(" against %.3f", turns)
		}),
		Why: "Whether a conversation goes on is not equally hard to see everywhere. Task dialogues end with thanks and a goodbye, which is in the words. In OASST1, cut at some depth, nearly all conversations have two turns: the turn says all, and text adds nothing. The generated chats " +
			"were given words that foretell as little as the paper reports. None of them is a log of a chat service."}
}

func (s lpcClaims) claimInputs() report.Claim {
	c := report.Claim{Claim: "Answers in the input, or a window of 10 prompts, do not help.", Where: "§B.1 and §B.2, Tables 4 and 5", Measured: "Not complete.",
		Why: "A table of words has no order: of a window it sees which words are in it, not where. That is why the last prompt has a vector of its own here, and why more text of the past hides it."}
	if s.together == nil {
		return c
	}
	c.Measured = "MCC, one vector for the window, of 5 prompts, of 5 with answers, of 10: " + s.each(func(t *talks) string {
		var all []string
		for _, part := range []string{"window of 5 (the paper's input)", "window of 5, with responses", "vector of the window of 10"} {
			if a := s.ablation(t, part); a != nil {
				all = append(all, fmt.Sprintf("%.3f", a.Score.MCC))
			}
		}
		return strings.Join(all, ", ")
	})
	return c
}

// ablation is the one whose name ends in some words.
func (s *predicted) ablation(t *talks, end string) *train.Ablation {
	for i := range s.together.Ablations {
		if a := &s.together.Ablations[i]; a.Source == t.source() && strings.HasSuffix(a.Name, end) {
			return a
		}
	}
	return nil
}

func (s lpcClaims) claimUnified() report.Claim {
	c := report.Claim{Claim: "One model for all sources is nearly as good, except on ShareGPT.", Where: "§B.3, Table 6", Measured: "Only one source was given, so that there is nothing to unite.",
		Why: "The sources differ in how their conversations end, and a threshold of all data is not that of a source. A cache ranks by the probability; a shared model costs it where sources are mixed in one cache and calibrated apart."}
	if s.together != nil && len(s.together.Sources) > 1 {
		c.Measured = "MCC of the model for all and of the one for the source: " + s.each(func(t *talks) string {
			for i := range s.together.Sources {
				if one := &s.together.Sources[i]; one.Name == t.source() {
					return fmt.Sprintf("%.3f and %.3f", one.Model.MCC, t.scores[0].Model.MCC)
				}
			}
			return "none"
		})
	}
	return c
}

func (s lpcClaims) claimThroughput() report.Claim {
	return report.Claim{Claim: "Prefill throughput rises by 11 %, from 10.01 to 11.11 requests per second, where the hit ratio rises from 35 to 42 %.", Where: "§4.5, Figure 6",
		Measured: "Tokens that are computed for the same requests, LPC against LRU, and the throughput that follows: " + s.each(func(t *talks) string {
			if t.timed == nil {
				return "not complete"
			}
			mean, _ := study.Mean(t.timed.changes("lpc", t.missed))
			return fmt.Sprintf("%+.1f %%, so that throughput is %+.1f %%", 100*mean, 100*(1/max(1+mean, 1e-9)-1))
		}),
		Why: "From 35 to 42 % of hits, the misses fall by 10.8 %: the paper's 11 % is that. A linear model has the same arithmetic, without the cost of attention, batches and the predictor. The figure is the hit ratio again, in other units."}
}

func (s lpcClaims) claimTime() report.Claim {
	return report.Claim{Claim: "Up to 7 % of the requests have a TTFT that is 42 to 75 % lower.", Where: "§4.5, Figure 7",
		Measured: "Means over all requests: " + s.each(func(t *talks) string {
			if t.timed == nil {
				return "not complete"
			}
			more, _ := study.Mean(t.timed.less("lpc", "lru", 0, byRequest))
			return fmt.Sprintf("%.1f %% of a request's blocks hit in addition, TTFT %s, with the queue %s", 100*more, changeOf(t.timed.changes("lpc", served)), changeOf(t.timed.changes("lpc", queued)))
		}),
		Why: "7 % is the difference of two hit ratios, and 42 to 75 % is what a hit saves of one request with a context of 1,000 to some thousand tokens on an H100. Here times are of a linear model, over all requests, and the queue multiplies them: a server that computes less waits less."}
}

func (s lpcClaims) claimMemory() report.Claim {
	return report.Claim{Claim: "With 1 GB less cache, LPC is still above LRU, with 4 GB too.", Where: "§A.2, Figure 8",
		Measured: "With a tenth of half the live tokens reserved (4 GB of 40): " + s.each(func(t *talks) string {
			var more []float64
			for seed := range t.full.seeds {
				more = append(more, t.full.between("lpc", seed, .9*halfLive)-t.full.between("lru", seed, halfLive))
			}
			return signed(more) + " points"
		}),
		Why: "As long as LPC saves more cache than the predictor takes. That follows from the first claim; where LPC saves 18 %, a quarter of the cache is too much."}
}
