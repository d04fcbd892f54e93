package upstream

import (
	"math"
	"sync"
	"time"
)

// The rules' figures.
const (
	failuresToEject = 5
	checksToFail    = 2
	firstEjection   = 10 * time.Second
	longestEjection = 5 * time.Minute
	longestAside    = 10 * time.Minute // whatever a replica asks for: a wrong value must not take it out for long
	mostLimits      = 4096             // of one replica, for tenants and models
	lately          = time.Minute
)

// limited is what a refusal of one replica is about, beside that replica. Without a tenant it is about all of them.
type limited struct{ Tenant, Model string }

// board decides which replicas get requests, from what is observed of each: health checks, the outcomes of requests, and how long it asked to
// be left alone. It has no clock and no goroutine: time is an argument of every call. It is safe for concurrent use.
//
//   - Two failed checks in a row take a replica out, the next good one brings it back.
//   - Five failed requests in a row eject it, for 10 seconds, and for twice as long each time that it fails again at once, up to 5
//     minutes. The last one that is left is not ejected, nor is one whose failures are all of one tenant's requests while it answers
//     others: a client could make an engine fail by what it asks.
//   - A replica that refused work with a Retry-After is set aside until then. Where the limit may concern one tenant or one model,
//     it is set aside for these alone.
//   - One that comes back gets a growing share of the requests, because its caches are cold.
type board struct {
	slow time.Duration

	mu      sync.Mutex // guards what follows
	members []memberHealth
}

// memberHealth is the health of one member.
type memberHealth struct {
	drained  bool
	down     bool   // by the checks
	gone     bool   // it refused a connection, and has not answered since
	misses   int    // failed checks in a row
	failures int    // failed requests in a row
	blamed   string // the tenant of those; with mixed, they are of several, or of none in particular
	mixed    bool
	served   [2]success // of the two tenants with the last good answers, the last one in front
	level    int        // ejections, each soon after the one before
	ejected  time.Time
	aside    time.Time
	limits   map[limited]time.Time
	back     time.Time // when it came back, from which its share grows
	alive    time.Time // of its last answer or good check
}

// success is a tenant's last good answer of a member.
type success struct {
	tenant string
	at     time.Time
}

// servesLocked reports whether a member has answered tenants other than one lately.
func (m *memberHealth) servesLocked(now time.Time, other string) bool {
	for _, s := range m.served {
		if !s.at.IsZero() && s.tenant != other && now.Sub(s.at) < lately {
			return true
		}
	}
	return false
}

// newBoard returns a board of so many members, which all work. slow is the time in which the share of a member that came back grows to a full
// one; not positive: it has that at once.
func newBoard(members int, slow time.Duration) *board {
	return &board{slow: slow, members: make([]memberHealth, members)}
}

// shares writes the share of the requests within limit that each member may get to shares: 0 for one that must get none, up to 1. Members
// that are drained get some only with drained.
func (b *board) shares(now time.Time, limit limited, drained bool, shares []float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.members {
		m := &b.members[i]
		if shares[i] = b.shareLocked(m, now, limit); m.drained && !drained {
			shares[i] = 0
		}
	}
}

func (b *board) shareLocked(m *memberHealth, now time.Time, limit limited) float64 {
	if m.down || now.Before(m.ejected) || now.Before(m.aside) || m.limitedLocked(now, limit) {
		return 0
	}
	from := laterOf(m.back, m.ejected)
	if b.slow <= 0 || from.IsZero() || now.Sub(from) >= b.slow {
		return 1
	}
	return max(leastShare, float64(now.Sub(from))/float64(b.slow))
}

// leastShare is the share with which a member begins: with less it would get no request from which it warms up.
const leastShare = 0.1

func laterOf(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (m *memberHealth) limitedLocked(now time.Time, limit limited) bool {
	if len(m.limits) == 0 {
		return false
	}
	for _, l := range [2]limited{limit, {Model: limit.Model}} {
		until, ok := m.limits[l]
		if ok && now.Before(until) {
			return true
		}
		delete(m.limits, l)
	}
	return false
}

// begun notes that an answer of a member has begun, which shows that it works. The answer may still break off.
func (b *board) begun(now time.Time, i int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := &b.members[i]
	m.alive = now
	m.returnedLocked(now)
}

// succeeded notes that an answer of a member to a tenant has ended as it should.
func (b *board) succeeded(now time.Time, i int, tenant string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := &b.members[i]
	m.failures = 0
	if m.served[0].tenant != tenant {
		m.served[1] = m.served[0]
	}
	m.served[0] = success{tenant, now}
}

// returnedLocked notes that a member has answered. If it had been gone, it is another process now, which has not failed.
func (m *memberHealth) returnedLocked(now time.Time) {
	if m.gone {
		m.gone, m.back = false, now
		m.failures, m.level, m.ejected = 0, 0, time.Time{}
	}
}

// failed notes that a request of a tenant failed at a member in a way that may be its own fault, and returns for how long that ejects it, 0
// if it does not. tenant is "" where no request could cause the failure.
func (b *board) failed(now time.Time, i int, tenant string) (ejected time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := &b.members[i]
	if m.failures++; m.failures == 1 {
		m.blamed, m.mixed = tenant, tenant == ""
	}
	m.mixed = m.mixed || tenant != m.blamed
	if !m.failingLocked(now) || now.Before(m.ejected) || b.lastLocked(now, i) {
		return 0
	}
	if now.Sub(m.ejected) > longestEjection {
		m.level = 0
	}
	ejected = min(time.Duration(float64(firstEjection)*math.Pow(2, float64(m.level))), longestEjection)
	m.level = min(m.level+1, 10)
	m.failures, m.ejected = failuresToEject-1, now.Add(ejected) // the next failure ejects it again
	return ejected
}

// failingLocked reports whether so many requests in a row failed that it is no tenant's doing.
func (m *memberHealth) failingLocked(now time.Time) bool {
	return m.failures >= failuresToEject && (m.mixed || !m.servesLocked(now, m.blamed))
}

// lastLocked reports whether no member but i works.
func (b *board) lastLocked(now time.Time, i int) bool {
	for j := range b.members {
		if m := &b.members[j]; j != i && !m.down && !m.gone && !m.drained && !now.Before(m.ejected) {
			return false
		}
	}
	return true
}

// nowGone notes that a member refused a connection, and reports whether that is new: its process, and with it its KV cache, is gone.
func (b *board) nowGone(i int) (isNew bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	isNew = !b.members[i].gone
	b.members[i].gone = true
	return isNew
}

// setAside sets a member aside for a time that it asked for.
func (b *board) setAside(now time.Time, i int, wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := &b.members[i]
	m.aside = laterOf(m.aside, now.Add(min(wait, longestAside)))
}

// limit sets a member aside for the requests within limit.
func (b *board) limit(now time.Time, i int, limit limited, wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := &b.members[i]
	if len(m.limits) >= mostLimits {
		for l, until := range m.limits {
			if !now.Before(until) {
				delete(m.limits, l)
			}
		}
	}
	if _, known := m.limits[limit]; !known && len(m.limits) >= mostLimits {
		return // such a request is sent and refused again
	}
	if m.limits == nil {
		m.limits = map[limited]time.Time{}
	}
	m.limits[limit] = now.Add(min(wait, longestAside))
}

// checked notes the result of a health check, and reports whether the member came back or was taken out.
func (b *board) checked(now time.Time, i int, works bool) (changed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := &b.members[i]
	if !works {
		m.misses++
		changed = !m.down && m.misses >= checksToFail
		m.down = m.down || changed
		return changed
	}
	m.misses, m.alive = 0, now
	m.returnedLocked(now)
	if m.down {
		m.down, m.back = false, now
		return true
	}
	return false
}

// isAlive reports whether a member has answered since a time and its checks have not failed: it need not be checked.
func (b *board) isAlive(i int, since time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := &b.members[i]
	return !m.down && m.misses == 0 && !m.gone && m.failures == 0 && m.alive.After(since)
}

// drain makes a member get no further requests, or some again.
func (b *board) drain(now time.Time, i int, drained bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := &b.members[i]
	if m.drained && !drained {
		m.back = now
	}
	m.drained = drained
}

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

// Health is the health of a member at a moment.
type Health struct {
	Condition Condition
	Until     time.Time // of Ejected and SetAside
	Share     float64   // of the requests, 0 to 1
	Failures  int       // failed requests in a row
	Limits    int       // tenants and models for which it is set aside
}

// health returns the health of a member.
func (b *board) health(now time.Time, i int) Health {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := &b.members[i]
	s := Health{Condition: Up, Failures: m.failures}
	for _, until := range m.limits {
		if now.Before(until) {
			s.Limits++
		}
	}
	s.Share = b.shareLocked(m, now, limited{})
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
