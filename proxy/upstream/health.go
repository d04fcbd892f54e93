package upstream

import (
	"maps"
	"math"
	"sync"
	"time"
)

// The rules' figures.
const (
	failuresToEject = 5
	failuresOfModel = 2 // in a row, which eject a replica for a model
	checksToFail    = 2
	firstEjection   = 10 * time.Second
	longestEjection = 5 * time.Minute
	probeWait       = 10 * time.Second // for the answer to a probe, until there is another one
	longestAside    = 10 * time.Minute // whatever a replica asks for: a wrong value must not take it out for long
	mostLimits      = 4096             // of one replica, for tenants and models
	longestNames    = 1024             // bytes of a model and a path for which these are held
	lately          = time.Minute
)

// limited is what a refusal or a failure of one replica is about, beside that replica. Without a tenant it is about all of them. The path is of
// failures only: an engine may serve a model at some paths alone.
type limited struct{ Tenant, Model, Path string }

// isLong reports whether the names are too long to be held: a client chooses those of a request that passes through, and thousands are held.
func (l limited) isLong() bool { return len(l.Model)+len(l.Path) > longestNames }

// board decides which replicas get requests, from what is observed of each: health checks, the outcomes of requests, and how long it asked to
// be left alone. It has no clock and no goroutine: time is an argument of every call. It is safe for concurrent use.
//
//   - Two failed checks in a row take a replica out, the next good one brings it back.
//   - Five failed requests in a row eject it, and two in a row for one model at one path eject it for these, for 10 seconds, and for twice as
//     long each time that it fails again at once, up to 5 minutes. Then one request at a time shows whether it works again. The last one that
//     is left is not ejected, nor is one whose failures are all of one tenant's requests while it answers others: a client could make an
//     engine fail by what it asks.
//   - A good check ends no ejection, unless the process was gone: an engine that lists its models may fail each request.
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
	drained bool
	down    bool                // by the checks
	gone    bool                // it refused a connection, and has not answered since
	misses  int                 // failed checks in a row
	all     streak              // of all requests
	failing map[limited]*streak // of a model and a path, without a tenant
	served  [2]success          // of the two tenants with the last good answers, the last one in front
	aside   time.Time
	limits  map[limited]time.Time
	back    time.Time // when it came back, from which its share grows
	alive   time.Time // of its last answer or good check
}

// streak is failed requests in a row, and the ejections that followed.
type streak struct {
	failures int
	blamed   string // the tenant of the failures; with mixed, they are of several, or of none in particular
	mixed    bool
	level    int       // ejections, each soon after the one before
	ejected  time.Time // until then
	probing  bool      // no answer has shown since that it works again
	probed   time.Time // when a request was sent last to see that
}

// failed counts a failure with a request of a tenant.
func (s *streak) failed(tenant string) {
	if s.failures++; s.failures == 1 {
		s.blamed, s.mixed = tenant, tenant == ""
	}
	s.mixed = s.mixed || tenant != s.blamed
}

// isOut reports whether it keeps requests away: an ejection lasts, or a probe is under way after it.
func (s *streak) isOut(now time.Time) bool {
	return now.Before(s.ejected) || s.probing && now.Sub(s.probed) < probeWait
}

// eject begins an ejection, after which the next failure begins another one, and returns how long it lasts.
func (s *streak) eject(now time.Time, after int) (ejected time.Duration) {
	if now.Sub(s.ejected) > longestEjection {
		s.level = 0
	}
	ejected = min(time.Duration(float64(firstEjection)*math.Pow(2, float64(s.level))), longestEjection)
	s.level = min(s.level+1, 10)
	s.failures, s.ejected, s.probing = after-1, now.Add(ejected), true
	return ejected
}

// sent notes a request, which is a probe after an ejection.
func (s *streak) sent(now time.Time) {
	if s.probing && !now.Before(s.ejected) {
		s.probed = now
	}
}

// succeeded notes an answer, and reports whether nothing is left to know.
func (s *streak) succeeded(now time.Time) (over bool) {
	s.failures, s.probing = 0, false
	return now.Sub(s.ejected) > longestEjection
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
	if m.down || m.all.isOut(now) || now.Before(m.aside) || m.limitedLocked(now, limit) || m.failsLocked(now, limit) {
		return 0
	}
	from := laterOf(m.back, m.all.ejected)
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

// ofLocked returns the failures of the model and path of limit, nil if there are none.
func (m *memberHealth) ofLocked(limit limited) *streak {
	if len(m.failing) == 0 {
		return nil
	}
	return m.failing[limited{Model: limit.Model, Path: limit.Path}]
}

// failsLocked reports whether the member is ejected for the model and path of limit.
func (m *memberHealth) failsLocked(now time.Time, limit limited) bool {
	s := m.ofLocked(limit)
	return s != nil && s.isOut(now)
}

// sent notes that a request is sent to a member. Where it is the first one after an ejection, the others wait for what becomes of it.
func (b *board) sent(now time.Time, i int, limit limited) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := &b.members[i]
	m.all.sent(now)
	if s := m.ofLocked(limit); s != nil {
		s.sent(now)
	}
}

func (m *memberHealth) limitedLocked(now time.Time, limit limited) bool {
	if len(m.limits) == 0 {
		return false
	}
	for _, l := range [2]limited{{Tenant: limit.Tenant, Model: limit.Model}, {Model: limit.Model}} {
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

// succeeded notes that an answer of a member to a request of limit has ended as it should.
func (b *board) succeeded(now time.Time, i int, limit limited) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := &b.members[i]
	m.all.succeeded(now)
	if s := m.ofLocked(limit); s != nil && s.succeeded(now) {
		delete(m.failing, limited{Model: limit.Model, Path: limit.Path})
	}
	if m.served[0].tenant != limit.Tenant {
		m.served[1] = m.served[0]
	}
	m.served[0] = success{limit.Tenant, now}
}

// returnedLocked notes that a member has answered. If it had been gone, it is another process now, which has not failed.
func (m *memberHealth) returnedLocked(now time.Time) {
	if m.gone {
		m.gone, m.back = false, now
		m.all, m.failing = streak{}, nil
	}
}

// failed notes that a request of limit failed at a member in a way that may be its own fault, and returns for how long that ejects it, 0 if it
// does not; ofModel: for the model and path of limit alone. The tenant of limit is "" where no request could cause the failure.
func (b *board) failed(now time.Time, i int, limit limited) (ejected time.Duration, ofModel bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failedLocked(now, i, limit, limit.Tenant)
}

// lacks is failed for a member that has not the model of limit, as another one has. That is so for each tenant; but a tenant chooses what models it
// asks for, and so it alone is blamed for all requests.
func (b *board) lacks(now time.Time, i int, limit limited) (ejected time.Duration, ofModel bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failedLocked(now, i, limit, "")
}

// failedLocked blames the tenant of limit for all requests, and another one for those of the model.
func (b *board) failedLocked(now time.Time, i int, limit limited, forModel string) (ejected time.Duration, ofModel bool) {
	m := &b.members[i]
	m.all.failed(limit.Tenant)
	about := limited{Model: limit.Model, Path: limit.Path}
	if len(b.members) == 1 {
		about = limited{}
	}
	s := m.failingLocked(now, about)
	s.failed(forModel)
	if m.blamesLocked(now, &m.all, failuresToEject) && !now.Before(m.all.ejected) && !b.lastLocked(now, i, limited{}) {
		ejected = m.all.eject(now, failuresToEject)
	}
	if m.blamesLocked(now, s, failuresOfModel) && !now.Before(s.ejected) && !b.lastLocked(now, i, about) {
		if d := s.eject(now, failuresOfModel); ejected == 0 {
			return d, true
		}
	}
	return ejected, false
}

// failingLocked returns the streak of a model and a path. One that there is no room for is counted by nobody, as is one of no model or of
// one with a long name.
func (m *memberHealth) failingLocked(now time.Time, about limited) *streak {
	s := m.failing[about]
	if s != nil {
		return s
	}
	if s = new(streak); about.Model == "" || about.isLong() {
		return s
	}
	if len(m.failing) >= mostLimits {
		maps.DeleteFunc(m.failing, func(_ limited, s *streak) bool { return !s.isOut(now) })
	}
	if len(m.failing) < mostLimits {
		if m.failing == nil {
			m.failing = map[limited]*streak{}
		}
		m.failing[about] = s
	}
	return s
}

// blamesLocked reports whether so many requests in a row failed that it is no tenant's doing.
func (m *memberHealth) blamesLocked(now time.Time, s *streak, failures int) bool {
	return s.failures >= failures && (s.mixed || !m.servesLocked(now, s.blamed))
}

// lastLocked reports whether no member but i works for a model and a path.
func (b *board) lastLocked(now time.Time, i int, about limited) bool {
	for j := range b.members {
		if m := &b.members[j]; j != i && !m.down && !m.gone && !m.drained && !m.all.isOut(now) && !m.failsLocked(now, about) {
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
	limit.Path = ""
	if len(m.limits) >= mostLimits {
		maps.DeleteFunc(m.limits, func(_ limited, until time.Time) bool { return !now.Before(until) })
	}
	if _, known := m.limits[limit]; !known && len(m.limits) >= mostLimits || limit.isLong() {
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
	return !m.down && m.misses == 0 && !m.gone && m.all.failures == 0 && m.alive.After(since)
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
	Ejected  Condition = "ejected"  // its requests failed, of all models or of one, and none was answered since
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
	Failures  int       // failed requests in a row, of all or of a model for which it is ejected
	Limits    int       // tenants and models for which it is set aside or ejected
}

// health returns the health of a member.
func (b *board) health(now time.Time, i int) Health {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := &b.members[i]
	s := Health{Condition: Up, Failures: m.all.failures}
	for _, until := range m.limits {
		if now.Before(until) {
			s.Limits++
		}
	}
	ejected := m.all.ejected
	for _, f := range m.failing {
		if f.isOut(now) {
			s.Limits++
			if s.Failures = max(s.Failures, f.failures); m.blamesLocked(now, &m.all, failuresToEject-1) { // and it answers nothing else
				ejected = laterOf(ejected, f.ejected)
			}
		}
	}
	s.Share = b.shareLocked(m, now, limited{})
	switch {
	case m.drained:
		s.Condition, s.Share = Draining, 0
	case m.down:
		s.Condition = Down
	case now.Before(ejected):
		s.Condition, s.Until = Ejected, ejected
	case now.Before(m.aside):
		s.Condition, s.Until = SetAside, m.aside
	case m.gone || m.blamesLocked(now, &m.all, failuresToEject):
		s.Condition = Failing
	case s.Share < 1:
		s.Condition = Starting
	}
	return s
}
