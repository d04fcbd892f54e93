package upstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"syscall"
	"time"

	"reprise/proxy/tracing"
	"reprise/proxy/upstream/dialect"
	"reprise/proxy/upstream/prefix"
)

// The way of a request to an answer is one loop over replicas:
//
//	pick ──► send ──► judge ──► answered: the answer, or the error, is the result
//	 ▲        ▲         │
//	 │        ├─────────┤ again: the connection had been closed, and no byte of the request was written to it
//	 │        └─────────┤ bare: the error names a field that the dialect has added, or may be due to it; once for a request
//	 └──────────────────┘ elsewhere: the replica has refused the request without having worked on it
//
// What a request did at a replica is one of three: it ran; it was refused, by the fault of the client, such as 400; or it failed. A failure
// shows nothing of the prefix, moves the next request with that prefix to another replica, and counts against the replica (health.go).
//
// A request goes elsewhere, each time to a replica that has not been asked yet, after
//
//   - an error before any byte of it was written: no connection, no TLS, a connection that is closed again and again;
//   - 429, 503 or 529, by which a server says that it has not worked on the request; another replica is then asked only if it works;
//   - 404 for a model, and 401 or 403 under the operator's credential; where another replica then answers with 2xx, that was the fault of the
//     first one, else it is counted nowhere: the model may be one that nobody has;
//   - 404 for a GET of an object that any of the replicas may hold, or for a model that not all of them have.
//
// It does not go elsewhere after any other status or error: the replica may have worked on it, and a call that was read once may be billed.
// Nor does it where its body is read from the client and a part of that is gone, where its client has left, or where it was refused by the
// proxy itself. If no other replica is left, the last refusal is the answer that says when to try again, or else the first one.
//
// So of n replicas each gets the request once, and one of them a second time, without our fields: n+1 calls at most, which TestMostCalls counts
// under every fault. What the proxy asks of replicas beside that is a GET of each, where a request names an object of which it does not know
// the replica; see locate.

// mostConnections is on how many connections one sending of a request is tried. All but the last were closed before a byte was written.
const mostConnections = 4

// Request is one request to be sent.
type Request struct {
	Tenant   string         // whose share of the replica's calls is used
	Original *http.Request  // the client's own: method, URL and header
	Body     []byte         // what is sent as the body, before the model's name is mapped and the dialect edits it; nil, for PassThrough: that of Original
	Model    string         // that the body asks for; "": unknown to Call, and looked for in Body by PassThrough, where it matters
	Chain    *prefix.Chain  // of the body, used until an answer begins; nil: the replica is chosen by load
	Want     dialect.Intent // what the proxy wants besides the client's request, except for how long the prefix is kept; nothing for PassThrough
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

	trip *trip
}

// call is a request on its way to an answer.
type call struct {
	c       *Client
	r       Request
	through http.ResponseWriter // of a request that passes through as it is, for its early answers; nil: the dialect edits the request
	body    io.Reader           // of such a request, if it is sent while it is read

	// Which replicas may get it.
	bound   bool   // only the replica called member holds what the request names
	member  int    // with bound
	probing bool   // it is asked of each replica until one has what it names
	id      string // of that; "": it has none
	lost    bool   // no replica has what it names
	missing bool   // a replica does not have its model
	asked   []int  // the replicas that refused it
	denied  []denial

	// The present replica, and what is under way there.
	replica *Replica
	ticket  *prefix.Ticket // nil: the request is not counted
	mark    uint64         // when it was sent, among the events of the replica
	trip    *trip          // nil: nothing is under way
	lent    *sentBody      // what was sent last of a body that can be read once; nil: the body can be had again

	named   []dialect.Field // fields that the present replica has refused; nil: none
	unnamed bool            // its error did not name them: stream_options alone is suspect, and is left out
	bare    bool            // a replica has refused a field, and none is added any more
	held    *Reply          // the last answer of a replica that refused the request; nil: there is none
}

// Call sends r to a replica and returns its answer, whose body ends with ErrIdle when the replica sends nothing for too long. Where the
// replica has as many calls as it may, it waits for one; see [Concurrency]. A field that the dialect has added and that a replica refuses is
// not added again for a while.
func (c *Client) Call(ctx context.Context, r Request) (*Reply, error) {
	x := call{c: c, r: r}
	return x.run(ctx)
}

// run returns the answer to the request.
func (x *call) run(ctx context.Context) (*Reply, error) {
	defer x.abandon() // what no answer has taken over
	x.first(ctx)
	for {
		reply, err := x.send(ctx)
		switch x.judge(ctx, reply, err) {
		case again:
		case bare:
			reply.Body.Close()
			reply.Span.End()
		case elsewhere:
			refused := x.replica
			more := x.next(ctx, err != nil || denies(reply))
			if err == nil {
				x.hold(reply)
			} else {
				x.named = nil
			}
			if !more {
				return x.result(ctx, nil, cmp.Or(err, errUnsent))
			}
			refused.counts.passed.Add(1)
		default:
			return x.result(ctx, reply, err)
		}
	}
}

// send sends the request to the present replica.
func (x *call) send(ctx context.Context) (*Reply, error) {
	if x.trip == nil {
		if err := x.depart(ctx); err != nil {
			return nil, err
		}
	}
	resp, err := x.trip.roundTrip()
	if err != nil && x.trip.mayGoAgain() {
		return nil, errUnread
	}
	t := x.trip
	x.trip = nil
	if err != nil {
		return nil, t.failed(err)
	}
	return t.answered(resp), nil
}

// errUnread says that a connection was closed before a byte of the request was written to it, so that another one may be tried.
var errUnread = errors.New("no byte of the request was written")

// verdict is what follows from an answer or an error.
type verdict uint8

const (
	answered  verdict = iota // it is the result
	again                    // the request is sent to the same replica over another connection
	bare                     // and without the fields that the replica has refused
	elsewhere                // another replica may get the request
)

// statusOverloaded is what several providers send instead of 503.
const statusOverloaded = 529

// judge decides what follows, and notes what it shows of the replica.
func (x *call) judge(ctx context.Context, reply *Reply, err error) verdict {
	if err == errUnread {
		return again
	}
	if err == nil && x.refusesField(reply) {
		return bare
	}
	refused, fault := x.observe(ctx, reply, err)
	if x.probing && err == nil && reply.StatusCode == http.StatusNotFound {
		refused = true
	}
	if err != nil || refused || fault {
		x.unticket(fault)
	}
	if refused && !x.c.alone && ctx.Err() == nil {
		return elsewhere
	}
	return answered
}

// denial is an answer that refuses a request, and that is a failure of the replica if another one runs the request.
type denial struct {
	replica *Replica
	limit   limited
	why     error
}

var errNoModel = errors.New("status 404, for a model that another upstream has")

// denies reports whether an answer is a refusal for another reason than the load of the replica.
func denies(reply *Reply) bool {
	return reply != nil && (reply.StatusCode == http.StatusNotFound || reply.StatusCode == http.StatusUnauthorized || reply.StatusCode == http.StatusForbidden)
}

// deniedHere reports whether another replica may run a request that the present one has denied: it has no such model, or does not take the
// operator's credential. A client can cause a 403 by what its request says, and a 404 by its model.
func (x *call) deniedHere(reply *Reply) bool {
	limit, why := x.limit(), fmt.Errorf("status %d", reply.StatusCode)
	switch reply.StatusCode {
	case http.StatusNotFound:
		if x.r.Model == "" || x.lost || x.bound {
			return false
		}
		x.missing, why = true, errNoModel
	case http.StatusUnauthorized:
		limit.Tenant = ""
		fallthrough
	case http.StatusForbidden:
		if x.replica.key() == "" || x.bound {
			return false
		}
	default:
		return false
	}
	x.denied = append(x.denied, denial{x.replica, limit, why})
	return true
}

// observe notes what an answer or an error shows of the replica. refused: it has refused the request without having worked on it; fault: by
// its own fault, or it has failed otherwise.
func (x *call) observe(ctx context.Context, reply *Reply, err error) (refused, fault bool) {
	c, r, now := x.c, x.replica, x.c.now()
	switch {
	case err != nil && (ctx.Err() != nil || errors.Is(err, ErrOverloaded) || errors.Is(err, errOfBody)): // of the client, or of the proxy
		return false, false
	case err != nil:
		if errors.Is(err, syscall.ECONNREFUSED) {
			c.gone(r)
		}
		limit, unsent := x.limit(), errors.Is(err, errUnsent)
		if unsent { // which no request can cause
			limit.Tenant = ""
		}
		c.failed(now, r, limit, err)
		return unsent, true
	}
	switch status := reply.StatusCode; {
	case status == http.StatusTooManyRequests:
		if wait := retryAfter(reply.Header, now); wait > 0 && !c.alone {
			limit := x.limit()
			if r.key() != "" { // which all tenants share
				limit.Tenant = ""
			}
			c.board.limit(now, r.place, limit, wait)
		}
		return true, false
	case status == http.StatusServiceUnavailable || status == statusOverloaded:
		c.failed(now, r, x.limit(), fmt.Errorf("status %d", status))
		if wait := retryAfter(reply.Header, now); wait > 0 && !c.alone {
			c.board.setAside(now, r.place, wait)
		}
		return true, true
	case status >= http.StatusInternalServerError:
		c.failed(now, r, x.limit(), fmt.Errorf("status %d", status))
		return false, true
	}
	c.board.begun(now, r.place)
	return !c.alone && x.deniedHere(reply), false
}

// limit is what a 429 for the request, or its failure, is about.
func (x *call) limit() limited {
	return limited{Tenant: x.r.Tenant, Model: x.r.Model, Path: x.r.Original.URL.Path}
}

// refusesField reports whether an error answer names a field that the proxy has added, so that the request is to be sent without it. Only if
// that is not refused, the field is quarantined: clients can have an upstream name any field. Some servers answer 500 to stream_options and
// name nothing: it is left out once where the replica has not shown that it takes it, and is quarantined if the request succeeds then.
func (x *call) refusesField(reply *Reply) bool {
	status, model, now, fields := reply.StatusCode, reply.trip.model, x.c.now(), &x.replica.refused
	refuses, good := status == http.StatusBadRequest || status == http.StatusUnprocessableEntity, status/100 == 2
	asks := slices.Contains(reply.Added, dialect.StreamUsage)
	switch {
	case !x.bare && len(reply.Added) > 0:
		switch {
		case refuses:
			x.named = dialect.Named(reply.trip.answer.peek(64<<10), reply.Added)
		case mayBeOfField(status) && asks && fields.suspect(model, now):
			x.named, x.unnamed = []dialect.Field{dialect.StreamUsage}, true
		case good && asks:
			fields.trust(model, now, quarantineFor)
		}
		x.bare = len(x.named) > 0
		return x.bare
	case len(x.named) == 0:
	case good || !refuses && !x.unnamed:
		x.c.quarantine(x.replica, model, x.named)
		x.named = nil
	case x.unnamed:
		fields.trust(model, now, trustAfterFailure)
	}
	return false
}

// mayBeOfField reports whether a status may be due to a member that the server does not know. Others are of a server that has too much to do,
// or has worked long.
func mayBeOfField(status int) bool {
	return status == http.StatusInternalServerError || status == http.StatusNotImplemented || status == http.StatusBadGateway
}

// hold keeps an answer for the case that no other replica gives one, the first denial or the last answer that is none. It takes no call of its
// replica any more.
func (x *call) hold(reply *Reply) {
	x.named = nil
	reply.Span.End()
	reply.trip.release()
	switch {
	case x.held == nil:
	case denies(reply):
		reply.Body.Close()
		return
	default:
		x.held.Body.Close()
	}
	x.held = reply
}

// result returns the answer or the error, or what is held of the replicas that refused the request. Where a replica may have worked on
// the request after that, the answer of another one must not have the client believe that none did.
func (x *call) result(ctx context.Context, reply *Reply, err error) (*Reply, error) {
	switch {
	case err == nil:
		if x.held != nil {
			x.held.Body.Close()
		}
		if reply.StatusCode/100 == 2 {
			for _, d := range x.denied {
				x.c.failed(x.c.now(), d.replica, d.limit, d.why)
			}
		}
	case x.held != nil && (errors.Is(err, errUnsent) || errors.Is(err, ErrOverloaded)):
		reply = x.held
	default:
		return nil, err
	}
	x.watch(ctx, reply)
	return reply, nil
}

// abandon ends what the call still has under way.
func (x *call) abandon() {
	x.unticket(false)
	if x.trip != nil { // after a panic
		x.trip.end()
		x.trip.release()
	}
}

// unticket notes that the present replica evaluates nothing of the request, and whether that is its fault.
func (x *call) unticket(fault bool) {
	if x.ticket != nil {
		x.ticket.Failed(fault)
		x.ticket = nil
	}
}

// first chooses the first replica. If there is one only, the request is counted only for its prefix.
func (x *call) first(ctx context.Context) {
	if x.c.alone {
		if x.replica = x.c.replicas[0]; x.r.Chain != nil {
			x.ticket = x.c.fleet.Choose(x.r.Chain, nil)
		}
	} else {
		defer x.r.Span.Child(tracing.Choose).End()
		x.bind(ctx)
		x.choose(true)
	}
	x.follow(ctx)
}

// next chooses another replica, and reports whether there is one that may get the request. desperate allows those that do not work.
func (x *call) next(ctx context.Context, desperate bool) bool {
	defer x.r.Span.Child(tracing.Choose).End()
	x.asked = append(x.asked, x.replica.place)
	before := x.replica
	if !x.choose(desperate) {
		return false
	}
	if !x.lent.takeBack() {
		x.unticket(false)
		x.replica = before
		return false
	}
	x.follow(ctx)
	return true
}

// longestLead is how long a request waits for another one that prefills the prefix that both share.
const longestLead = 2 * time.Second

// follow waits until the request may be sent. Where the one that it waits for fails, another replica is chosen, once.
func (x *call) follow(ctx context.Context) {
	if x.waits(ctx) && ctx.Err() == nil && !x.bound {
		before := x.replica
		x.unticket(false)
		if x.choose(true) && x.replica != before {
			x.waits(ctx)
		}
	}
	if x.replica.events != nil {
		x.mark = x.replica.events.Sent()
	}
}

// waits waits for another request with the same prefix, and reports whether that has failed by the fault of the replica.
func (x *call) waits(ctx context.Context) (failed bool) {
	if x.ticket == nil || x.ticket.Wait() == nil {
		return false
	}
	x.replica.counts.followers.Add(1)
	timer := time.NewTimer(x.c.leaderWait)
	defer timer.Stop()
	select {
	case failed = <-x.ticket.Wait():
	case <-timer.C:
	case <-ctx.Done():
	}
	return failed
}
