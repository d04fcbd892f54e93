package policies

import (
	"math"
	"math/rand/v2"
)

// learningRate is how fast Cacheus changes its weights. It climbs: a step is repeated if the hit rate became better, and taken
// back if it became worse.
type learningRate struct {
	value, before float64 // now, and a period ago
	rand          *rand.Rand

	period, requests int
	hits             int
	hitRate          float64 // in the last period
	idle             int     // periods without a change of the rate or a better hit rate
}

const leastRate = 0.001

func newLearningRate(period int, r *rand.Rand) learningRate {
	l := learningRate{rand: r, period: period}
	l.draw()
	return l
}

func (l *learningRate) miss() { l.requests++ }

func (l *learningRate) hit() { l.requests, l.hits = l.requests+1, l.hits+1 }

// end adapts the rate if the last request was the last one of a period.
func (l *learningRate) end() {
	if l.requests < l.period {
		return
	}
	hitRate := float64(l.hits) / float64(l.requests)
	gained, step := hitRate-l.hitRate, l.value-l.before
	l.before, l.hitRate = l.value, hitRate
	l.requests, l.hits = 0, 0
	if step != 0 {
		l.climb(step, gained)
	} else {
		l.wait(gained <= 0)
	}
}

func (l *learningRate) climb(step, gained float64) {
	by := math.Abs(l.value * step)
	if gained/step <= 0 {
		by = -by
	}
	l.value = min(max(l.value+by, leastRate), 1)
	l.idle = 0
}

// wait counts periods without a change, and draws a new rate after ten of them.
func (l *learningRate) wait(idle bool) {
	if idle {
		l.idle++
	}
	if l.idle >= 10 {
		l.idle = 0
		l.draw()
	}
}

func (l *learningRate) draw() { l.value = leastRate + float64(l.rand.IntN(1000))/1000 }
