package kv

import (
	"math"

	"reprise/policy"
)

var (
	pParam = policy.Param{
		Name: "p", Says: "off: count each use as followed by another one, so that categories differ by the time until it alone",
		Default: "on", Choices: []string{"on", "off"},
	}
	sampleParam = policy.Param{Name: "sample", Says: "learn from one key of so many", Default: "16", Min: 1, Max: 1e6}
)

// workload is the model of each category that some block had. Categories are numbered: classes, from 0.
type workload struct {
	clock
	number     map[uint32]uint32 // class of a category
	categories []uint32          // by class
	scales     []scale
	curves     []curve // of wa
	version    int     // of scales and curves
	shadow     shadow
	life       life
	certain    bool // p=off
}

func newWorkload(a policy.Args) workload {
	return workload{number: map[uint32]uint32{}, shadow: newShadow(a.Whole(sampleParam.Name)), life: lifeOf(a), certain: a.Choice(pParam.Name) == "off"}
}

// class is the number of a category, the next free one where it is new.
func (w *workload) class(category uint32) uint32 {
	if i, ok := w.number[category]; ok {
		return i
	}
	class := len(w.categories)
	w.number[category] = uint32(class)
	w.categories, w.scales, w.curves = append(w.categories, category), append(w.scales, scale{}), append(w.curves, curve{})
	w.fit(class)
	return uint32(class)
}

func (w *workload) fit(class int) {
	fit := w.shadow.model.Of(w.categories[class])
	if w.certain {
		fit.P = 1
	}
	w.scales[class] = over(fit, w.life.seconds)
	mix := oneTime(fit)
	if w.shadow.model.mixed {
		mix = w.shadow.model.mixture(w.categories[class])
		if w.certain {
			mix.P = 1
		}
	}
	w.curves[class] = mix.over(w.life.seconds)
}

// learn reports the use of a key, now.
func (w *workload) learn(key uint64, class uint32, topic policy.TopicID) {
	w.shadow.touch(key, w.categories[class]&^several, topic, w.now)
}

// evicted reports a victim that was used last at some time.
func (w *workload) evicted(last float64) { w.life.evicted(w.now - last) }

// tick brings time and scales up to date, and reports whether there are new fits.
func (w *workload) tick(at policy.Tick) (refitted bool) {
	if !w.advance(at.At) {
		return false
	}
	changed := w.life.adopt()
	if refitted = w.shadow.refit(w.now); refitted || changed {
		w.version++
		for i := range w.scales {
			w.fit(i)
		}
	}
	return refitted
}

// atMost is scale.at, or any number above a limit if that is above it.
func atMost(s *scale, odds, limit float64) float64 {
	if least := s.atLeast(odds); least > limit {
		return least
	}
	return s.at(odds)
}

// clock is the latest time given, and a count of the uses at it.
type clock struct {
	now    float64
	second float64 // when advance was last true
	begun  bool
	uses   uint32
}

// advance reports, once a second, that models may be out of date. A time before the latest counts as the latest.
func (c *clock) advance(at float64) bool {
	if !c.begun {
		c.begun, c.now, c.second = true, at, at
		return true
	}
	if at > c.now {
		c.now, c.uses = at, 0
	}
	if c.now-c.second < 1 {
		return false
	}
	c.second = c.now
	return true
}

// next is the number of a use among those at this time.
func (c *clock) next() uint32 {
	if c.uses < math.MaxUint32 {
		c.uses++
	}
	return c.uses
}
