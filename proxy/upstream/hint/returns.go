package hint

import (
	"iter"
	"math"

	"reprise/policy"
)

// Fit estimates whether a prefix will be used again: the workload-aware policy's model of reuse times by category (papers/001, §5), which with
// a share of prefixes that never return is also the continuation probability of Learned Prefix Caching (papers/004, §4). Times are seconds that
// the caller gives.
//
// It is a model of the time to the next use: the share P of uses is followed by another one, after an exponential time.
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

// still is the probability that a prefix returns at all, when it has not been used for idle seconds. It is p_cur of papers/004 with one
// rate for all, and P at idle 0.
func (f Fit) still(idle float64) float64 {
	back := f.P * math.Exp(-f.Rate*idle)
	return back / (1 - f.P + back)
}

// Within is the probability that a prefix that has not been used for idle seconds is used within the next life seconds: the priority of
// papers/001, given that there was no use so far.
func (f Fit) Within(idle, life float64) float64 { return f.still(idle) * -math.Expm1(-f.Rate*life) }

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

// fade multiplies the weight of all that was seen, so that an old workload is forgotten.
func (s *Sample) fade(by float64) {
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

// Ages yields the uses by their age, those of one class together: how many were followed by another one after about so many seconds, or
// have not been followed for so long.
func (s *Sample) Ages(yield func(uses, age float64, followed bool) bool) {
	for i := range s.gaps {
		if uses := s.gaps[i]; uses > 0 && !yield(uses, s.waits[i]/uses, true) {
			return
		}
		if uses := s.never[i]; uses > 0 && !yield(uses, s.ages[i]/uses, false) {
			return
		}
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
				b := f.still(s.ages[i] / m)
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

// refitEvery is how old the fits of a Model may become, in seconds.
const refitEvery = 60.0

// half is the time in which what was seen loses half of its weight, in seconds: reuse is alike from one hour to the next, and differs from
// day to night (papers/001, §3.4).
const half = 3600.0

// priorFit is the fit of what was never seen: half of the first turns have another one (papers/001, §3.3), 100 seconds later (papers/004, §5).
var priorFit = Fit{P: 0.5, Rate: 0.01}

// kept is the part of its weight that a use so many seconds ago has left.
func kept(age float64) float64 { return math.Exp2(-age / half) }

// Returns has a Fit for each category of policy.CategoryOf. One with few returns is drawn to the fit of its type, that to the fit of all
// categories together, and that to Prior. The zero value has seen nothing.
//
// The caller reports a use once it is known how it went on, and has those that are open at hand for Fit. One Again or Lost costs some
// 30 ns and a Refit some 50 µs per category and 20 ns per open use; a category takes 2 KiB.
type Returns struct {
	number map[uint32]int // of each category, in seen
	seen   []category
	wide   map[uint32]Fit // by type; never iterated
	all    Fit
	ready  bool    // there was a Refit
	fitted float64 // when
	begun  bool    // Advance was called
	faded  float64 // when
}

type category struct {
	id     uint32
	sample Sample // of the uses that are not open
	fit    Fit
}

// Again notes that a use in category c was followed by another one, gap seconds later, now.
func (m *Returns) Again(c uint32, gap float64) { m.of(c).sample.Again(gap, kept(gap)) }

// Lost notes that a use in category c was idle seconds ago, and will not be followed any longer: whether it returns is not known.
func (m *Returns) Lost(c uint32, idle float64) { m.of(c).sample.Silent(idle, kept(idle)) }

// advance lets what was seen lose weight. now is seconds from any fixed start; it is called before Again and Lost.
func (m *Returns) advance(now float64) {
	if !m.begun {
		m.begun, m.faded = true, now
	}
	if now-m.faded < refitEvery {
		return
	}
	for i := range m.seen {
		m.seen[i].sample.fade(kept(now - m.faded))
	}
	m.faded = now
}

// Due reports whether the fits are older than Refit, or there are none.
func (m *Returns) Due(now float64) bool { return !m.ready || now-m.fitted >= refitEvery }

// Refit brings the fits up to date. open yields the category of each use that has no successor so far, and how many seconds ago it was. It
// returns what was seen of each category, with those uses, in the order of their first use.
func (m *Returns) Refit(now float64, open iter.Seq2[uint32, float64]) []Seen {
	m.advance(now)
	for c := range open {
		m.of(c)
	}
	seen := make([]Seen, len(m.seen))
	for i := range m.seen {
		seen[i] = Seen{m.seen[i].id, m.seen[i].sample}
	}
	for c, idle := range open {
		seen[m.number[c]].Sample.Silent(idle, kept(idle))
	}
	m.fit(seen)
	m.ready, m.fitted = true, now
	return seen
}

// Seen is what was seen of one category.
type Seen struct {
	Category uint32
	Sample   Sample
}

// Wider returns the samples of all categories of each type together, and of all types.
func Wider(seen []Seen) (types map[uint32]*Sample, all *Sample) {
	types, all = map[uint32]*Sample{}, &Sample{}
	for i := range seen {
		kind := seen[i].Category / policy.MostTurns
		if types[kind] == nil {
			types[kind] = &Sample{}
		}
		types[kind].Add(&seen[i].Sample)
		all.Add(&seen[i].Sample)
	}
	return types, all
}

func (m *Returns) fit(seen []Seen) {
	types, all := Wider(seen)
	m.all = all.Fit(priorFit)
	m.wide = make(map[uint32]Fit, len(types))
	for i := range seen {
		kind := seen[i].Category / policy.MostTurns
		if _, ok := m.wide[kind]; !ok {
			m.wide[kind] = types[kind].Fit(m.all)
		}
		m.seen[i].fit = seen[i].Sample.Fit(m.wide[kind])
	}
}

// Of is the fit of category c at the last Refit. For a category that was not seen before it is the fit of its type, or of all categories.
func (m *Returns) Of(c uint32) Fit {
	if i, ok := m.number[c]; ok && m.seen[i].fit.P > 0 {
		return m.seen[i].fit
	}
	if wide, ok := m.wide[c/policy.MostTurns]; ok {
		return wide
	}
	return m.overall()
}

// overall is the fit of all categories together at the last Refit.
func (m *Returns) overall() Fit {
	if m.all.P > 0 {
		return m.all
	}
	return priorFit
}

func (m *Returns) of(c uint32) *category {
	i, ok := m.number[c]
	if !ok {
		if m.number == nil {
			m.number = map[uint32]int{}
		}
		m.number[c] = len(m.seen)
		m.seen = append(m.seen, category{id: c})
		return &m.seen[len(m.seen)-1]
	}
	return &m.seen[i]
}
