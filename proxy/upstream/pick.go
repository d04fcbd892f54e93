package upstream

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

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

// choose chooses a replica that has not been asked, of those that serve the model, and reports whether there is one. desperate allows those
// that do not work.
func (x *call) choose(desperate bool) bool {
	var few [2][16]float64
	c, n := x.c, len(x.c.replicas)
	shares, want := append(few[0][:0], make([]float64, n)...), append(few[1][:0], make([]float64, n)...)
	for way := idle; way <= last; way++ {
		switch {
		case way == idle || way == draining:
			c.board.shares(c.now(), x.limit(), way == draining, shares)
		case way == broken && !desperate && !x.probing:
			return false
		}
		found := false
		for i, r := range c.replicas {
			want[i] = 0
			if x.suits(r) && x.allows(way, r) {
				want[i] = shares[i]
				if x.bound || way >= broken {
					want[i] = 1
				}
			}
			found = found || want[i] > 0
		}
		if found {
			x.ticket = c.fleet.Choose(x.r.Chain, func(i int) float64 { return want[i] })
			x.replica = c.replicas[x.ticket.Member]
			c.board.sent(c.now(), x.ticket.Member, x.limit())
			if way == instead {
				x.replica.counts.instead.Add(1)
			}
			return true
		}
	}
	return false
}

// suits reports whether a request for the model may be sent to a replica. If no replica serves the model, fallbacks are not used either: they
// have the operator's credential.
func (x *call) suits(r *Replica) bool {
	return x.r.Model == "" || x.serves(r) || !r.target.Fallback && !slices.ContainsFunc(x.c.replicas, x.serves)
}

func (x *call) serves(r *Replica) bool {
	_, ok := r.target.serves(x.r.Model)
	return ok
}

// allows reports whether a pass allows a replica that serves the model. A request without a model may be about an account, which is
// another one at a fallback. A model that another replica does not have is a fallback's only where the operator has named it there: with the
// operator's credential, clients would have any model.
func (x *call) allows(way pass, r *Replica) bool {
	switch {
	case slices.Contains(x.asked, r.place):
		return false
	case x.bound:
		return r.place == x.member
	case r.target.Fallback:
		return (way == instead || way == last) && x.r.Model != "" && (!x.missing || len(r.target.Models) > 0)
	case way == instead || way == last:
		return false
	}
	return way != idle || r.calls.isFree(x.r.Tenant)
}

// bind looks for the replica that holds what the request names by an id.
func (x *call) bind(ctx context.Context) {
	method, path := x.r.Original.Method, x.r.Original.URL.EscapedPath()
	reads := method == http.MethodGet || method == http.MethodHead
	if o, ok := objectInPath(path); ok {
		switch {
		case x.bindTo(o.id):
		case reads:
			x.probing, x.id = true, o.id
		default:
			x.locate(ctx, o)
		}
		return
	}
	if reads && strings.HasPrefix(path, "/v1/models/") { // not every replica has every model
		x.probing = true
		return
	}
	var unknown object
	objectsInBody(x.r.Body, func(o object) (more bool) {
		if unknown.id == "" {
			unknown = o
		}
		return !x.bindTo(o.id)
	})
	if !x.bound && unknown.id != "" {
		x.locate(ctx, unknown)
		x.lost = !x.bound
	}
}

// bindTo binds the request to the replica that holds an id, if that is known and may get the request.
func (x *call) bindTo(id string) bool {
	x.member, x.bound = x.c.table.find(x.r.Tenant, id)
	x.bound = x.bound && x.suits(x.c.replicas[x.member])
	return x.bound
}

// locateWait is how long the replicas may take to report whether they have an id.
const locateWait = 5 * time.Second

// locate asks the replicas that are no fallbacks for an id, at once, and binds the request to one that has it. A fallback has its own
// credential: with that, a client could read objects of others.
func (x *call) locate(ctx context.Context, o object) {
	ctx, cancel := context.WithTimeout(ctx, locateWait)
	defer cancel()
	c, tenant := x.c, x.r.Tenant // x itself would be on the heap, for every request
	found, asked := make(chan *Replica, len(c.replicas)), 0
	for i, r := range c.replicas {
		if r.target.Fallback || !x.suits(r) || c.board.health(c.now(), i).Condition == Down {
			continue
		}
		asked++
		h := r.requestHeader(x.r.Original.Header)
		go func() {
			if c.has(ctx, r, tenant, o, h) {
				found <- r
			} else {
				found <- nil
			}
		}()
	}
	for ; asked > 0; asked-- {
		if r := <-found; r != nil {
			c.table.add(tenant, o.id, r.place)
			x.member, x.bound = r.place, true
			return
		}
	}
}

// has reports whether a replica has an object. It may go on when the request has ended.
func (c *Client) has(ctx context.Context, r *Replica, tenant string, o object, h http.Header) bool {
	if r.calls.acquire(ctx, tenant) != nil {
		return false
	}
	defer r.calls.release(tenant)
	for name := range h {
		if strings.HasPrefix(name, "Content-") {
			delete(h, name)
		}
	}
	path, _ := url.PathUnescape(o.path) // of an id that was unescaped before: no error
	resp, err := c.get(ctx, r.url(&url.URL{Path: path, RawPath: o.path}), h)
	if err != nil {
		return false
	}
	discard(resp)
	return resp.StatusCode/100 == 2
}

// get sends a GET of the proxy's own. ctx limits it until the body of the answer is closed.
func (c *Client) get(ctx context.Context, u *url.URL, h http.Header) (*http.Response, error) {
	r := &http.Request{Method: http.MethodGet, URL: u, Host: u.Host, Header: h, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
	return c.transport.RoundTrip(r.WithContext(ctx))
}

// discard reads a short answer to its end, else its connection could have no other request, and closes it.
func discard(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10)
	resp.Body.Close()
}
