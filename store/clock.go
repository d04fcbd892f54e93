package store

import (
	"sync"
	"time"

	"reprise/policy"
)

// clock numbers the requests and gives each its time.
type clock struct {
	now    func() time.Time
	opened time.Time

	mu       sync.Mutex // protects the rest
	seq      int64      // number of the last request
	base, at float64    // seconds: the time at opened, and the time of the last tick
}

func newClock(now func() time.Time) *clock {
	c := &clock{now: now, opened: now()}
	c.base = float64(c.opened.UnixNano()) / 1e9
	return c
}

// tick numbers a request. The time never decreases, whatever now does.
func (c *clock) tick() policy.Tick {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seq++
	c.at = max(c.at, c.base+now.Sub(c.opened).Seconds())
	return policy.Tick{Seq: c.seq, At: c.at}
}

// last returns the last tick again.
func (c *clock) last() policy.Tick {
	c.mu.Lock()
	defer c.mu.Unlock()
	return policy.Tick{Seq: c.seq, At: c.at}
}

// resume continues after a tick from before a restart, or of another process.
func (c *clock) resume(t policy.Tick) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seq, c.base = max(c.seq, t.Seq), max(c.base, t.At)
	c.at = max(c.at, c.base)
}
