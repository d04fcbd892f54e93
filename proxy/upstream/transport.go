package upstream

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"time"

	"reprise/proxy/deadline"
	"reprise/proxy/upstream/direct"
)

// ErrIdle ends an answer whose replica has sent nothing for too long.
var ErrIdle = errors.New("no bytes from the upstream in time")

// Limits bounds how long a replica may take. 0 means the default, a negative duration no limit.
type Limits struct {
	FirstByte    time.Duration // from the request to the first byte of the answer, and for each part of its body; default 600s, as clients wait
	BetweenBytes time.Duration // between two reads of the answer's body; default 600s
}

// WithDefaults returns l with the defaults filled in.
func (l Limits) WithDefaults() Limits {
	return Limits{FirstByte: cmp.Or(l.FirstByte, 600*time.Second), BetweenBytes: cmp.Or(l.BetweenBytes, 600*time.Second)}
}

// Servers close a connection that was idle for a while, and a request that is sent at that moment fails. The proxy therefore closes
// it earlier: engines that are addressed without TLS wait 5 seconds (uvicorn, Node), and the load balancers before those with TLS
// 60 or more.
const (
	idlePlain   = 4 * time.Second
	idleSecured = 50 * time.Second
)

// NewTransport returns a transport within these limits.
func NewTransport(l Limits) *Transport {
	return &Transport{
		direct: direct.New(dialer{limit: l.FirstByte}, idlePlain, maxHeader),
		plain:  newTransport(l, idlePlain), secured: newTransport(l, idleSecured),
	}
}

// Transport sends requests over connections that it keeps, in three pools: of https, and of http for short requests and for others.
type Transport struct {
	direct         *direct.Transport
	plain, secured *http.Transport
}

// RoundTrip sends r; see [http.RoundTripper].
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	switch {
	case t.direct.Takes(r):
		return t.direct.RoundTrip(r)
	case r.URL.Scheme == "https":
		return t.secured.RoundTrip(r)
	}
	return t.plain.RoundTrip(r)
}

// CloseIdleConnections closes the connections that no request uses.
func (t *Transport) CloseIdleConnections() {
	t.direct.CloseIdleConnections()
	t.plain.CloseIdleConnections()
	t.secured.CloseIdleConnections()
}

// maxHeader is the largest header of an answer in bytes. It is held as long as the answer is.
const maxHeader = 128 << 10

// newTransport returns a pooled transport. It never asks for compression (what is stored and replayed is plain bytes), and
// keeps as many idle connections as a busy proxy with one upstream needs: with the standard two they would be closed and
// dialled again all the time.
func newTransport(l Limits, idle time.Duration) *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           dialer{limit: l.FirstByte}.DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          1024,
		MaxIdleConnsPerHost:   1024,
		IdleConnTimeout:       idle,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
		DisableCompression:    true,

		MaxResponseHeaderBytes: maxHeader,

		// One connection of HTTP/2 carries all requests. Where what is between it and the replica forgets it, nothing says so: they
		// would all wait for the first byte, those that come later too.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	}
}

// dialer opens connections that are counted, and whose writes have a limit.
type dialer struct{ limit time.Duration }

// DialContext opens a connection.
func (d dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &countedConn{Conn: deadline.New(conn), socket: conn, limit: d.limit}, nil
}

// countedConn counts what is written to a connection, except for the alert of 24 bytes (31 before TLS 1.3) with which a TLS
// connection is closed: no request is as short.
//
// Each write has a limit: a replica that takes nothing would hold a connection that is none of HTTP any more, such as a websocket's.
type countedConn struct {
	net.Conn
	socket  net.Conn
	limit   time.Duration // not positive: none
	written atomic.Int64
}

const closingAlert = 31

// Write writes p and counts it.
func (c *countedConn) Write(p []byte) (int, error) {
	if c.limit > 0 {
		_ = c.Conn.SetWriteDeadline(time.Now().Add(c.limit))
	}
	n, err := c.Conn.Write(p)
	if n > closingAlert {
		c.written.Add(int64(n))
	}
	return n, err
}

// SyscallConn returns the socket, at which package direct looks.
func (c *countedConn) SyscallConn() (syscall.RawConn, error) {
	if s, ok := c.socket.(syscall.Conn); ok {
		return s.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}
