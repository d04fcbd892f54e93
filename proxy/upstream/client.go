// Package upstream sends requests to the engines behind the proxy, and shares one answer among all who asked for it.
//
//   - A [Target] is an upstream as an operator describes it, a [Replica] what sends requests there: with its credential, its dialect and
//     the fields that it refuses.
//   - [Client.Call] sends one request of the cached path and returns the answer as it begins; [Client.PassThrough] forwards
//     requests and answers as they are. Both are the same loop over replicas, which is drawn in call.go with its bounds. Package prefix
//     chooses a replica, among those whose health (health.go) allows it, that serve the model, and that hold what the request names by an
//     id (sticky.go). A single replica needs none of this, and pays for none.
//   - A trip is one sending to one replica, with its time limits; it ends when the body of its answer is closed.
//   - [Transport] keeps the connections: those for short requests without TLS are package direct's, all others net/http's.
//   - A [Flight] is one upstream call that all callers of one key wait for; [Flights] holds one per key.
//   - A [Recording] is an answer while it is written, read by all waiters of a flight from its start.
//
// The package does not depend on the cache: the outcome of a flight is a type of the caller's, and so is the use of a finished
// recording.
package upstream

import (
	"cmp"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"reprise/proxy/upstream/dialect"
	"reprise/proxy/upstream/prefix"
)

// Options configures a Client.
type Options struct {
	Replicas  []Target // at least one
	Key       string   // credential sent in place of the client's own to targets without one; "": the client's own. Fallbacks of another host do not get it
	Limits    Limits
	Bounds    Concurrency       // of each replica
	Transport http.RoundTripper // default NewTransport(Limits)
	Logger    *slog.Logger      // default: none
	Now       func() time.Time  // default time.Now
	Measure   Measure           // of how well what is cached is predicted; default: none

	Chooser prefix.Chooser // of one of several replicas; default prefix.ByPrefix
	Seed    uint64         // of what proxies must agree on, with the names of the targets, to choose alike without shared state
	Leaders int            // tokens of a cold prefix from which one of several requests that share it goes first; 0: none does

	Breakpoints bool // Request.Rate decides whether the end of a prefix is marked for a short life
	Retention   bool // and whether a long one is asked for, or none

	SlowStart      time.Duration // in which the share of a replica that is back grows; default 30s, negative: it has a full one at once
	HealthInterval time.Duration // between two checks of one of several replicas; default 5s, negative: none is made
}

// Measure takes numbers, and does not wait.
type Measure interface {
	// Observe takes the share of a prompt that was cached, less the share that was predicted.
	Observe(off float64)
}

// Validate returns what is wrong with o, in words for an operator.
func (o Options) Validate() error {
	if len(o.Replicas) == 0 {
		return errors.New("an upstream URL is required")
	}
	var errs []error
	for i := range o.Replicas {
		errs = append(errs, o.Replicas[i].validate())
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return validateTargets(o.Replicas)
}

// Client sends requests to replicas. It is safe for concurrent use.
type Client struct {
	replicas  []*Replica
	limits    Limits
	transport http.RoundTripper
	log       *slog.Logger
	now       func() time.Time
	hints     hintCounts
	measure   Measure // nil: none

	breakpoints, retention bool // as in Options

	modelMatters bool // for the choice, or for what is sent
	strips       bool // a replica must not get all members that a client may have set

	fleet      *prefix.Fleet
	leaderWait time.Duration
	alone      bool // there is one replica: it gets every request, and its health is only shown
	board      *board
	table      *idTable // nil: there is one replica
	checks     checks

	learning learning
}

// New returns a client for o, which the caller must close.
func New(o Options) (*Client, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	c := &Client{limits: o.Limits.WithDefaults(), transport: o.Transport, log: o.Logger, now: o.Now, measure: o.Measure, leaderWait: longestLead,
		breakpoints: o.Breakpoints, retention: o.Retention}
	if c.now == nil {
		c.now = time.Now
	}
	members := make([]prefix.Member, len(o.Replicas))
	for i, t := range o.Replicas {
		r := newReplica(t, o.Bounds)
		r.place, r.own = i, t.Key != "" || t.Fallback && !sharesHost(&t, o.Replicas)
		c.replicas = append(c.replicas, r)
		c.modelMatters = c.modelMatters || i > 0 || len(t.Models) > 0
		c.strips = c.strips || r.strips()
		members[i] = prefix.Member{Name: t.name(), Capacity: t.Capacity}
	}
	c.SetKeys(o.Key, o.Replicas)
	c.fleet = prefix.NewFleet(members, prefix.FleetOptions{Chooser: o.Chooser, Seed: o.Seed, Leaders: o.Leaders})
	if c.transport == nil {
		c.transport = NewTransport(c.limits)
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if c.alone = len(c.replicas) == 1; c.alone {
		c.board = newBoard(1, 0)
	} else {
		c.share(o)
	}
	if err := c.learning.learn(c); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// share prepares the choice among several replicas.
func (c *Client) share(o Options) {
	c.board, c.table = newBoard(len(c.replicas), cmp.Or(o.SlowStart, 30*time.Second)), newIDTable()
	for i := range o.Replicas {
		if o.Replicas[i].Drain {
			c.board.drain(c.now(), i, true)
		}
	}
	if interval := cmp.Or(o.HealthInterval, 5*time.Second); interval > 0 {
		c.checks.begin(c, interval)
	}
}

// Close ends the health checks and what else goes on beside requests. Those go on.
func (c *Client) Close() {
	c.checks.close()
	c.learning.close()
}

// BodyMatters reports whether the body of a request decides which replica it is sent to, or what is sent of it.
func (c *Client) BodyMatters() bool { return c.modelMatters || c.strips }

// SetKeys replaces Options.Key, and the keys of targets that have one of their own, for requests sent from now on. targets has the
// targets of Options in their order, with other keys.
func (c *Client) SetKeys(key string, targets []Target) {
	for i, r := range c.replicas {
		if r.own {
			r.secret.Store(&targets[i].Key)
		} else {
			r.secret.Store(&key)
		}
	}
}

// terms are the terms of the replica for a model, of which clients ask under another name, as far as the proxy makes use of them.
func (r *Replica) terms(model, asked string, o *Client) dialect.Caps {
	t := cmp.Or(r.dialect.Caps(model), r.dialect.Caps(asked))
	if !o.breakpoints {
		t.Life = 0
	}
	if !o.retention {
		t.LifeLong, t.Always = 0, false
	}
	return t
}

// Life is how long the upstreams of c that serve a model keep a prefix without a use, the shortest of them; 0: none forgets by time, as far
// as is known.
func (c *Client) Life(model string) (life time.Duration) {
	for _, r := range c.replicas {
		mapped, serves := r.target.serves(model)
		if l := cmp.Or(r.dialect.Caps(mapped), r.dialect.Caps(model)).Life; serves && l > 0 && (life == 0 || l < life) {
			life = l
		}
	}
	return life
}
