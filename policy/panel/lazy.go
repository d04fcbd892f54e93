package panel

import (
	"slices"

	"reprise/policy"
)

// lazy keeps one leader of a panel until a change has paid.
//
// A change brings no contents: each entry that the new leader holds and the cache does not has to be missed once. So another expert must
// have had more hits than the leader by more than there are such entries. Its lead is counted from when it was last behind, ahead =
// max(0, ahead + its hit - the leader's hit), so that one expert of a new phase is not held back by an old one.
//
// The factor must be above 1: in a loop, an expert that is frozen on other entries than the cache gets ahead by just as many within a pass.
// With a factor below that the two would lead in turn, and each change costs what the other had gained. From 1 to 2 the mean over the recorded
// traces of the tuning half rises by 0.1 points, and at 3 their worst cell falls from -1.6 to -3.3.
//
// Source: lazy algorithms for metrical task systems (Blum and Burch, Machine Learning 39, 2000); the count of missing entries as the
// distance is from here.
type lazy struct {
	factor  float64
	leader  int
	ahead   []float64 // hits, of each expert
	led     []float64 // requests during which each expert led, counted as expert.asked
	at      float64   // time of the last request
	changed int64
	changes []policy.Change // the latest
}

// leastAhead is what a lead must have beyond the missing entries. At the start none is missing, and one hit decides nothing.
const leastAhead = 3

// before reports whether the expert of number i comes before that of j in a vote.
func (l *lazy) before(i, j int) bool {
	if i == l.leader || j == l.leader {
		return i == l.leader
	}
	return l.ahead[i] > l.ahead[j] || l.ahead[i] == l.ahead[j] && i < j
}

// note counts a request that the experts of set would have answered.
func (l *lazy) note(at, gain float64, set uint16) {
	l.at = at
	l.led[l.leader] += gain
	base := 0.0
	if set>>l.leader&1 != 0 {
		base = gain
	}
	for i := range l.ahead {
		own := 0.0
		if set>>i&1 != 0 {
			own = gain
		}
		l.ahead[i] = max(0, l.ahead[i]+own-base)
	}
}

// choose changes to the expert whose lead exceeds most what the change costs; missing are the entries that an expert holds and the cache does
// not. It reports whether there was a change.
func (l *lazy) choose(seq int64, experts []expert, missing func(expert int) int) bool {
	next, most, needed := -1, 0.0, 0.0
	for i, ahead := range l.ahead {
		if ahead <= leastAhead { // the leader's own is 0
			continue
		}
		cost := l.factor*float64(missing(i)) + leastAhead
		if ahead-cost > most {
			next, most, needed = i, ahead-cost, cost
		}
	}
	if next < 0 {
		return false
	}
	if len(l.changes) == policy.MostChanges {
		l.changes = slices.Delete(l.changes, 0, 1)
	}
	l.changes = append(l.changes, policy.Change{Seq: seq, At: l.at, From: experts[l.leader].name, To: experts[next].name, Ahead: l.ahead[next], Needed: needed})
	l.changed++
	l.follow(next)
	return true
}

// follow makes another expert the leader.
func (l *lazy) follow(leader int) {
	l.leader = leader
	clear(l.ahead)
}

// apart is how many entries the shadows of an expert and of the leader do not share, counted as in Full; held are the entries by the set of
// experts that hold them.
func (l *lazy) apart(held []int, expert int) int {
	in, out := 0, 0
	for set, n := range held {
		switch own, led := set>>expert&1, set>>l.leader&1; {
		case own > led:
			in += n
		case own < led:
			out += n
		}
	}
	return max(in, out)
}
