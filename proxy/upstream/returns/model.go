package returns

import (
	"iter"
	"math"

	"reprise/internal/container"
	"reprise/policy"
)

// Refit is how old the fits of a Model may become, in seconds.
const Refit = 60.0

// half is the time in which what was seen loses half of its weight, in seconds: reuse is alike from one hour to the next, and differs from
// day to night (papers/001, §3.4).
const half = 3600.0

// Prior is the fit of what was never seen: half of the first turns have another one (papers/001, §3.3), 100 seconds later (papers/004, §5).
var Prior = Fit{P: 0.5, Rate: 0.01}

// kept is the part of its weight that a use so many seconds ago has left.
func kept(age float64) float64 { return math.Exp2(-age / half) }

// Model has a Fit for each category of policy.CategoryOf. One with few returns is drawn to the fit of its type, that to the fit of all
// categories together, and that to Prior. The zero value has seen nothing.
//
// The caller reports a use once it is known how it went on, and has those that are open at hand for Fit. One Again or Lost costs some
// 30 ns and a Refit some 50 µs per category and 20 ns per open use; a category takes 2 KiB. Mixtures
// take some ten times as long to fit.
type Model struct {
	Mixed bool // Mixture is called: there are mixtures too

	number container.Table[uint64, int] // of each category + 1, in samples
	seen   []category
	wide   map[uint32]Fit // by type; never iterated
	all    Fit
	both   mixtures
	ready  bool    // there was a Refit
	fitted float64 // when
	begun  bool    // Advance was called
	faded  float64 // when
}

type category struct {
	id     uint32
	sample Sample // of the uses that are not open
	fit    Fit
	mix    Mixture
}

// mixtures are those of the wider categories at the last Refit; P is 0 where there is none.
type mixtures struct {
	all  Mixture
	wide map[uint32]Mixture // by type; never iterated
}

// Again notes that a use in category c was followed by another one, gap seconds later, now.
func (m *Model) Again(c uint32, gap float64) { m.of(c).sample.Again(gap, kept(gap)) }

// Lost notes that a use in category c was idle seconds ago, and will not be followed any longer: whether it returns is not known.
func (m *Model) Lost(c uint32, idle float64) { m.of(c).sample.Silent(idle, kept(idle)) }

// Advance lets what was seen lose weight. now is seconds from any fixed start; it is called before Again and Lost.
func (m *Model) Advance(now float64) {
	if !m.begun {
		m.begun, m.faded = true, now
	}
	if now-m.faded < Refit {
		return
	}
	for i := range m.seen {
		m.seen[i].sample.Fade(kept(now - m.faded))
	}
	m.faded = now
}

// Due reports whether the fits are older than Refit, or there are none.
func (m *Model) Due(now float64) bool { return !m.ready || now-m.fitted >= Refit }

// Refit brings the fits up to date. open yields the category of each use that has no successor so far, and how many seconds ago it was.
func (m *Model) Refit(now float64, open iter.Seq2[uint32, float64]) {
	m.Advance(now)
	for c := range open {
		m.of(c)
	}
	samples := make([]Sample, len(m.seen))
	for i := range m.seen {
		samples[i] = m.seen[i].sample
	}
	for c, idle := range open {
		samples[*m.number.Find(uint64(c) + 1)].Silent(idle, kept(idle))
	}
	m.fit(samples)
	m.ready, m.fitted = true, now
}

func (m *Model) fit(samples []Sample) {
	var all Sample
	types := map[uint32]*Sample{}
	for i := range samples {
		kind := m.seen[i].id / policy.MostTurns
		if types[kind] == nil {
			types[kind] = &Sample{}
		}
		types[kind].Add(&samples[i])
		all.Add(&samples[i])
	}
	m.all = all.Fit(Prior)
	m.wide = make(map[uint32]Fit, len(types))
	for i := range samples {
		kind := m.seen[i].id / policy.MostTurns
		if _, ok := m.wide[kind]; !ok {
			m.wide[kind] = types[kind].Fit(m.all)
		}
		m.seen[i].fit = samples[i].Fit(m.wide[kind])
	}
	if m.Mixed {
		m.mix(samples, types, &all)
	}
}

// mix is fit for mixtures. Each continues the estimate of the last Refit.
func (m *Model) mix(samples []Sample, types map[uint32]*Sample, all *Sample) {
	m.both.all = all.Mix(MixturePrior, m.both.all.or(all.guess()), weak)
	wide := make(map[uint32]Mixture, len(types))
	for i := range samples {
		kind := m.seen[i].id / policy.MostTurns
		if _, ok := wide[kind]; !ok {
			wide[kind] = types[kind].Mix(m.both.all, m.both.wide[kind].or(m.both.all), firm)
		}
		m.seen[i].mix = samples[i].Mix(wide[kind], m.seen[i].mix.or(wide[kind]), firm)
	}
	m.both.wide = wide
}

// Mixture is Of for mixtures, where Mixed is set.
func (m *Model) Mixture(c uint32) Mixture {
	if i := m.number.Find(uint64(c) + 1); i != nil && m.seen[*i].mix.P > 0 {
		return m.seen[*i].mix
	}
	if wide, ok := m.both.wide[c/policy.MostTurns]; ok {
		return wide
	}
	if m.both.all.P > 0 {
		return m.both.all
	}
	return MixturePrior
}

// Of is the fit of category c at the last Refit: that of its type, or of all, where it was not seen before.
func (m *Model) Of(c uint32) Fit {
	if i := m.number.Find(uint64(c) + 1); i != nil && m.seen[*i].fit.P > 0 {
		return m.seen[*i].fit
	}
	if wide, ok := m.wide[c/policy.MostTurns]; ok {
		return wide
	}
	return m.All()
}

// All is the fit of all categories together at the last Refit.
func (m *Model) All() Fit {
	if m.all.P > 0 {
		return m.all
	}
	return Prior
}

func (m *Model) of(c uint32) *category {
	i := m.number.Find(uint64(c) + 1)
	if i == nil {
		m.number.Add(uint64(c)+1, len(m.seen))
		m.seen = append(m.seen, category{id: c})
		return &m.seen[len(m.seen)-1]
	}
	return &m.seen[*i]
}
