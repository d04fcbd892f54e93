package panel

// hysteresis keeps a panel to one leader where following whoever is best just now costs more than it brings.
//
// Experts that have frozen contents of equal worth take turns at the top, as in a loop, of which each pass comes by what
// one of them holds and then by what another does. A cache that follows them holds what has just been asked for, and has
// nobody's hits. It shows as a lag of the cache's own score behind the best expert's; while that is more than a little, the
// lead that an expert needs to take over grows, and the votes of the others count for less. At the start the cache lags by
// the prior, and loyalty is to the expert that has it until there are some 30 times as many hits.
type hysteresis struct {
	score  float64 // of the cache itself, kept as an expert's
	margin float64 // by which another's score must be better than the leader's, as a share of it
	leader int
	step   float64 // of margin, per request and share of lag
}

// At a lag of some 15 % the margin is 0.1 after a capacity of requests. Slower it loses a point on short loops; from
// twice as fast or at a smaller lag on, the start of a trace, when every cache lags, is taken for a loop. It goes three times
// as slowly as it came: as fast, a loop of 40,000 requests loses 0.9 points to a second change of the leader.
const (
	lagAllowed  = 0.03
	marginSpeed = 0.8
	marginHold  = 3
	marginMost  = 0.4 // with 0.1 the loop loses 0.8 points more
)

func newHysteresis(capacity int) hysteresis { return hysteresis{step: marginSpeed / float64(capacity)} }

// observe adds what the cache itself gained by a request that the experts have played.
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

// chooseLeader lets another lead if it is better by the margin.
func (l *hysteresis) chooseLeader(experts []expert) {
	for i := range experts {
		if experts[i].score > experts[l.leader].score*(1+l.margin)+5*l.margin {
			l.leader = i
		}
	}
}

// valid reports whether l can be the loyalty to so many experts.
func (l *hysteresis) valid(experts int) bool {
	return l.score >= 0 && l.margin >= 0 && l.margin <= marginMost && l.leader < experts
}
