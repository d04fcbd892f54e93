package upstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// ErrOverloaded says that a request got no upstream call: too many are under way or wait.
var ErrOverloaded = errors.New("too many upstream calls")

// Concurrency bounds how many calls one replica gets at once. Twice as many requests wait for a call, each tenant's in the order in
// which they came, the tenants in turns.
type Concurrency struct {
	Calls     int           // at once; default 1024, negative: no limit
	PerTenant int           // of Calls, for one tenant; default three quarters of Calls, negative: no limit of its own
	Wait      time.Duration // for a call; default 30s
}

// DefaultCalls is the default of Concurrency.Calls.
const DefaultCalls = 1024

func (c Concurrency) withDefaults() Concurrency {
	c.Calls, c.Wait = cmp.Or(c.Calls, DefaultCalls), cmp.Or(c.Wait, 30*time.Second)
	switch {
	case c.PerTenant != 0:
	case c.Calls < 0:
		c.PerTenant = -1
	default:
		c.PerTenant = max(c.Calls*3/4, 1)
	}
	return c
}

// limiter holds a replica to its Concurrency. It is safe for concurrent use.
type limiter struct {
	mu      sync.Mutex // guards what follows and every share
	bounds  Concurrency
	running int
	queued  int
	refused int64
	shares  map[string]*share // of the tenants with calls or waiters
	turns   []*share          // of the tenants with waiters; the first one is next
}

// share is what one tenant has of a limiter.
type share struct {
	running int
	waiting []chan struct{} // each is closed when its turn has come
}

func newLimiter(c Concurrency) *limiter {
	return &limiter{bounds: c.withDefaults(), shares: map[string]*share{}}
}

// acquire waits for a call. The caller must release it, unless there is an error: ctx's, or one that wraps ErrOverloaded.
func (l *limiter) acquire(ctx context.Context, tenant string) error {
	turn, wait, err := l.join(tenant)
	if turn == nil {
		return err
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-timer.C:
		err = fmt.Errorf("%w: none became free for this request within %v", ErrOverloaded, wait)
	}
	return l.giveUp(tenant, turn, err)
}

// join begins a call, refuses it, or returns the turn to wait for.
func (l *limiter) join(tenant string) (turn chan struct{}, wait time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.shares[tenant]
	if s == nil {
		s = &share{}
		l.shares[tenant] = s
	}
	most, perTenant := l.bounds.Calls, l.bounds.PerTenant
	if l.freeLocked(s) { // no request waits that could run
		l.running++
		s.running++
		return nil, 0, nil
	}
	if most > 0 && l.queued >= 2*most || perTenant > 0 && len(s.waiting) >= 2*perTenant {
		l.refused++
		l.tidyLocked(tenant, s)
		return nil, 0, fmt.Errorf("%w: %d are under way and %d requests wait", ErrOverloaded, l.running, l.queued)
	}
	turn = make(chan struct{})
	l.queued++
	if s.waiting = append(s.waiting, turn); len(s.waiting) == 1 {
		l.turns = append(l.turns, s)
	}
	return turn, l.bounds.Wait, nil
}

// freeLocked reports whether s may begin a call.
func (l *limiter) freeLocked(s *share) bool {
	return (l.bounds.Calls < 0 || l.running < l.bounds.Calls) && (l.bounds.PerTenant < 0 || s.running < l.bounds.PerTenant)
}

// isFree reports whether a call of tenant would begin at once.
func (l *limiter) isFree(tenant string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.shares[tenant]
	if s == nil {
		s = &share{}
	}
	return l.freeLocked(s)
}

// tidyLocked forgets a share that has become empty.
func (l *limiter) tidyLocked(tenant string, s *share) {
	if s.running == 0 && len(s.waiting) == 0 {
		delete(l.shares, tenant)
	}
}

// giveUp leaves the queue because of err. If the turn has come meanwhile, a request that is still wanted takes it.
func (l *limiter) giveUp(tenant string, turn chan struct{}, err error) error {
	l.mu.Lock()
	s := l.shares[tenant]
	i := slices.Index(s.waiting, turn)
	if i < 0 { // its turn has come
		l.mu.Unlock()
		if errors.Is(err, ErrOverloaded) {
			return nil
		}
		l.release(tenant)
		return err
	}
	defer l.mu.Unlock()
	l.queued--
	if s.waiting = slices.Delete(s.waiting, i, i+1); len(s.waiting) == 0 {
		l.turns = slices.DeleteFunc(l.turns, func(other *share) bool { return other == s })
	}
	l.tidyLocked(tenant, s)
	if errors.Is(err, ErrOverloaded) {
		l.refused++
	}
	return err
}

// release ends a call of tenant.
func (l *limiter) release(tenant string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.shares[tenant]
	l.running--
	s.running--
	l.admitLocked()
	l.tidyLocked(tenant, s)
}

// set changes the bounds. Calls that are under way go on, also where they are more.
func (l *limiter) set(c Concurrency) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bounds = c.withDefaults()
	l.admitLocked()
}

// admitLocked begins the calls of those whose turn it is, as many as there is room for.
func (l *limiter) admitLocked() {
	for {
		i := slices.IndexFunc(l.turns, l.freeLocked)
		if i < 0 {
			return
		}
		s := l.turns[i]
		close(s.waiting[0])
		l.running++
		s.running++
		l.queued--
		s.waiting = slices.Delete(s.waiting, 0, 1)
		if l.turns = slices.Delete(l.turns, i, i+1); len(s.waiting) > 0 {
			l.turns = append(l.turns, s)
		}
	}
}

// Load is how busy the replicas are.
type Load struct {
	Calls, Sockets, Queued int
	Refused                int64 // since the start
}

// Load returns the sum over the replicas.
func (c *Client) Load() (sum Load) {
	for _, r := range c.replicas {
		calls, queuedCalls, refusedCalls := r.calls.load()
		sockets, queuedSockets, refusedSockets := r.sockets.load()
		sum.Calls += calls
		sum.Sockets += sockets
		sum.Queued += queuedCalls + queuedSockets
		sum.Refused += refusedCalls + refusedSockets
	}
	return sum
}

func (l *limiter) load() (running, queued int, refused int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.running, l.queued, l.refused
}

// SetConcurrency changes the bounds of each replica.
func (c *Client) SetConcurrency(bounds Concurrency) {
	for _, r := range c.replicas {
		r.calls.set(bounds)
		r.sockets.set(bounds)
	}
}
