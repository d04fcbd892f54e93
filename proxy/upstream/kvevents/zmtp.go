package kvevents

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"
)

// socket is the type of one end of a ZeroMQ connection.
type socket string

// The types of this end.
const (
	sub    socket = "SUB"
	dealer socket = "DEALER"
)

// peers are the types that may be at the other end.
var peers = map[socket][]socket{sub: {"PUB", "XPUB"}, dealer: {"ROUTER", "REP", dealer}}

// Bounds of what a peer may send. An engine's batch of events has some bytes for each token.
const (
	mostFrame = 64 << 20
	mostParts = 16
	handshake = 10 * time.Second
)

// The flags of a frame.
const (
	more    = 1
	long    = 2
	command = 4
)

// conn is a connection of ZMTP 3.0 (https://rfc.zeromq.org/spec/23), the protocol of ZeroMQ, with NULL security. The pure Go library for all
// of ZeroMQ leaves goroutines behind when a connection ends, and hides the end; here one goroutine reads a net.Conn, and its end is an
// error. send and Close are safe for concurrent use.
type conn struct {
	net.Conn
	r  *bufio.Reader
	mu sync.Mutex // held while a message is written
}

// dial connects to an endpoint such as tcp://host:5557, as a socket of type own.
func dial(ctx context.Context, endpoint string, own socket) (*conn, error) {
	address, err := addressOf(endpoint)
	if err != nil {
		return nil, err
	}
	raw, err := (&net.Dialer{Timeout: handshake}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return greet(raw, own)
}

// addressOf is the host and port of an endpoint.
func addressOf(endpoint string) (string, error) {
	address, ok := strings.CutPrefix(endpoint, "tcp://")
	if _, port, err := net.SplitHostPort(address); !ok || err != nil || port == "" {
		return "", fmt.Errorf("%q is not an endpoint such as tcp://host:5557", endpoint)
	}
	return address, nil
}

// greet opens a connection. It closes raw if that fails.
func greet(raw net.Conn, own socket) (*conn, error) {
	c := &conn{Conn: raw, r: bufio.NewReader(raw)}
	_ = raw.SetDeadline(time.Now().Add(handshake))
	err := c.exchange(own)
	_ = raw.SetDeadline(time.Time{})
	if err != nil {
		raw.Close()
		return nil, fmt.Errorf("no ZMTP connection with %s: %w", raw.RemoteAddr(), err)
	}
	return c, nil
}

// greeting is the first 64 bytes of each end: a signature, version 3.0, the mechanism NULL.
func greeting() []byte {
	g := make([]byte, 64)
	g[0], g[8], g[9], g[10] = 0xff, 1, 0x7f, 3
	copy(g[12:], "NULL")
	return g
}

func (c *conn) exchange(own socket) error {
	if _, err := c.Conn.Write(greeting()); err != nil {
		return err
	}
	var theirs [64]byte
	if _, err := io.ReadFull(c.r, theirs[:]); err != nil {
		return err
	}
	switch {
	case theirs[0] != 0xff || theirs[9]&1 == 0:
		return errors.New("the peer is no ZMTP socket")
	case theirs[10] < 3:
		return fmt.Errorf("the peer has ZMTP %d, not 3", theirs[10])
	case string(bytes.TrimRight(theirs[12:32], "\x00")) != "NULL":
		return fmt.Errorf("the peer asks for the security mechanism %q", bytes.TrimRight(theirs[12:32], "\x00"))
	}
	ready := append([]byte("\x05READY\x0bSocket-Type"), binary.BigEndian.AppendUint32(nil, uint32(len(own)))...)
	if err := c.write(command, append(ready, own...)); err != nil {
		return err
	}
	flags, body, err := c.frame()
	if err != nil {
		return err
	}
	return checkReady(flags, body, own)
}

func checkReady(flags byte, body []byte, own socket) error {
	rest, ok := bytes.CutPrefix(body, []byte("\x05READY"))
	if flags&command == 0 || !ok {
		return fmt.Errorf("the peer sends %.40q in place of READY", body)
	}
	for len(rest) > 0 {
		n := int(rest[0])
		if len(rest) < 1+n+4 {
			break
		}
		name, size := string(rest[1:1+n]), int64(binary.BigEndian.Uint32(rest[1+n:]))
		if rest = rest[1+n+4:]; int64(len(rest)) < size {
			break
		}
		if strings.EqualFold(name, "Socket-Type") {
			for _, p := range peers[own] {
				if string(rest[:size]) == string(p) {
					return nil
				}
			}
			return fmt.Errorf("the peer is a %.20q socket, not one of %v", rest[:size], peers[own])
		}
		rest = rest[size:]
	}
	return errors.New("the peer does not say which socket it is")
}

// send sends a message of several parts.
func (c *conn) send(parts ...[]byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, p := range parts {
		flags := byte(0)
		if i < len(parts)-1 {
			flags = more
		}
		if err := c.write(flags, p); err != nil {
			return err
		}
	}
	return nil
}

// subscribe asks a PUB socket for the messages whose first part begins with topic.
func (c *conn) subscribe(topic string) error { return c.send([]byte("\x01" + topic)) }

func (c *conn) write(flags byte, body []byte) error {
	head := []byte{flags, byte(len(body))}
	if len(body) > 255 {
		head = binary.BigEndian.AppendUint64([]byte{flags | long}, uint64(len(body)))
	}
	_, err := c.Conn.Write(append(head, body...))
	return err
}

// receive returns the next message, which is the caller's.
func (c *conn) receive() (parts [][]byte, err error) {
	for {
		flags, body, err := c.frame()
		switch {
		case err != nil:
			return nil, err
		case flags&command != 0:
			if err := c.obey(body); err != nil {
				return nil, err
			}
			continue
		case len(parts) == mostParts:
			return nil, fmt.Errorf("a message has more than %d parts", mostParts)
		}
		if parts = append(parts, body); flags&more == 0 {
			return parts, nil
		}
	}
}

// obey answers a command: a heartbeat (ZMTP 3.1) has a reply, an error ends the connection.
func (c *conn) obey(body []byte) error {
	if reason, ok := bytes.CutPrefix(body, []byte("\x05ERROR")); ok {
		return fmt.Errorf("the peer ends the connection: %.100q", reason)
	}
	if rest, ok := bytes.CutPrefix(body, []byte("\x04PING")); ok && len(rest) >= 2 {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.write(command, append([]byte("\x04PONG"), rest[2:]...))
	}
	return nil
}

func (c *conn) frame() (flags byte, body []byte, err error) {
	if flags, err = c.r.ReadByte(); err != nil {
		return 0, nil, err
	}
	size := uint64(0)
	if flags&long != 0 {
		var n [8]byte
		if _, err = io.ReadFull(c.r, n[:]); err != nil {
			return 0, nil, err
		}
		size = binary.BigEndian.Uint64(n[:])
	} else {
		n, err := c.r.ReadByte()
		if err != nil {
			return 0, nil, err
		}
		size = uint64(n)
	}
	switch {
	case flags > more|long|command:
		return 0, nil, fmt.Errorf("a frame has the unknown flags %#x", flags)
	case size > mostFrame:
		return 0, nil, fmt.Errorf("a frame of %d bytes is longer than %d", size, mostFrame)
	}
	if size <= 64<<10 {
		body = make([]byte, size)
		_, err = io.ReadFull(c.r, body)
		return flags, body, err
	}
	// The room for a long frame grows with what has come of it: its size is only a claim.
	var buf bytes.Buffer
	if _, err = io.CopyN(&buf, c.r, int64(size)); err != nil {
		return 0, nil, err
	}
	return flags, buf.Bytes(), nil
}
