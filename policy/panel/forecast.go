package panel

import (
	"fmt"
	"math"

	"reprise/policy"
)

var (
	_ policy.Forecaster = (*full)(nil)
	_ policy.Forecaster = (*sampled)(nil)
)

// Forecast offers the residents that the leader does not hold, in the order of the vote. A new answer makes the leader give up an entry
// first, which goes then: so what it holds follows in the order in which it would give it up; where the leader cannot say that, in the order
// of the vote too.
func (p *full) Forecast(f *policy.Forecast, from int) (next int) {
	leads, says := p.experts[p.lazy.leader].evictor.(policy.Forecaster)
	if from == 0 && !offerVote(&p.shadows, f, !says) || !says {
		return 0
	}
	resident := func(key policy.ID) (policy.ID, bool) {
		e, ok := p.slots.Find(uint64(key))
		if !ok || p.at(e).id == 0 {
			return 0, false
		}
		return p.at(e).id, true
	}
	f.Named(resident, func(f *policy.Forecast) { next = leads.Forecast(f, from) })
	return next
}

// offerVote offers the residents that the leader does not hold, or all, in the order of the vote, and reports whether more are wanted.
func offerVote(p *shadows, f *policy.Forecast, all bool) (more bool) {
	more = true
	for _, set := range p.lazy.order() {
		if !all && set>>p.lazy.leader&1 != 0 {
			continue
		}
		p.slots.Walk(p.lists[set].Tail, policy.ForecastStep, func(slot uint32) bool {
			more = f.Offer(p.at(slot).id, math.Inf(-1))
			return more
		})
		if !more {
			return false
		}
	}
	return true
}

// Why implements policy.Forecaster: it states how the leader ranks id, or that the leader does not hold it.
func (p *full) Why(id policy.ID) string {
	e := p.find(id)
	if e == 0 {
		return ""
	}
	leader := &p.experts[p.lazy.leader]
	leads, says := leader.evictor.(policy.Forecaster)
	switch {
	case p.at(e).set>>p.lazy.leader&1 == 0:
		return fmt.Sprintf("%s, which leads, would not hold it", leader.name)
	case !says:
		return fmt.Sprintf("%s, which leads, holds it and does not say when it goes", leader.name)
	}
	return fmt.Sprintf("%s leads: %s", leader.name, leads.Why(policy.ID(p.key(e))))
}
