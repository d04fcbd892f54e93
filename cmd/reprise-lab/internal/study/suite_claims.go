package study

import (
	"fmt"
	"strings"

	"reprise/cmd/reprise-lab/internal/report"
)

// claims is the section that compares the claims of the paper with the measurements. Every measured figure is of this run.
func (f *findings) claims() report.Section {
	s := report.Section{Title: "What the paper claims, what we measure, why they differ"}
	s.Say(`Paper 002 is "RAC: Relation-Aware Cache Replacement for Large Language Models"; § is a section of it. Here rac-paper is its policy as printed, with a decay
of 1/C, as the paper gives none; rac is that policy tuned; haz learns how soon an entry returns, from recency, frequency, topic and conversation; rac+ is a panel on
which haz and lirs vote. They are given the true topics, except for texts and where gates are varied: there topics are found online.
"w-tinylfu fixed" has a fixed window.`)
	if t := f.gains(); len(t.Rows) > 0 {
		s.Show(t)
	}
	n := 0
	for _, c := range []claim{f.gain(), f.distance(), f.skew(), f.people(), f.signals(), f.decay(), f.weight(), f.threshold(), f.freezing(), f.optimum()} {
		if c.measured == "" {
			continue
		}
		n++
		s.Blocks = append(s.Blocks, report.Block{Terms: &report.Terms{Title: fmt.Sprintf("%d. %s", n, c.title), Items: []report.Term{
			{Name: "The paper claims", Text: c.paper}, {Name: "We measure", Text: c.measured}, {Name: "Why they differ", Text: c.why},
		}}})
	}
	return s
}

// claim is a claim of the paper. Measured is empty if that part was not played.
type claim struct{ title, paper, measured, why string }

// on returns the rows of the stress axes in a reading, of one axis if it is given.
func (f *findings) on(weight, axis string) (rows []Row) {
	seen := map[string]bool{} // both axes include the default
	for _, x := range f.stress {
		if x.weight != weight || axis != "" && !strings.HasPrefix(x.axis, axis) {
			continue
		}
		for i, r := range x.rows {
			key := fmt.Sprint(x.axis, x.at[i])
			if axis == "" && strings.HasPrefix(x.axis, "Zipf") && x.at[i] == 0.7 {
				key = fmt.Sprint("long reuse ratio", 0.5)
			}
			if !seen[key] {
				rows = append(rows, r)
			}
			seen[key] = true
		}
	}
	return rows
}

// relative returns the relative gain of a policy's mean hit ratio over the best of some baselines and over their average, as means
// over the rows. The policy is first in a row if it is above all of them.
func relative(rows []Row, policy string, baselines []string) (best, average float64, first int) {
	for _, r := range rows {
		mine, _ := Mean(r.Values[policy])
		_, top := r.Best(baselines)
		sum := 0.
		for _, b := range baselines {
			m, _ := Mean(r.Values[b])
			sum += m / float64(len(baselines))
		}
		best += (ratio(mine, top) - 1) / float64(len(rows))
		average += (ratio(mine, sum) - 1) / float64(len(rows))
		if mine > top {
			first++
		}
	}
	return best, average, first
}

func percent(v float64) string { return fmt.Sprintf("%+.1f %%", 100*v) }

// gains is the table of relative gains over both stress axes.
func (f *findings) gains() *report.Table {
	t := &report.Table{Caption: "RQ1: gain in hit ratio, in percent of it, mean of all settings of both axes", Texts: 2,
		Head: []string{"repeats", "policy", "over the mean of the paper's 11 baselines", "over the best of them", "over the best of all", "first in"}}
	for _, w := range readings {
		rows := f.on(w, "")
		for _, p := range ours {
			if len(rows) == 0 {
				continue
			}
			best, average, _ := relative(rows, p, classics)
			all, _, first := relative(rows, p, Baselines())
			t.Rows = append(t.Rows, report.Cells(w, label(p), percent(average), percent(best), percent(all), fmt.Sprintf("%d of %d", first, len(rows))))
		}
	}
	return t
}

// gain is the claim of the abstract.
func (f *findings) gain() (c claim) {
	c = claim{title: "The gain as a whole", paper: "Hit ratios 20 to 30 % above the baselines (abstract). The gain is relative: 20 % on average in conversations and 30 % in generated traces (§1).",
		why: `The average of the paper's baselines is easy to beat: LRU, FIFO, TTL and CLOCK cannot predict reuse on a trace whose reuses are long by
construction, which alone makes gains of tens of percent. The best baseline is harder to beat. And the paper does not say how a repeated session is chosen. If
topics keep their weight in repeats (W), the weight of a topic predicts reuse, and counting by topic helps; if any prior session may return (U, T), it predicts little.`}
	for _, w := range readings[:2] { // the table has all
		rows := f.on(w, "")
		if len(rows) == 0 {
			return c
		}
		c.measured += fmt.Sprintf("Reading %s, %d settings: ", w, len(rows))
		for i, p := range []string{literal, panelOf} {
			_, average, _ := relative(rows, p, classics)
			all, _, first := relative(rows, p, Baselines())
			c.measured += sep(i) + fmt.Sprintf("%s %s over the mean of the paper's baselines, %s over the best of all, first in %d", label(p), percent(average), percent(all), first)
		}
		c.measured += ". "
	}
	return c
}

func sep(i int) string {
	if i == 0 {
		return ""
	}
	return "; "
}

// distance is the claim of Figure 2a.
func (f *findings) distance() (c claim) {
	c = claim{title: "Long reuse distances", paper: "RAC is first at every long-reuse ratio from 50 to 90 %, by a two-digit percentage at first and tens of percent at the end (§4.3, Figure 2a).",
		why: `A reuse is long if its LRU stack distance is the capacity or more. So the normalised hit ratio of LRU is 1 minus the long ratio of the
trace, and policies similar to LRU fall with it. Policies that keep their entries, above all W-TinyLFU, do not fall. At 90 % the generator repeats nearly all
sessions and little is new, so that keeping the old entries is nearly optimal: the advantage over the best baseline shrinks instead of growing.`}
	for _, w := range []string{"W", "U"} {
		rows := f.on(w, "long")
		if len(rows) < 2 {
			return c
		}
		c.measured += "Reading " + w + ", minus the best baseline at the shortest and at the longest: "
		for i, p := range []string{literal, panelOf} {
			c.measured += sep(i) + fmt.Sprintf("%s %s and %s points", label(p), rows[0].beyond(p), rows[len(rows)-1].beyond(p))
		}
		last := rows[len(rows)-1]
		name, best := last.Best(Baselines())
		lru, _ := Mean(last.Values["lru"])
		fifo, _ := Mean(last.Values["fifo"])
		full, _ := Mean(last.Values["infinite"])
		c.measured += fmt.Sprintf(". There %s hits %s %%, fifo %s %%, lru %s %%: normalised, lru has %.3f. ", label(name), points(best), points(fifo), points(lru), ratio(lru, full))
	}
	return c
}

// beyond returns the difference of a policy from the best of all baselines.
func (r *Row) beyond(policy string) string {
	best, _ := r.Best(Baselines())
	return signed(Mean(difference(r.Values[policy], r.Values[best])))
}

// skew is the claim of Figure 2b.
func (f *findings) skew() (c claim) {
	c = claim{title: "Skewed popularity", paper: "15 to 20 % above the strongest baseline for every Zipf exponent from 0.7 to 1.2 (§4.3, Figure 2b).",
		why: `All hit ratios rise with the skew, but the gain in points does not, so that it falls in percent: in a skewed topic single requests are frequent
too, and their frequency alone predicts reuse. The size of the gain depends again on how sessions are repeated.`}
	for _, w := range []string{"W", "U"} {
		rows := f.on(w, "Zipf")
		if len(rows) == 0 {
			return c
		}
		c.measured += "Reading " + w + ": "
		for i, p := range []string{literal, tuned, panelOf} {
			low, high := rows[:1], rows[len(rows)-1:]
			first, _, _ := relative(low, p, Baselines())
			last, _, _ := relative(high, p, Baselines())
			c.measured += sep(i) + fmt.Sprintf("%s %s (%s points) at the least skew, %s (%s) at the most", label(p), percent(first), low[0].beyond(p), percent(last), high[0].beyond(p))
		}
		c.measured += ", over the best baseline. "
	}
	return c
}

// people is the claim of Figure 3.
func (f *findings) people() (c claim) {
	c = claim{title: "Conversations of people", paper: "5 to 12 % above the strongest baseline on OASST1, in ten traces of 10,000 requests, at 2.5, 10 and 20 % (§4.3, Figure 3).",
		why: `OASST1 as published has 88,838 messages, hardly any of them twice: in plain order there is almost nothing to cache (2.9 % for an infinite cache at a
cosine of 0.85 of a lexical embedder). Hits need repeated prefixes or texts, and the paper does not say how it repeated them. Its traces cannot be
reproduced, and every arrival process is an assumption.`}
	if len(f.traces) == 0 {
		return c
	}
	c.measured = "Here the traces are generated, and not conversations of people. "
	if f.given {
		c.measured = "The traces and texts of RQ2. "
	}
	for i, p := range ours {
		best, _, first := relative(f.traces, p, Baselines())
		c.measured += sep(i) + fmt.Sprintf("%s %s over the best baseline on average, first in %d of %d", label(p), percent(best), first, len(f.traces))
	}
	c.measured += "."
	return c
}

// signals is the claim of Figure 4.
func (f *findings) signals() (c claim) {
	c = claim{title: "What each signal adds", paper: "TP and TSI complement each other: TSI matters most in the smallest caches, TP at every size (§4.4, Figure 4).",
		why: `The gain of prevalence depends on how well topics predict reuse: it is large in reading W, more so in larger caches, and small or negative in reading U. Importance
has a gain in both, because here it has a better source than in the paper: the true first request of the session. The paper guesses dependencies from similarity
and mostly finds the previous turn. TSI is not generally the stronger signal in the smallest caches.`}
	for _, o := range f.ablation[:min(3, len(f.ablation))] { // the section has all
		rows := o.rows(normalised)
		if len(rows) < 2 {
			continue
		}
		first, last := &rows[0], &rows[len(rows)-1]
		for _, x := range forms {
			c.measured += fmt.Sprintf("%s, %s: TP %s points at %s and %s at %s, TSI %s and %s. ", o.name, x.says, signed(x.gain(first, x.noTP)), first.Capacity,
				signed(x.gain(last, x.noTP)), last.Capacity, signed(x.gain(first, x.noTSI)), signed(x.gain(last, x.noTSI)))
		}
	}
	return c
}

// knobClaim describes the range of the hit ratio of each workload over the values of a knob.
func (f *findings) knobClaim(k knob) (text string) {
	for i := range f.turned {
		r := &f.turned[i]
		text += r.Case + ": "
		for j, x := range turned {
			least, most, best := k.spread(r, x.full)
			text += sep(j) + fmt.Sprintf("%s from %s to %s %%, best at %s", x.says, points(least), points(most), best)
		}
		text += ". "
	}
	return text
}

// decay is a claim of Figure 5.
func (f *findings) decay() claim {
	return claim{"The decay α", "A wide region of nearly the best hit ratios; too small and too large an α lose a little (§4.5). No value is given.", f.knobClaim(knobs[0]),
		`A slow decay is best where topics keep their ranks, a fast one where they drift, and neither is near the best on the other traces. The robust way is to choose at
run time, as the panel of rac+ does. The unit matters: a decay per request has no meaning without the capacity.`}
}

// weight is another claim of Figure 5.
func (f *findings) weight() claim {
	return claim{"The structural weight λ", "Small values waste the signal, large ones overdo it; the best are moderate to high (§4.5). The default is 1.", f.knobClaim(knobs[1]),
		`Without structure (λ = 0) the hit ratio is lower nearly everywhere, and the default is not the best: as the paper says, moderate to high values are. A loss from too
high a value does not occur up to 8; the tuned form bounds the count of dependents. The range of hit ratios over λ is small beside that over α.`}
}

// threshold is the claim about one gate for hits and topics.
func (f *findings) threshold() (c claim) {
	c = claim{title: "One threshold τ for hits and for topics", paper: "τ = 0.85 decides both whether a request is answered from the cache and to which topic it belongs; performance saturates there (§3.2, §4.2, §4.5).",
		why: `Taken literally it leaves no topics: a request with a cosine of τ or more to the anchor of a topic is a hit, so every stored request opens a topic of its own.
Prevalence is then the frequency of single entries. Routing needs a lower gate than hits. And searching hits only in the routed topic, as the paper's fine stage
does, lost 2 to 35 % of them on real texts in an earlier study, so hits are searched in all topics here. The higher hit ratio of a lower τ is no gain: the answers are wrong.`}
	for _, g := range f.gates {
		paper, _ := Mean(g.row.Values[literal])
		other, _ := Mean(g.row.Values["w-tinylfu"])
		text := fmt.Sprintf("%s has %.2f entries in a topic and hits %s %%, w-tinylfu %s %%. ", label(literal), g.members, points(paper), points(other))
		switch {
		case g.one() && g.hit == hitGate:
			c.measured += fmt.Sprintf("With %g for both: ", hitGate) + text
		case !g.one() && g.route == routes[1]:
			c.measured += fmt.Sprintf("With %g for hits and %g for topics: ", hitGate, g.route) + text
		}
	}
	return c
}

// freezing is a result that the paper does not have.
func (f *findings) freezing() (c claim) {
	c = claim{title: "Not in the paper: the policy freezes", paper: "Nothing: its traces have one kind of traffic, with topics that keep their popularity.",
		why: `If a new entry may be its own victim, RAC acts as a rule of admission: entries stay as long as their topics do. Traffic that repeats the latest requests,
or whose topics change, is then missed for long. rac protects new entries and has a faster decay, and so loses in a cycle that is larger than the cache; rac+ has haz and lirs on its panel and follows the one that is right.`}
	for _, name := range []string{"lru", "phase", "loop"} {
		r := of(f.regimes.rows[regimeSlots[0]], name)
		if r == nil {
			continue
		}
		best, base := r.Best(Baselines())
		c.measured += fmt.Sprintf("Regime %s: %s %s %%", name, label(best), points(base))
		for _, p := range []string{literal, tuned, panelOf} {
			m, _ := Mean(r.Values[p])
			c.measured += fmt.Sprintf(", %s %s %%", label(p), points(m))
		}
		c.measured += ". "
	}
	return c
}

// optimum is the claim about the distance to Belady.
func (f *findings) optimum() (c claim) {
	c = claim{title: "The distance to the optimum", paper: "Only hit ratios normalised by those of an infinite cache are given (§4.2).",
		why: `Most of the distance comes from not knowing which requests return, rather than when: an oracle of how often each request returns is close to belady. No policy that
can be run has this information, so the distance stays large, and a normalised hit ratio has little meaning without it.`}
	for _, w := range []string{"W", "U"} {
		rows := f.on(w, "")
		if len(rows) == 0 {
			return c
		}
		c.measured += fmt.Sprintf("Reading %s, mean of %d settings: the best baseline %s %%, an oracle of how often each request returns, but not when, %s %%, belady %s %%. ",
			w, len(rows), points(average(rows, func(r *Row) float64 { _, m := r.Best(Baselines()); return m })),
			points(average(rows, func(r *Row) float64 { m, _ := Mean(r.Values["count-oracle"]); return m })),
			points(average(rows, func(r *Row) float64 { m, _ := Mean(r.Values["belady"]); return m })))
		c.measured += "Share of the way from the first to the last: "
		for i, p := range ours {
			c.measured += sep(i) + fmt.Sprintf("%s %.0f %%", label(p), 100*average(rows, func(r *Row) float64 {
				_, base := r.Best(Baselines())
				mine, _ := Mean(r.Values[p])
				belady, _ := Mean(r.Values["belady"])
				return ratio(mine-base, belady-base)
			}))
		}
		c.measured += ". "
	}
	return c
}

func average(rows []Row, figure func(*Row) float64) (mean float64) {
	for i := range rows {
		mean += figure(&rows[i]) / float64(len(rows))
	}
	return mean
}
