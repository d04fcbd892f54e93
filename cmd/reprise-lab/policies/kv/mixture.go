package kv

import (
	"iter"
	"math"

	"reprise/policy"
	"reprise/proxy/upstream/hint"
)

// prior is the fit of what was never seen: that of package hint.
var prior = hint.Fit{P: 0.5, Rate: 0.01}

// reuse is the model of reuse times of package hint, with mixtures beside its fits.
type reuse struct {
	hint.Returns
	mixed bool // mixture is called: there are mixtures too
	all   mixture
	wide  map[uint32]mixture // by type; never iterated
	own   map[uint32]mixture // by category; never iterated
}

// refit brings the fits and the mixtures up to date; see [hint.Returns.Refit]. Each mixture continues the estimate of the last time, and takes
// some ten times as long as a fit.
func (r *reuse) refit(now float64, open iter.Seq2[uint32, float64]) {
	seen := r.Refit(now, open)
	if !r.mixed {
		return
	}
	types, all := hint.Wider(seen)
	r.all = mix(all, mixturePrior, r.all.or(guess(all)), weak)
	wide, own := make(map[uint32]mixture, len(types)), make(map[uint32]mixture, len(seen))
	for i := range seen {
		kind := seen[i].Category / policy.MostTurns
		if _, ok := wide[kind]; !ok {
			wide[kind] = mix(types[kind], r.all, r.wide[kind].or(r.all), firm)
		}
		own[seen[i].Category] = mix(&seen[i].Sample, wide[kind], r.own[seen[i].Category].or(wide[kind]), firm)
	}
	r.wide, r.own = wide, own
}

// mixture is Of for mixtures, where mixed is set.
func (r *reuse) mixture(category uint32) mixture {
	return r.own[category].or(r.wide[category/policy.MostTurns].or(r.all.or(mixturePrior)))
}

// mixture is a model of the time to the next use that is heavier in the tail than a Fit: the share P of uses is followed by another one,
// after one of two exponential times, as of people who stay and of those who return later. At idle times far over the mean of one exponential
// time the order of two categories is that of small errors of their rates; here it is that of the late times, which were seen.
type mixture struct {
	P     float64    // in (0, 1)
	Late  float64    // share of those that return after the second time, in [0, 1]
	Rates [2]float64 // 1 / mean of each time, per second
}

// oneTime is a fit as a mixture of two equal times.
func oneTime(f hint.Fit) mixture { return mixture{P: f.P, Rates: [2]float64{f.Rate, f.Rate}} }

func (m mixture) clamped() mixture {
	m.P, m.Late = min(max(m.P, leastP), mostP), min(max(m.Late, 0), 1)
	for i, r := range m.Rates {
		m.Rates[i] = min(max(r, leastRate), mostRate)
	}
	return m
}

// or is m, or another one where m is none.
func (m mixture) or(other mixture) mixture {
	if m.P > 0 {
		return m
	}
	return other
}

// shares are of all uses, those that return after each time.
func (m mixture) shares() [2]float64 { return [2]float64{m.P * (1 - m.Late), m.P * m.Late} }

// still is the probability that a prefix returns at all, when it has not been used for idle seconds.
func (m mixture) still(idle float64) float64 {
	back := 0.0
	for i, p := range m.shares() {
		back += p * math.Exp(-m.Rates[i]*idle)
	}
	return back / (1 - m.P + back)
}

// curve is a mixture over a life, for many idle times, as Scale is a Fit.
type curve struct {
	rates                [2]float64
	back, within, single [2]float64 // logs of the share of each time, of that with a use within the life, of that per second
	never                float64    // log of the share that does not return
}

// over is the curve of a mixture for a life in seconds, which may be infinite. P may be 1.
func (m mixture) over(life float64) curve {
	c := curve{rates: m.Rates, never: math.Log1p(-m.P)}
	for i, p := range m.shares() {
		c.back[i] = math.Log(p)
		c.within[i] = c.back[i] + math.Log(-math.Expm1(-m.Rates[i]*life))
		c.single[i] = c.back[i] + math.Log(m.Rates[i])
	}
	return c
}

// unconditional is the log of the probability that a use is followed by the next one between idle and idle + life seconds after it: the
// priority of papers/001 §4.2.
func (c *curve) unconditional(idle float64) float64 { return c.later(&c.within, idle) }

// conditional is unconditional, given that there was no use so far.
func (c *curve) conditional(idle float64) float64 { return c.later(&c.within, idle) - c.silent(idle) }

// density is the log of the probability per second that a use comes now, given that there was none so far: conditional for a short life. It
// falls with idle, because who is still silent is rather one who returns late or never.
func (c *curve) density(idle float64) float64 { return c.later(&c.single, idle) - c.silent(idle) }

func (c *curve) later(logs *[2]float64, idle float64) float64 {
	return logSum(logs[0]-c.rates[0]*idle, logs[1]-c.rates[1]*idle)
}

// silent is the log of the probability of no use within idle seconds.
func (c *curve) silent(idle float64) float64 { return logSum(c.never, c.later(&c.back, idle)) }

// logSum is log(exp(a) + exp(b)).
func logSum(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if !(b > a-40) {
		return a // the rest is less than rounding
	}
	return a + math.Log1p(math.Exp(b-a))
}

const (
	leastP, mostP       = 0.001, 0.999 // the bounds of [hint.Fit]: outside of them there is no evidence, only rounding
	leastRate, mostRate = 1e-6, 10.0

	unchanged  = 1e-5 // relative change of a round after which there are no more
	apart      = 3    // one rate of a first guess is at least so many times the other
	mostRounds = 400  // two times that are alike are found slowly; one Refit continues where the last one ended

	// A wider category counts as so many uses of a narrower one, and mixturePrior as so many of all. Fewer follow chance in the first
	// minutes, where the blocks that were used are those of few conversations.
	firm, weak = 200, 20
)

// mixturePrior is the mixture of what was never seen: Prior, of which a third is ten times as late.
var mixturePrior = mixture{P: 0.5, Late: 0.3, Rates: [2]float64{0.01, 0.001}}

// mix estimates a mixture by expectation maximisation, as [hint.Sample.Fit] does. start is where it begins, such as an estimate of a minute ago. prior is
// the model of a wider category: it counts as so many uses, and is what an empty sample gives.
func mix(s *hint.Sample, prior, start mixture, counts float64) mixture {
	n := s.Size()
	if n == 0 {
		return prior.clamped()
	}
	m := start.distinct()
	for range mostRounds {
		last := m
		m = step(s, m, n, prior, counts).clamped()
		if near(m.P, last.P) && near(m.Late, last.Late) && near(m.Rates[0], last.Rates[0]) && near(m.Rates[1], last.Rates[1]) {
			break
		}
	}
	if m.Rates[0] < m.Rates[1] {
		m.Rates[0], m.Rates[1], m.Late = m.Rates[1], m.Rates[0], 1-m.Late
	}
	return m
}

// distinct is m with two times that differ, both with a share: from equal ones, or from one alone, the estimation does not depart.
func (m mixture) distinct() mixture {
	m = m.clamped()
	m.Late = min(max(m.Late, 0.05), 0.95)
	if m.Rates[0] < m.Rates[1]*apart {
		mean := math.Sqrt(m.Rates[0] * m.Rates[1])
		m.Rates = [2]float64{mean * math.Sqrt(apart), mean / math.Sqrt(apart)}
	}
	return m.clamped()
}

func near(a, b float64) bool { return math.Abs(a-b) <= unchanged*b }

// guess is where mix begins without an earlier estimate.
func guess(s *hint.Sample) mixture {
	m := oneTime(s.Fit(prior))
	m.Late = 0.5
	return m
}

// step is one round for a sample of n uses, and w of the prior.
func step(s *hint.Sample, m mixture, n float64, prior mixture, w float64) mixture {
	var count, time [2]float64 // of the uses that return after each time
	share := m.shares()
	s.Ages(func(uses, age float64, followed bool) bool {
		var likely [2]float64
		for k := range likely {
			likely[k] = share[k]
			if followed {
				likely[k] *= m.Rates[k]
			}
			likely[k] *= math.Exp(-m.Rates[k] * age)
		}
		total := likely[0] + likely[1]
		if !followed {
			total = 1 - m.P + likely[0] + likely[1]
		}
		credit(&count, &time, uses, age, likely, total, m.Rates, !followed)
		return true
	})
	for k, p := range prior.shares() {
		count[k] += w * p
		time[k] += w * p / prior.Rates[k]
	}
	back := max(count[0]+count[1], 1e-9)
	m.P, m.Late = back/(n+w), count[1]/back
	for k := range m.Rates {
		if count[k] > 1e-9 {
			m.Rates[k] = count[k] / max(time[k], 1e-9)
		}
	}
	return m
}

// credit gives uses of one age to the times in proportion. Those that are not followed so far would be, after the mean of their time more.
func credit(count, time *[2]float64, uses, age float64, likely [2]float64, total float64, rates [2]float64, open bool) {
	if total <= 0 {
		slow := 0
		if rates[1] < rates[0] {
			slow = 1
		}
		if open {
			return
		}
		likely, total = [2]float64{}, 1
		likely[slow] = 1
	}
	for k := range likely {
		part, more := uses*likely[k]/total, 0.0
		if open {
			more = 1 / rates[k]
		}
		count[k] += part
		time[k] += part * (age + more)
	}
}

// scale is a Fit over a life, for many idle times: logarithms, so that equal priorities are equal numbers and small ones do not become 0.
type scale struct {
	rate  float64 // of the Fit
	logit float64 // of P

	logP, within float64
}

// over is the scale of a fit for a life in seconds, which may be infinite. P may be 1: what returns with certainty.
func over(f hint.Fit, life float64) scale {
	return scale{rate: f.Rate, logit: logit(f.P), logP: math.Log(f.P), within: math.Log(-math.Expm1(-f.Rate * life))}
}

// unconditional is the log of the probability that a use is followed by the next one between idle and idle + life seconds after it: the
// priority of papers/001 §4.2.
func (s *scale) unconditional(idle float64) float64 { return s.logP + s.within - s.rate*idle }

// conditional is the log of hint.Fit.Within: unconditional, given that there was no use so far.
func (s *scale) conditional(idle float64) float64 { return s.at(s.logit - s.rate*idle) }

// at is conditional where odds is the logit of the probability that the next use comes at all.
func (s *scale) at(odds float64) float64 { return logSigmoid(odds) + s.within }

// atLeast is a lower bound of at, at a tenth of its cost.
func (s *scale) atLeast(odds float64) float64 { return min(odds, 0) - math.Ln2 + s.within }

// logit is the log of the odds of p.
func logit(p float64) float64 { return math.Log(p / (1 - p)) }

// logSigmoid is the log of the probability with these log odds.
func logSigmoid(x float64) float64 {
	if x < -40 {
		return x // the rest is less than rounding
	}
	return -math.Log1p(math.Exp(-x))
}
