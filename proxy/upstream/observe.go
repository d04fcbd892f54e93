package upstream

import (
	"net/http"
	"strconv"
	"time"

	"reprise/proxy/upstream/kvevents"
	"reprise/proxy/upstream/prefix"
)

// failed counts a failure of a replica with a request of limit, without a tenant where no request could cause it.
func (c *Client) failed(now time.Time, r *Replica, limit limited, why error) {
	fault := why.Error()
	r.fault.Store(&fault)
	count := c.board.failed
	if why == errNoModel {
		count = c.board.lacks
	}
	switch ejected, ofModel := count(now, r.place, limit); {
	case ejected == 0:
		return
	case ofModel:
		c.log.Warn("an upstream fails for a model, and gets no requests for it for a while", "upstream", r.Name(), "model", limit.Model, "path", limit.Path, "for", ejected, "last_error", why)
	default:
		c.log.Warn("an upstream fails again and again, and gets no requests for a while", "upstream", r.Name(), "for", ejected, "last_error", why)
	}
	r.counts.ejections.Add(1)
}

// gone notes that no process listens at a replica: what its KV cache held is lost.
func (c *Client) gone(r *Replica) {
	if c.board.nowGone(r.place) {
		c.fleet.Cleared(r.place)
		c.checks.soon()
	}
}

// retryAfter is how long the sender of an answer wants to be left alone, 0 if it has not said so.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e9 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	given := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(given, 64); err == nil {
		if s > 0 && s < 1e6 {
			return time.Duration(s * float64(time.Second))
		}
		return 0
	}
	if at, err := http.ParseTime(given); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// Status is what is known of one upstream at a moment.
type Status struct {
	Name   string
	Target Target
	Health Health
	Fault  string // why the last of Health.Failures failed; "" where that is 0
	Load   prefix.Load
	Events kvevents.Stats // zero where it publishes none
	Counts Counts
}

// Cached returns how many tokens of the prefix of a request each upstream should have in its cache, in their order.
func (c *Client) Cached(chain *prefix.Chain) []int { return c.fleet.Cached(chain) }

// Upstreams returns the status of every upstream, in their order.
func (c *Client) Upstreams() []Status {
	loads, now := c.fleet.Loads(), c.now()
	all := make([]Status, len(c.replicas))
	for i, r := range c.replicas {
		all[i] = Status{Name: r.Name(), Target: r.target, Health: c.board.health(now, i), Load: loads[i], Counts: r.counts.now()}
		all[i].Target.Key = ""
		if r.events != nil {
			all[i].Events = r.events.Stats()
		}
		if fault := r.fault.Load(); fault != nil && all[i].Health.Failures > 0 {
			all[i].Fault = *fault
		}
	}
	return all
}

// Drain makes an upstream get only requests that need what it holds, or with false all others again. It reports whether there is such an
// upstream, and others beside it.
func (c *Client) Drain(name string, drained bool) (ok bool) {
	for i, r := range c.replicas {
		if r.Name() == name && !c.alone {
			c.board.drain(c.now(), i, drained)
			c.log.Info("an operator has set whether an upstream is drained", "upstream", name, "drained", drained)
			return true
		}
	}
	return false
}
