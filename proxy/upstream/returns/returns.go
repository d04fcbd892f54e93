// Package returns estimates whether a prefix will be used again: the workload-aware policy's model of reuse times by category (papers/001,
// §5), which with a share of prefixes that never return is also the continuation probability of Learned Prefix Caching (papers/004, §4).
// It is pure: times are seconds that the caller gives.
package returns

import "math"

// Fit is a model of the time to the next use: the share P of uses is followed by another one, after an exponential time.
type Fit struct {
	P    float64 // in (0, 1)
	Rate float64 // 1 / mean time to the next use, per second
}

// The bounds of a Fit. Outside of them there is no evidence, only rounding.
const (
	leastP, mostP       = 0.001, 0.999
	leastRate, mostRate = 1e-6, 10.0
)

func (f Fit) clamped() Fit {
	return Fit{P: min(max(f.P, leastP), mostP), Rate: min(max(f.Rate, leastRate), mostRate)}
}

// Still is the probability that a prefix returns at all, when it has not been used for idle seconds. It is p_cur of papers/004 with one
// rate for all, and P at idle 0.
func (f Fit) Still(idle float64) float64 {
	back := f.P * math.Exp(-f.Rate*idle)
	return back / (1 - f.P + back)
}

// Within is the probability that a prefix that has not been used for idle seconds is used within the next life seconds: the priority of
// papers/001, given that there was no use so far.
func (f Fit) Within(idle, life float64) float64 { return f.Still(idle) * -math.Expm1(-f.Rate*life) }

// certain is how near a predicted probability may come to 0 or 1.
const certain = 1e-6

// Predicted is f with a predicted probability that the next use comes, in place of the share of its category.
func (f Fit) Predicted(p float64) Fit { return Fit{P: Clip(p), Rate: f.Rate} }

// Clip is a predicted probability without certainty, so that its log odds are finite.
func Clip(p float64) float64 { return min(max(p, certain), 1-certain) }

// Scale is a Fit over a life, for many idle times: logarithms, so that equal priorities are equal numbers and small ones do not become 0.
type Scale struct {
	Rate  float64 // of the Fit
	Logit float64 // of P

	logP, within float64
}

// Over is the scale of a fit for a life in seconds, which may be infinite. P may be 1: what returns with certainty.
func (f Fit) Over(life float64) Scale {
	return Scale{Rate: f.Rate, Logit: Logit(f.P), logP: math.Log(f.P), within: math.Log(-math.Expm1(-f.Rate * life))}
}

// Unconditional is the log of the probability that a use is followed by the next one between idle and idle + life seconds after it: the
// priority of papers/001 §4.2.
func (s *Scale) Unconditional(idle float64) float64 { return s.logP + s.within - s.Rate*idle }

// Conditional is the log of Fit.Within: Unconditional, given that there was no use so far.
func (s *Scale) Conditional(idle float64) float64 { return s.At(s.Logit - s.Rate*idle) }

// At is Conditional where logit is that of the probability that the next use comes at all.
func (s *Scale) At(logit float64) float64 { return logSigmoid(logit) + s.within }

// AtLeast is a lower bound of At, at a tenth of its cost.
func (s *Scale) AtLeast(logit float64) float64 { return min(logit, 0) - math.Ln2 + s.within }

// Logit is the log of the odds of p.
func Logit(p float64) float64 { return math.Log(p / (1 - p)) }

// logSigmoid is the log of the probability with these log odds.
func logSigmoid(x float64) float64 {
	if x < -40 {
		return x // the rest is less than rounding
	}
	return -math.Log1p(math.Exp(-x))
}

// bins is the number of classes of ages, each a third longer than the one before: from a millisecond to a day.
const bins = 64

// mostAge is the longest age that differs from a longer one, in seconds.
const mostAge = 1e6

func binOf(age float64) int {
	return min(max(int(math.Log(max(age, 1e-9)*1e3)/math.Log(4.0/3)), 0), bins-1)
}

// Sample is what was seen of one category. The zero value is empty.
type Sample struct {
	again  float64 // uses that were followed by another one
	waited float64 // seconds until those
	gaps   [bins]float64
	waits  [bins]float64 // the sum of those of gaps
	never  [bins]float64
	ages   [bins]float64 // the sum of those of never
}

// Again notes that a use was followed by another one, gap seconds later. An old use counts with less weight, as in Fade.
func (s *Sample) Again(gap, weight float64) {
	gap = max(gap, 0)
	bin := binOf(gap)
	s.again += weight
	s.waited += gap * weight
	s.gaps[bin] += weight
	s.waits[bin] += gap * weight
}

// Silent notes that a use was not followed by another one within age seconds. An old one counts with less weight, as in Fade.
func (s *Sample) Silent(age, weight float64) {
	age = min(max(age, 0), mostAge)
	s.never[binOf(age)] += weight
	s.ages[binOf(age)] += age * weight
}

// Fade multiplies the weight of all that was seen, so that an old workload is forgotten.
func (s *Sample) Fade(by float64) {
	s.again *= by
	s.waited *= by
	for i := range s.never {
		s.gaps[i] *= by
		s.waits[i] *= by
		s.never[i] *= by
		s.ages[i] *= by
	}
}

// Add adds what was seen in other.
func (s *Sample) Add(other *Sample) {
	s.again += other.again
	s.waited += other.waited
	for i, n := range other.never {
		s.gaps[i] += other.gaps[i]
		s.waits[i] += other.waits[i]
		s.never[i] += n
		s.ages[i] += other.ages[i]
	}
}

// Size is the number of uses, faded ones in part.
func (s *Sample) Size() float64 {
	n := s.again
	for _, m := range s.never {
		n += m
	}
	return n
}

// enough is how many uses with a successor make a fit of its own; weight is how many uses the prior counts as where there are fewer.
const (
	enough = 30
	weight = 20
	rounds = 100  // 20 leave an error of some percent where few return, and late
	still  = 1e-5 // relative change of a round after which there are no more
)

// Fit estimates the model by expectation maximisation: a use without a successor so far may still be one that returns. Without that the
// longest gaps would be missing, and with P = 1 all that never return would count as very long gaps. prior is the model of a wider
// category, and is what an empty sample gives.
func (s *Sample) Fit(prior Fit) Fit {
	n := s.Size()
	if n == 0 {
		return prior.clamped()
	}
	w := 0.0
	if s.again < enough {
		w = weight
	}
	f := prior
	if w == 0 {
		f = Fit{P: 0.5, Rate: s.again / max(s.waited, 1e-9)}
	}
	for range rounds {
		f = f.clamped()
		last := f
		back, later := 0.0, 0.0
		for i, m := range s.never {
			if m > 0 {
				b := f.Still(s.ages[i] / m)
				back += m * b
				later += s.ages[i] * b
			}
		}
		f = Fit{P: (s.again + back + w*prior.P) / (n + w), Rate: (s.again + w) / max(s.waited+later+w/prior.Rate, 1e-9)}
		if math.Abs(f.P-last.P) < still*last.P && math.Abs(f.Rate-last.Rate) < still*last.Rate {
			break
		}
	}
	return f.clamped()
}
