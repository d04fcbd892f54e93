package panel

import (
	"slices"

	"reprise/policy"
)

// lazy keeps one leader of two experts until a change has paid.
//
// A change brings no contents: each entry that the new leader holds and the cache does not has to be missed once. So the other expert must
// have had more hits than the leader by more than there are such entries. Its lead is counted from when it was last behind, ahead =
// max(0, ahead + its hit - the leader's hit), so that a good expert of a new phase is not held back by an old one.
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
	ahead   float64    // hits that the other expert has more than the leader
	led     [2]float64 // requests during which each expert led, counted as expert.asked
	at      float64    // time of the last request
	changed int64
	changes []policy.Change // the latest
}

// leastAhead is the lead that is needed beyond the missing entries: at the start none is missing, and one hit must not change the leader.
const leastAhead = 3

// A set of experts has a bit for each.
const (
	nobody = 0
	both   = 1<<0 | 1<<1
	sets   = 1 << 2
)

// other returns the expert that does not lead.
func (l *lazy) other() int { return 1 - l.leader }

// order returns the sets of experts, that whose entries are evicted first at the front.
func (l *lazy) order() [sets]uint16 { return [sets]uint16{nobody, 1 << l.other(), 1 << l.leader, both} }

// note counts a request that the experts of set would have answered.
func (l *lazy) note(at, gain float64, set uint16) {
	l.at = at
	l.led[l.leader] += gain
	switch set {
	case 1 << l.other():
		l.ahead += gain
	case 1 << l.leader:
		l.ahead = max(0, l.ahead-gain)
	}
}

// choose changes the leader if the lead of the other expert exceeds what the change costs; missing are the entries that it holds and the cache
// does not. It reports whether there was a change.
func (l *lazy) choose(seq int64, experts []expert, missing int) bool {
	needed := l.factor*float64(missing) + leastAhead
	if l.ahead <= needed {
		return false
	}
	if len(l.changes) == policy.MostChanges {
		l.changes = slices.Delete(l.changes, 0, 1)
	}
	l.changes = append(l.changes, policy.Change{Seq: seq, At: l.at, From: experts[l.leader].name, To: experts[l.other()].name, Ahead: l.ahead, Needed: needed})
	l.changed++
	l.follow(l.other())
	return true
}

// follow makes an expert the leader.
func (l *lazy) follow(leader int) {
	l.leader, l.ahead = leader, 0
}
