package panel

// hysteresis keeps one leader of a panel where a change to the present best expert costs more than it gains.
//
// In a loop, experts whose contents hardly change and are of equal worth take turns as the best one: each pass meets the
// contents of one, then those of another. A cache that follows them holds what was just requested, and has the hits of none. It
// shows as a lag of the cache's own score behind that of the best expert; while the lag is more than lagAllowed, the margin that
// an expert needs to take over grows, and the votes of the others count for less. At the start the cache lags by the prior, and
// the expert that has it stays the leader until there are some 30 times as many hits.
type hysteresis struct {
	score  float64 // of the cache itself, kept as an expert's
	margin float64 // by which another's score must be better than the leader's, as a share of it
	leader int
	step   float64 // of margin, per request and share of lag
}

// At a lag of some 15 % the margin is 0.1 after a capacity of requests. Slower it loses a point on short loops; from
// twice as fast or at a smaller lag on, the start of a trace, when every cache lags, is taken for a loop. It decays at a third of
// its growth rate: at the same rate a loop of 40,000 requests loses 0.9 points to a second change of the leader.
const (
	lagAllowed  = 0.03
	marginSpeed = 0.8
	marginHold  = 3
	marginMost  = 0.4 // with 0.1 the loop loses 0.8 points more
)

func newHysteresis(capacity int) hysteresis { return hysteresis{step: marginSpeed / float64(capacity)} }

// observe adds the gain of the cache itself in a request that the experts have played.
func (l *hysteresis) observe(gain, decay float64, experts []expert) {
	l.score = l.score*decay + gain
	best := 0.0
	for i := range experts {
		best = max(best, experts[i].score)
	}
	change := l.step * ((best-l.score)/(best+20) - lagAllowed)
	if change < 0 {
		change /= marginHold
	}
	l.margin = min(max(l.margin+change, 0), marginMost)
}

// chooseLeader changes to another leader if it is better by the margin.
func (l *hysteresis) chooseLeader(experts []expert) {
	for i := range experts {
		if experts[i].score > experts[l.leader].score*(1+l.margin)+5*l.margin {
			l.leader = i
		}
	}
}

// valid reports whether l is possible with so many experts.
func (l *hysteresis) valid(experts int) bool {
	return l.score >= 0 && l.margin >= 0 && l.margin <= marginMost && l.leader < experts
}
