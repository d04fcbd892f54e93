package upstream

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"reprise/proxy/tracing"
	"reprise/proxy/upstream/choose"
	"reprise/proxy/upstream/health"
	"reprise/proxy/upstream/prefix"
	"reprise/proxy/upstream/sticky"
)

// picking is the choice of a replica for one request, and of another one after each that refused it. With one replica it does nothing,
// except that it counts requests that have a chain.
type picking struct {
	c             *Client
	method, path  string
	header        http.Header // the client's
	body          []byte      // "": none, or not read
	tenant, model string
	chain         *prefix.Chain
	span          *tracing.Span // of the request

	bound   bool           // only the replica called member holds what the request names
	member  int            // with bound
	probing bool           // the request is asked of each replica until one has what it names
	id      string         // of that; "": it has none
	asked   []int          // the replicas that refused the request
	ticket  *choose.Ticket // of the present turn; nil: none is counted
	mark    uint64         // of the present turn, among the events of its replica
	held    *Reply         // the last answer of one of those
}

// turn is a request at the replica that was chosen for it.
type turn struct {
	replica *Replica
	ticket  *choose.Ticket // nil: the request is not counted
}

// first chooses the first replica.
func (p *picking) first(ctx context.Context) turn {
	c := p.c
	if c.alone {
		t := turn{replica: c.replicas[0]}
		if p.chain != nil {
			t.ticket = c.fleet.Choose(p.chain, nil)
		}
		p.follow(ctx, t)
		return t
	}
	defer p.span.Child(tracing.Choose).End()
	p.bind(ctx)
	t, _ := p.choose(true)
	p.follow(ctx, t)
	return t
}

// next notes what became of a turn, and chooses the replica that the request is sent to again, if it is: the replica has not worked on
// it, and has read nothing of the body, where that was lent to it.
func (p *picking) next(ctx context.Context, t turn, reply *Reply, err error, body *borrowedBody) (next turn, again bool) {
	c := p.c
	refused := c.observe(ctx, p, t.replica, reply, err)
	if c.alone {
		if err != nil {
			p.abandon()
		}
		return next, false
	}
	missing := p.probing && err == nil && reply.StatusCode == http.StatusNotFound
	if err != nil || refused || missing {
		p.abandon()
	}
	if !refused && !missing || ctx.Err() != nil {
		return next, false
	}
	defer p.span.Child(tracing.Choose).End()
	p.asked = append(p.asked, t.replica.place)
	if next, again = p.choose(err != nil); !again {
		return next, false
	}
	if p.ticket = next.ticket; !body.takeBack() {
		p.abandon()
		return next, false
	}
	p.follow(ctx, next)
	return next, true
}

// abandon ends a turn of which the replica has evaluated nothing.
func (p *picking) abandon() {
	if p.ticket != nil {
		p.ticket.Failed()
		p.ticket = nil
	}
}

// hold keeps an answer for the case that no other replica gives one. Its call has ended.
func (p *picking) hold(reply *Reply) {
	if reply == nil {
		return
	}
	reply.Span.End()
	if p.held != nil {
		p.held.Body.Close()
	}
	if call, ok := reply.Body.(*callBody); ok {
		call.release()
	}
	p.held = reply
}

// last returns the result of a request: reply, or if there is none the last answer of a replica that refused it. Where a replica may
// have worked on the request after that, the answer of another one must not have the client believe that none did.
func (p *picking) last(reply *Reply, err error) (*Reply, error) {
	if err != nil {
		if p.held == nil || !errors.Is(err, errUnsent) && !errors.Is(err, ErrOverloaded) {
			return nil, err
		}
		return p.held, nil
	}
	if p.held != nil {
		p.held.Body.Close()
	}
	return reply, nil
}

// A pass is one way to look for a replica; the first one that finds any counts.
type pass uint8

const (
	idle     pass = iota // works and has a free call
	working              // works
	instead              // a fallback that works
	draining             // works, but is to get no further requests
	broken               // whatever its health
	last                 // a fallback, whatever its health
)

// longestLead is how long a request waits for another one that prefills the prefix that both share.
const longestLead = 2 * time.Second

// follow waits until a request may be sent.
func (p *picking) follow(ctx context.Context, t turn) {
	ticket := t.ticket
	p.ticket = ticket
	defer func() {
		if t.replica.events != nil {
			p.mark = t.replica.events.Sent()
		}
	}()
	if ticket == nil || ticket.Wait() == nil {
		return
	}
	t.replica.counts.followers.Add(1)
	timer := time.NewTimer(p.c.leaderWait)
	defer timer.Stop()
	select {
	case <-ticket.Wait():
	case <-timer.C:
	case <-ctx.Done():
	}
}

// choose chooses a replica that has not been asked, of those that serve the model. desperate allows those that do not work.
func (p *picking) choose(desperate bool) (turn, bool) {
	var few [2][16]float64
	n := len(p.c.replicas)
	shares, want := append(few[0][:0], make([]float64, n)...), append(few[1][:0], make([]float64, n)...)
	for way := idle; way <= last; way++ {
		switch {
		case way == idle || way == draining:
			p.c.board.Shares(p.c.now(), p.limit(), way == draining, shares)
		case way == broken && !desperate && !p.probing:
			return turn{}, false
		}
		found := false
		for i, r := range p.c.replicas {
			want[i] = 0
			if p.suits(r) && p.allows(way, r) {
				want[i] = shares[i]
				if p.bound || way >= broken {
					want[i] = 1
				}
			}
			found = found || want[i] > 0
		}
		if found {
			t := p.c.fleet.Choose(p.chain, func(i int) float64 { return want[i] })
			r := p.c.replicas[t.Member]
			if way == instead {
				r.counts.instead.Add(1)
			}
			return turn{r, t}, true
		}
	}
	return turn{}, false
}

// suits reports whether a request for the model may be sent to a replica. A model that none serves is no fallback's: that has the
// operator's credential.
func (p *picking) suits(r *Replica) bool {
	return p.model == "" || p.serves(r) || !r.target.Fallback && !slices.ContainsFunc(p.c.replicas, p.serves)
}

func (p *picking) serves(r *Replica) bool {
	_, ok := r.target.serves(p.model)
	return ok
}

// allows reports whether a pass allows a replica that serves the model. A request without a model may be about an account, which is
// another one at a fallback.
func (p *picking) allows(way pass, r *Replica) bool {
	switch {
	case slices.Contains(p.asked, r.place):
		return false
	case p.bound:
		return r.place == p.member
	case r.target.Fallback:
		return (way == instead || way == last) && p.model != ""
	case way == instead || way == last:
		return false
	}
	return way != idle || r.calls.isFree(p.tenant)
}

// limit is what a refusal of the request is about.
func (p *picking) limit() health.Limit { return health.Limit{Tenant: p.tenant, Model: p.model} }

// bind looks for the replica that holds what the request names by an id.
func (p *picking) bind(ctx context.Context) {
	reads := p.method == http.MethodGet || p.method == http.MethodHead
	if l, ok := sticky.InPath(p.path); ok {
		switch {
		case p.bindTo(l.ID):
		case reads:
			p.probing, p.id = true, l.ID
		default:
			p.locate(ctx, l)
		}
		return
	}
	if reads && strings.HasPrefix(p.path, "/v1/models/") { // not every replica has every model
		p.probing = true
		return
	}
	var unknown sticky.Lookup
	sticky.InBody(p.body, func(l sticky.Lookup) (more bool) {
		if unknown.ID == "" {
			unknown = l
		}
		return !p.bindTo(l.ID)
	})
	if !p.bound && unknown.ID != "" {
		p.locate(ctx, unknown)
	}
}

// bindTo binds the request to the replica that holds an id, if that is known and may get the request.
func (p *picking) bindTo(id string) bool {
	p.member, p.bound = p.c.table.Find(p.tenant, id)
	p.bound = p.bound && p.suits(p.c.replicas[p.member])
	return p.bound
}

// locateWait is how long the replicas may take to report whether they have an id.
const locateWait = 5 * time.Second

// locate asks the replicas that are no fallbacks for an id, at once, and binds the request to one that has it. A fallback has its own
// credential: with that, a client could read objects of others.
func (p *picking) locate(ctx context.Context, l sticky.Lookup) {
	ctx, cancel := context.WithTimeout(ctx, locateWait)
	defer cancel()
	c, tenant := p.c, p.tenant // p itself would be on the heap, for every request
	found, asked := make(chan *Replica, len(c.replicas)), 0
	for i, r := range p.c.replicas {
		if r.target.Fallback || !p.suits(r) || p.c.board.State(p.c.now(), i).Condition == health.Down {
			continue
		}
		asked++
		h := r.requestHeader(p.header)
		go func() {
			if r.has(ctx, c, tenant, l, h) {
				found <- r
			} else {
				found <- nil
			}
		}()
	}
	for ; asked > 0; asked-- {
		if r := <-found; r != nil {
			p.c.table.Add(p.tenant, l.ID, r.place)
			p.member, p.bound = r.place, true
			return
		}
	}
}

// has reports whether a replica has an object. It may go on when the request has ended.
func (r *Replica) has(ctx context.Context, c *Client, tenant string, l sticky.Lookup, h http.Header) bool {
	if r.calls.acquire(ctx, tenant) != nil {
		return false
	}
	defer r.calls.release(tenant)
	for name := range h {
		if strings.HasPrefix(name, "Content-") {
			delete(h, name)
		}
	}
	status, err := c.get(ctx, r.url(&url.URL{Path: l.Path}), h)
	return err == nil && status/100 == 2
}

// get returns the status of the answer to a GET.
func (c *Client) get(ctx context.Context, u *url.URL, h http.Header) (status int, err error) {
	way := newTrip(ctx, c.limits, nil)
	r := (&http.Request{Method: http.MethodGet, URL: u, Host: u.Host, Header: h, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}).WithContext(way.ctx)
	resp, err := way.send(c.transport, r)
	if err != nil {
		return 0, err
	}
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // else the connection could have no other request
	resp.Body.Close()
	return resp.StatusCode, nil
}
