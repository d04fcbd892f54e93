// Package upstream sends requests to the engines behind the proxy, and shares one answer among all who asked for it.
//
//   - A [Target] is an upstream as an operator describes it, a [Replica] what sends requests there: with its credential, its dialect and
//     the fields that it refuses.
//   - Of several, package choose chooses the replica of each request, among those that package health allows, that serve the model, and
//     that hold what the request names by an id (package sticky). A replica that refused a request without having worked on it is
//     followed by another one. One replica needs none of this, and pays for none.
//   - [Client.Call] sends one request of the cached path and returns the answer as it begins; [Client.PassThrough] forwards
//     requests and answers as they are. Both use the same choice, header rules, transport and limits.
//   - A [Flight] is one upstream call that all callers of one key wait for; [Flights] holds one per key.
//   - A [Recording] is an answer while it is written, read by all waiters of a flight from its start.
//
// The package does not depend on the cache: the outcome of a flight is a type of the caller's, and so is the use of a finished
// recording.
package upstream

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"sync/atomic"
	"time"

	"reprise/proxy/tracing"
	"reprise/proxy/upstream/choose"
	"reprise/proxy/upstream/dialect"
	"reprise/proxy/upstream/health"
	"reprise/proxy/upstream/prefix"
	"reprise/proxy/upstream/sticky"
	"reprise/proxy/upstream/worth"
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
	Measured  func(off float64) // called with the share of a prompt that was cached, less the share that was predicted; it must not wait. Default: nothing

	Chooser choose.Chooser // of one of several replicas; default choose.Default
	Seed    uint64         // of what proxies must agree on, with the names of the targets, to choose alike without shared state
	Leaders int            // tokens of a cold prefix from which one of several requests that share it goes first; 0: none does

	Breakpoints bool // Request.Rate decides whether the end of a prefix is marked for a short life
	Retention   bool // and whether a long one is asked for, or none

	SlowStart      time.Duration // in which the share of a replica that is back grows; default 30s, negative: it has a full one at once
	HealthInterval time.Duration // between two checks of one of several replicas; default 5s, negative: none is made
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
	measured  func(off float64)

	breakpoints, retention bool // as in Options

	modelMatters bool // for the choice, or for what is sent

	fleet      *choose.Fleet
	leaderWait time.Duration
	alone      bool // there is one replica: it gets every request, and its health is only shown
	board      *health.Board
	table      *sticky.Table // nil: there is one replica
	checks     checks

	learning learning
}

// New returns a client for o, which the caller must close.
func New(o Options) (*Client, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	c := &Client{limits: o.Limits.WithDefaults(), transport: o.Transport, log: o.Logger, now: o.Now, measured: o.Measured, leaderWait: longestLead,
		breakpoints: o.Breakpoints, retention: o.Retention}
	if c.now == nil {
		c.now = time.Now
	}
	members := make([]choose.Member, len(o.Replicas))
	for i, t := range o.Replicas {
		r := newReplica(t, o.Bounds, c.now)
		r.place, r.own = i, t.Key != "" || t.Fallback && !sharesHost(&t, o.Replicas)
		c.replicas = append(c.replicas, r)
		c.modelMatters = c.modelMatters || i > 0 || len(t.Models) > 0
		members[i] = choose.Member{Name: t.name(), Capacity: t.Capacity}
	}
	c.SetKeys(o.Key, o.Replicas)
	c.fleet = choose.NewFleet(members, choose.Options{Chooser: o.Chooser, Seed: o.Seed, Leaders: o.Leaders})
	if c.transport == nil {
		c.transport = NewTransport(c.limits)
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if c.alone = len(c.replicas) == 1; c.alone {
		c.board = health.New(1, 0)
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
	c.board, c.table = health.New(len(c.replicas), cmp.Or(o.SlowStart, 30*time.Second)), sticky.NewTable()
	for i := range o.Replicas {
		if o.Replicas[i].Drain {
			c.board.Drain(c.now(), i, true)
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

// ModelMatters reports whether the model of a request decides which replica it is sent to, or what is sent.
func (c *Client) ModelMatters() bool { return c.modelMatters }

// SetKeys replaces Options.Key, and the keys of targets that have one of their own, for requests sent from now on. targets are those of
// Options with other keys.
func (c *Client) SetKeys(key string, targets []Target) {
	for i, r := range c.replicas {
		if r.own {
			r.secret.Store(&targets[i].Key)
		} else {
			r.secret.Store(&key)
		}
	}
}

// SetForwarded names the headers that every client may set although they steer the parts of a serving system, such as the rank that
// computes a request. Of the others a client's value is not sent, except to a target with Trust.
func (c *Client) SetForwarded(names []string) {
	forwarded := map[string]bool{}
	for _, name := range names {
		forwarded[http.CanonicalHeaderKey(name)] = true
	}
	for _, r := range c.replicas {
		r.forwarded.Store(&forwarded)
	}
}

// Request is one request to be sent.
type Request struct {
	Tenant   string         // whose share of the replica's calls is used
	Original *http.Request  // the client's own: method, URL and header; its body is not read
	Body     []byte         // what is sent as the body, before the model's name is mapped and the dialect edits it
	Model    string         // that the body asks for; "": unknown
	Chain    *prefix.Chain  // of the body, used during the call only; nil: the replica is chosen by load
	Want     dialect.Intent // what the proxy wants besides the client's request, except for how long the prefix is kept
	Rate     float64        // at which requests with its tools and system prompt are sent, per second, which decides that; 0: it is not decided
	Span     *tracing.Span  // of the request, whose trace the replica continues; nil: there is none
}

// Reply is a replica's answer, whose body is still to be read.
type Reply struct {
	*http.Response
	Replica *Replica
	Added   []dialect.Field // fields that the proxy added to the body which was answered
	Foreign bool            // it is the answer of another model than the one asked for
	// Measured says that the tokens that the answer reports are counted when its body is closed; else the caller passes them to Replica.Reported.
	Measured bool
	Span     *tracing.Span // of the call, which the caller ends; nil: there is none
}

// Call sends r to a replica and returns its answer, whose body ends with ErrIdle when the replica sends nothing for too
// long. Where an error answer names a field that the dialect has added, the request is sent again without any, and if it is not refused
// then, the field is not added again for a while. Where the replica has as many calls as it may, it waits for one; see [Concurrency]. A replica that refuses the
// request before it has worked on it is followed by another one; where none is left, its answer is the result.
func (c *Client) Call(ctx context.Context, r Request) (*Reply, error) {
	p := picking{c: c, method: r.Original.Method, path: r.Original.URL.Path, header: r.Original.Header, body: r.Body, tenant: r.Tenant, model: r.Model, chain: r.Chain, span: r.Span}
	defer p.abandon() // unless the answer has its ticket
	for t := p.first(ctx); ; {
		reply, err := c.ask(ctx, t, r)
		if next, again := p.next(ctx, t, reply, err, nil); again {
			p.hold(reply)
			t.replica.counts.passed.Add(1)
			t = next
			continue
		}
		if reply, err = p.last(reply, err); err == nil {
			c.watch(ctx, &p, reply)
		}
		return reply, err
	}
}

// ask sends r to the replica of t.
func (c *Client) ask(ctx context.Context, t turn, r Request) (*Reply, error) {
	replica, foreign, asked := t.replica, t.replica.foreign(r.Model), r.Model
	r.Body, r.Model = replica.mapped(r.Body, r.Model)
	if r.Rate > 0 {
		r.Want.Retain = worth.Decide(r.Rate, replica.terms(r.Model, asked, c))
	}
	edits := replica.edit(r, asked)
	c.hints.edited(replica, &edits)
	resp, span, err := c.send(ctx, replica, r, edits)
	if err == nil && len(edits.Added) > 0 && refuses(resp.StatusCode) {
		if named := namedIn(resp, edits.Added); len(named) > 0 {
			resp.Body.Close()
			span.End()
			r.Want = dialect.Intent{}
			edits = replica.edit(r, asked)
			if resp, span, err = c.send(ctx, replica, r, edits); err == nil && !refuses(resp.StatusCode) {
				c.refused(replica, r.Model, named)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return &Reply{Response: resp, Replica: replica, Added: edits.Added, Foreign: foreign, Span: span}, nil
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

// LifeOf is how long the upstreams of c that serve a model keep a prefix without a use, the shortest of them; 0: none forgets by time, as far
// as is known.
func LifeOf(c *Client, model string) (life time.Duration) {
	for _, r := range c.replicas {
		mapped, serves := r.target.serves(model)
		if l := cmp.Or(r.dialect.Caps(mapped), r.dialect.Caps(model)).Life; serves && l > 0 && (life == 0 || l < life) {
			life = l
		}
	}
	return life
}

// namedIn returns those of the added fields that an error answer names. If it names none, resp is as before.
func namedIn(resp *http.Response, added []dialect.Field) (named []dialect.Field) {
	head, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err == nil {
		named = dialect.Named(head, added)
	}
	if len(named) == 0 {
		resp.Body = &prefixedBody{Reader: io.MultiReader(bytes.NewReader(head), resp.Body), Closer: resp.Body}
	}
	return named
}

// refused notes that a request for model was refused because of fields, as it was not refused without them. An answer that merely names
// a field shows less: clients can have an upstream name any.
func (c *Client) refused(replica *Replica, model string, fields []dialect.Field) {
	for _, field := range fields {
		c.hints.numbers(replica, string(field)).refused.Add(1)
		if replica.refused.add(refusedField{model, field}) {
			c.log.Warn("the upstream refuses a field that the proxy adds; requests for the model are sent without it for a while",
				"upstream", replica.Name(), "model", model, "field", string(field), "for", quarantineFor)
		}
	}
}

// prefixedBody is a body whose first bytes have been read already.
type prefixedBody struct {
	io.Reader
	io.Closer
}

// send posts the client's request r to replica, with the edits of its dialect. Where there is an answer, the caller ends the span of the call.
func (c *Client) send(ctx context.Context, replica *Replica, r Request, edits dialect.Edits) (resp *http.Response, span *tracing.Span, err error) {
	if err := replica.queue(ctx, r.Tenant, r.Span); err != nil {
		return nil, nil, err
	}
	t := newTrip(ctx, c.limits, nil)
	defer func() {
		if resp == nil { // also after a panic
			t.end()
			replica.calls.release(r.Tenant)
		}
	}()
	out := (&http.Request{Method: r.Original.Method, URL: replica.url(r.Original.URL), Header: replica.requestHeader(r.Original.Header),
		ContentLength: int64(len(edits.Body))}).WithContext(t.ctx)
	out.Host = out.URL.Host
	maps.Copy(out.Header, edits.Header)
	span = replica.called(r.Span, out.Method, r.Model, out.Header)
	body := edits.Body
	out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	out.Body, _ = out.GetBody()
	resp, err = t.send(c.transport, out)
	if traced(span, resp, err); err != nil {
		return nil, nil, err
	}
	resp.Body = &callBody{ReadCloser: resp.Body, calls: replica.calls, tenant: r.Tenant}
	return resp, span, nil
}

// callBody is the body of an answer. When it is closed, the call of tenant has ended.
type callBody struct {
	io.ReadCloser
	calls    *limiter
	tenant   string
	lent     *borrowedBody // of the request; nil: that can be had again
	released atomic.Bool
}

func (b *callBody) Close() error {
	err := b.ReadCloser.Close()
	if b.lent != nil {
		b.lent.Close()
	}
	b.release()
	return err
}

// release ends the call, but not the answer.
func (b *callBody) release() {
	if !b.released.Swap(true) {
		b.calls.release(b.tenant)
	}
}
