package returns

import "math"

// Mixture is a model of the time to the next use that is heavier in the tail than a Fit: the share P of uses is followed by another one,
// after one of two exponential times, as of people who stay and of those who return later. At idle times far over the mean of one exponential
// time the order of two categories is that of small errors of their rates; here it is that of the late times, which were seen.
type Mixture struct {
	P     float64    // in (0, 1)
	Late  float64    // share of those that return after the second time, in [0, 1]
	Rates [2]float64 // 1 / mean of each time, per second
}

// Mixture is f as one of two equal times.
func (f Fit) Mixture() Mixture { return Mixture{P: f.P, Rates: [2]float64{f.Rate, f.Rate}} }

func (m Mixture) clamped() Mixture {
	m.P, m.Late = min(max(m.P, leastP), mostP), min(max(m.Late, 0), 1)
	for i, r := range m.Rates {
		m.Rates[i] = min(max(r, leastRate), mostRate)
	}
	return m
}

// or is m, or another one where m is none.
func (m Mixture) or(other Mixture) Mixture {
	if m.P > 0 {
		return m
	}
	return other
}

// shares are of all uses, those that return after each time.
func (m Mixture) shares() [2]float64 { return [2]float64{m.P * (1 - m.Late), m.P * m.Late} }

// Still is the probability that a prefix returns at all, when it has not been used for idle seconds.
func (m Mixture) Still(idle float64) float64 {
	back := 0.0
	for i, p := range m.shares() {
		back += p * math.Exp(-m.Rates[i]*idle)
	}
	return back / (1 - m.P + back)
}

// Curve is a Mixture over a life, for many idle times, as Scale is a Fit.
type Curve struct {
	rates                [2]float64
	back, within, single [2]float64 // logs of the share of each time, of that with a use within the life, of that per second
	never                float64    // log of the share that does not return
}

// Over is the curve of a mixture for a life in seconds, which may be infinite. P may be 1.
func (m Mixture) Over(life float64) Curve {
	c := Curve{rates: m.Rates, never: math.Log1p(-m.P)}
	for i, p := range m.shares() {
		c.back[i] = math.Log(p)
		c.within[i] = c.back[i] + math.Log(-math.Expm1(-m.Rates[i]*life))
		c.single[i] = c.back[i] + math.Log(m.Rates[i])
	}
	return c
}

// Unconditional is the log of the probability that a use is followed by the next one between idle and idle + life seconds after it: the
// priority of papers/001 §4.2.
func (c *Curve) Unconditional(idle float64) float64 { return c.later(&c.within, idle) }

// Conditional is Unconditional, given that there was no use so far.
func (c *Curve) Conditional(idle float64) float64 { return c.later(&c.within, idle) - c.silent(idle) }

// Density is the log of the probability per second that a use comes now, given that there was none so far: Conditional for a short life. It
// falls with idle, because who is still silent is rather one who returns late or never.
func (c *Curve) Density(idle float64) float64 { return c.later(&c.single, idle) - c.silent(idle) }

func (c *Curve) later(logs *[2]float64, idle float64) float64 {
	return logSum(logs[0]-c.rates[0]*idle, logs[1]-c.rates[1]*idle)
}

// silent is the log of the probability of no use within idle seconds.
func (c *Curve) silent(idle float64) float64 { return logSum(c.never, c.later(&c.back, idle)) }

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
	apart      = 3   // one rate of a first guess is at least so many times the other
	mostRounds = 400 // two times that are alike are found slowly; one Refit continues where the last one ended

	// A wider category counts as so many uses of a narrower one, and MixturePrior as so many of all. Fewer follow chance in the first
	// minutes, where the blocks that were used are those of few conversations.
	firm, weak = 200, 20
)

// MixturePrior is the mixture of what was never seen: Prior, of which a third is ten times as late.
var MixturePrior = Mixture{P: 0.5, Late: 0.3, Rates: [2]float64{0.01, 0.001}}

// Mix estimates a mixture by expectation maximisation, as Fit does. start is where it begins, such as an estimate of a minute ago. prior is
// the model of a wider category: it counts as so many uses, and is what an empty sample gives.
func (s *Sample) Mix(prior, start Mixture, counts float64) Mixture {
	n := s.Size()
	if n == 0 {
		return prior.clamped()
	}
	m := start.distinct()
	for range mostRounds {
		last := m
		m = s.step(m, n, prior, counts).clamped()
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
func (m Mixture) distinct() Mixture {
	m = m.clamped()
	m.Late = min(max(m.Late, 0.05), 0.95)
	if m.Rates[0] < m.Rates[1]*apart {
		mean := math.Sqrt(m.Rates[0] * m.Rates[1])
		m.Rates = [2]float64{mean * math.Sqrt(apart), mean / math.Sqrt(apart)}
	}
	return m.clamped()
}

func near(a, b float64) bool { return math.Abs(a-b) <= still*b }

// guess is where Mix begins without an earlier estimate.
func (s *Sample) guess() Mixture {
	m := s.Fit(Prior).Mixture()
	m.Late = 0.5
	return m
}

// step is one round for a sample of n uses, and w of the prior.
func (s *Sample) step(m Mixture, n float64, prior Mixture, w float64) Mixture {
	var count, time [2]float64 // of the uses that return after each time
	share := m.shares()
	for i, uses := range s.gaps {
		if uses > 0 {
			var density [2]float64
			gap := s.waits[i] / uses
			for k := range density {
				density[k] = share[k] * m.Rates[k] * math.Exp(-m.Rates[k]*gap)
			}
			credit(&count, &time, uses, gap, density, density[0]+density[1], m.Rates, false)
		}
		if uses := s.never[i]; uses > 0 {
			var back [2]float64
			idle := s.ages[i] / uses
			for k := range back {
				back[k] = share[k] * math.Exp(-m.Rates[k]*idle)
			}
			credit(&count, &time, uses, idle, back, 1-m.P+back[0]+back[1], m.Rates, true)
		}
	}
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
