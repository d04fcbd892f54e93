package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"reprise/proxy/upstream/choose"
	"reprise/proxy/upstream/health"
	"reprise/proxy/upstream/kvevents"
	"reprise/proxy/upstream/prefix"
	"reprise/proxy/upstream/sticky"
	"reprise/proxy/upstream/usage"
)

// statusOverloaded is what several providers send instead of 503.
const statusOverloaded = 529

// observe notes what became of a request at a replica, and reports whether the replica has refused it without having worked on it: only
// then may it be sent to another one.
func (c *Client) observe(ctx context.Context, p *picking, r *Replica, resp *Reply, err error) (refused bool) {
	now := c.now()
	switch {
	case err != nil && (ctx.Err() != nil || errors.Is(err, ErrOverloaded) || errors.Is(err, errOfBody)): // of the client, or of the proxy
		return false
	case err != nil:
		if errors.Is(err, syscall.ECONNREFUSED) {
			c.gone(r)
		}
		c.failed(now, r, "", err)
		return errors.Is(err, errUnsent)
	}
	switch resp.StatusCode {
	case http.StatusTooManyRequests:
		if wait := retryAfter(resp.Header, now); wait > 0 && !c.alone {
			limit := p.limit()
			if r.key() != "" { // which all tenants share
				limit.Tenant = ""
			}
			c.board.Limited(now, r.place, limit, wait)
		}
		return true
	case http.StatusServiceUnavailable, statusOverloaded:
		c.failed(now, r, p.tenant, fmt.Errorf("status %d", resp.StatusCode))
		if wait := retryAfter(resp.Header, now); wait > 0 && !c.alone {
			c.board.Aside(now, r.place, wait)
		}
		return true
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout:
		c.failed(now, r, p.tenant, fmt.Errorf("status %d", resp.StatusCode))
		return false
	}
	c.board.Begun(now, r.place)
	return false
}

// failed counts a failure of a replica with a request of tenant, "" where no request could cause it.
func (c *Client) failed(now time.Time, r *Replica, tenant string, why error) {
	fault := why.Error()
	r.fault.Store(&fault)
	if ejected := c.board.Failed(now, r.place, tenant); ejected > 0 {
		r.counts.ejections.Add(1)
		c.log.Warn("an upstream fails again and again, and gets no requests for a while", "upstream", r.Name(), "for", ejected, "last_error", why)
	}
}

// gone notes that no process listens at a replica: what its KV cache held is lost.
func (c *Client) gone(r *Replica) {
	if c.board.Gone(r.place) {
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

// watch makes the body of an answer report what becomes of it, where anything depends on that. The ticket of p is the body's from now on.
func (c *Client) watch(ctx context.Context, p *picking, reply *Reply) {
	ticket, evaluated := p.ticket, reply.StatusCode/100 == 2
	p.ticket = nil
	b := &watchedBody{ReadCloser: reply.Body, ctx: ctx, c: c, replica: reply.Replica, evaluated: evaluated, ticket: ticket, tenant: p.tenant,
		works: reply.StatusCode < http.StatusInternalServerError && reply.StatusCode != http.StatusTooManyRequests}
	if evaluated && reply.Replica.events != nil && p.chain != nil {
		b.mark, b.chain = p.mark, &prefix.Chain{Blocks: slices.Clone(p.chain.Blocks), Bytes: p.chain.Bytes}
	}
	if evaluated && c.table != nil {
		b.learning = p.learns()
		if p.id != "" {
			c.table.Add(p.tenant, p.id, reply.Replica.place)
		}
	}
	if b.learning || evaluated && ticket != nil && p.chain != nil && reply.Header.Get("Content-Encoding") == "" {
		b.meter = usage.NewMeter()
		reply.Measured = ticket != nil
	}
	reply.Body = b
}

// learns reports whether the answer names objects that the replica holds.
func (p *picking) learns() bool {
	if p.method == http.MethodPost && sticky.Creates(p.path) {
		return true
	}
	l, ok := sticky.InPath(p.path)
	return ok && l.Path == p.path && p.method != http.MethodDelete
}

// watchedBody is the body of an answer of a replica.
type watchedBody struct {
	io.ReadCloser
	ctx       context.Context // of the request
	c         *Client
	replica   *Replica
	tenant    string
	evaluated bool // the answer is no error
	works     bool // it is no error of the replica
	mark      uint64
	chain     *prefix.Chain // of the request, sent at mark; nil: the events of the replica are of no interest

	mu       sync.Mutex // guards what follows
	ticket   *choose.Ticket
	meter    *usage.Meter // nil: the answer's text is of no interest
	learning bool         // its beginning may have ids
	begun    bool
	closed   bool
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > 0 && !b.closed {
		b.passedLocked(p[:n])
	}
	if err != nil && !b.closed {
		b.endedLocked(err)
	}
	return n, err
}

// endedLocked notes how the answer has ended.
func (b *watchedBody) endedLocked(err error) {
	switch {
	case err == io.EOF && b.works:
		b.c.board.Succeeded(b.c.now(), b.replica.place, b.tenant)
	case err != io.EOF && b.ctx.Err() == nil:
		b.c.failed(b.c.now(), b.replica, b.tenant, err)
	}
}

// passedLocked notes the next bytes of the answer.
func (b *watchedBody) passedLocked(p []byte) {
	if !b.begun {
		b.begun = true
		if b.ticket != nil && b.evaluated {
			b.ticket.Answered()
		}
	}
	if b.meter == nil {
		return
	}
	b.meter.Write(p)
	if b.learning {
		sticky.InAnswer(b.meter.Head(), func(id string) {
			b.c.table.Add(b.tenant, id, b.replica.place)
			b.learning = false
		})
		b.learning = b.learning && len(b.meter.Head()) < cap(b.meter.Head())
	}
}

func (b *watchedBody) Close() error {
	err := b.ReadCloser.Close()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return err
	}
	b.closed = true
	var used usage.Usage
	if b.meter != nil {
		used = b.meter.End()
	}
	switch {
	case b.ticket == nil:
	case b.evaluated:
		b.ticket.Ended(choose.Usage{Prompt: used.Prompt, Cached: used.Cached, Known: used.Known})
		b.replica.measured(b.ticket, used, b.c.measured)
		if b.chain != nil && used.Prompt > 0 {
			b.replica.events.Answered(b.mark, b.chain, used.Prompt)
		}
	default:
		b.ticket.Failed()
	}
	return err
}

// Status is what is known of one upstream at a moment.
type Status struct {
	Name   string
	Target Target
	Health health.State
	Fault  string // why the last of Health.Failures failed; "" where that is 0
	Load   choose.Load
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
		all[i] = Status{Name: r.Name(), Target: r.target, Health: c.board.State(now, i), Load: loads[i], Counts: r.counts.now()}
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
			c.board.Drain(c.now(), i, drained)
			c.log.Info("an operator has set whether an upstream is drained", "upstream", name, "drained", drained)
			return true
		}
	}
	return false
}
