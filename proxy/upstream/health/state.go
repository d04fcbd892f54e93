package health

import "time"

// Condition is the word for a member's health.
type Condition string

// The conditions, in the order in which they are looked for.
const (
	Draining Condition = "draining" // an operator's wish
	Down     Condition = "down"     // its health checks fail
	Ejected  Condition = "ejected"  // its requests failed
	SetAside Condition = "aside"    // it asked to be left alone
	Failing  Condition = "failing"  // its requests fail, and it gets them still, because no other works or until a check has shown it
	Starting Condition = "starting" // its share grows
	Up       Condition = "up"
)

// State is the health of a member at a moment.
type State struct {
	Condition Condition
	Until     time.Time // of Ejected and SetAside
	Share     float64   // of the requests, 0 to 1
	Failures  int       // failed requests in a row
	Limits    int       // tenants and models for which it is set aside
}

// State returns the health of a member.
func (b *Board) State(now time.Time, i int) State {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := &b.members[i]
	s := State{Condition: Up, Failures: m.failures}
	for _, until := range m.limits {
		if now.Before(until) {
			s.Limits++
		}
	}
	s.Share = b.shareLocked(m, now, Limit{})
	switch {
	case m.drained:
		s.Condition, s.Share = Draining, 0
	case m.down:
		s.Condition = Down
	case now.Before(m.ejected):
		s.Condition, s.Until = Ejected, m.ejected
	case now.Before(m.aside):
		s.Condition, s.Until = SetAside, m.aside
	case m.gone || m.failingLocked(now):
		s.Condition = Failing
	case s.Share < 1:
		s.Condition = Starting
	}
	return s
}
