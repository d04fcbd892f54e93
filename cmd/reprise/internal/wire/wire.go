// Package wire is what stands between a socket and net/http's server.
//
// A [Listener] gives connections of which each message has one length for every reader ([framer]), whose TLS handshake is done, whose
// deadlines cost little (package deadline), and which are still known after an upgrade: net/http's server forgets a connection that a
// handler has taken over, as that of a websocket, and would not wait for its end.
package wire

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"reprise/proxy/deadline"
)

// Listener is a listener for one http.Server, whose ConnState must be that of the listener.
type Listener struct {
	net.Listener
	tls       *tls.Config   // nil: none
	handshake time.Duration // limit; not positive: none

	accepting sync.Once
	ready     chan accepted // connections after their handshake
	closed    chan struct{}
	closing   sync.Once

	mu       sync.Mutex         // protects what follows
	upgraded map[*conn]struct{} // taken over by a handler, and open
	ended    chan struct{}      // closed when the last of them is; nil: there is none
}

type accepted struct {
	net.Conn
	error
}

// New returns a listener on l. With a TLS configuration, which may offer HTTP/2, it does the handshakes, each within the limit.
func New(l net.Listener, secure *tls.Config, handshake time.Duration) *Listener {
	return &Listener{Listener: l, tls: secure, handshake: handshake, ready: make(chan accepted), closed: make(chan struct{}),
		upgraded: map[*conn]struct{}{}}
}

// Accept returns the next connection.
func (l *Listener) Accept() (net.Conn, error) {
	if l.tls == nil {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		return &conn{Conn: deadline.New(c), from: l}, nil
	}
	l.accepting.Do(func() { go l.acceptTLS() })
	select {
	case a := <-l.ready:
		return a.Conn, a.error
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close closes the socket. Connections stay open.
func (l *Listener) Close() error {
	l.closing.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// acceptTLS accepts until Close. A slow handshake delays no other connection.
func (l *Listener) acceptTLS() {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			select {
			case l.ready <- accepted{nil, err}: // the server decides whether to go on
				continue
			case <-l.closed:
				return
			}
		}
		go l.shake(c)
	}
}

// shake does the handshake of a connection and passes it on.
func (l *Listener) shake(raw net.Conn) {
	ctx, cancel := context.Background(), context.CancelFunc(func() {})
	if l.handshake > 0 {
		ctx, cancel = context.WithTimeout(ctx, l.handshake)
	}
	defer cancel()
	secure := tls.Server(deadline.New(raw), l.tls)
	var c net.Conn = &tlsConn{conn{Conn: secure, from: l}}
	if err := secure.HandshakeContext(ctx); err != nil || secure.ConnectionState().NegotiatedProtocol == "h2" {
		c = secure // net/http uses HTTP/2 on this type only, and logs the error of a handshake
	}
	select {
	case l.ready <- accepted{c, nil}:
	case <-l.closed:
		c.Close()
	}
}

// ConnState is for the field of the same name of the server.
func (l *Listener) ConnState(c net.Conn, state http.ConnState) {
	if state != http.StateHijacked {
		return
	}
	switch c := c.(type) {
	case *conn:
		l.took(c)
	case *tlsConn:
		l.took(&c.conn)
	}
}

func (l *Listener) took(c *conn) {
	c.taken.Store(true)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.upgraded[c] = struct{}{}
	if l.ended == nil {
		l.ended = make(chan struct{})
	}
}

func (l *Listener) forget(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.upgraded[c]; !ok {
		return
	}
	if delete(l.upgraded, c); len(l.upgraded) == 0 {
		close(l.ended)
		l.ended = nil
	}
}

// Wait returns when no upgraded connection is open. When ctx ends before, it closes them and returns ctx's error.
func (l *Listener) Wait(ctx context.Context) error {
	l.mu.Lock()
	ended := l.ended
	l.mu.Unlock()
	if ended == nil {
		return nil
	}
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		l.cut()
		return ctx.Err()
	}
}

// cut closes the upgraded connections.
func (l *Listener) cut() {
	l.mu.Lock()
	var open []*conn
	for c := range l.upgraded {
		open = append(open, c)
	}
	l.mu.Unlock()
	for _, c := range open {
		c.Close()
	}
}

// conn is a connection whose messages are framed until a handler takes it over.
type conn struct {
	net.Conn
	from *Listener

	framer framer // of the one reader
	bad    bool   // a message was ambiguous
	left   string // of its refusal

	taken atomic.Bool
}

// Read reads what net/http may see. An ambiguous message goes on with a refusal before its head is complete, and nothing follows.
func (c *conn) Read(p []byte) (int, error) {
	switch {
	case c.bad:
		return c.refuse(p)
	case c.taken.Load():
		return c.Conn.Read(p)
	}
	n, err := c.Conn.Read(p)
	framed, bad := c.framer.scan(p[:n])
	if bad == nil {
		return n, err
	}
	c.bad, c.left = true, refusal
	if framed == 0 && n > 0 {
		return c.refuse(p)
	}
	return framed, nil
}

func (c *conn) refuse(p []byte) (int, error) {
	if c.left == "" || c.taken.Load() {
		return 0, errFraming
	}
	n := copy(p, c.left)
	c.left = c.left[n:]
	return n, nil
}

func (c *conn) Close() error {
	c.from.forget(c)
	return c.Conn.Close()
}

// CloseWrite is used by net/http, so that a client can still read an answer that came before it had sent all.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// tlsConn shows net/http the state of TLS.
type tlsConn struct{ conn }

// ConnectionState becomes Request.TLS.
func (c *tlsConn) ConnectionState() tls.ConnectionState { return c.Conn.(*tls.Conn).ConnectionState() }
