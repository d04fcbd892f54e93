package redistest

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// Error is an error that a server has answered.
type Error string

func (e Error) Error() string { return string(e) }

// conn is a connection to a server, by the protocol RESP2.
type conn struct {
	net.Conn
	r *bufio.Reader
}

func dial(addr string, secure *tls.Config) (*conn, error) {
	d := &net.Dialer{Timeout: wait}
	var c net.Conn
	var err error
	if secure != nil {
		c, err = tls.DialWithDialer(d, "tcp", addr, secure)
	} else {
		c, err = d.Dial("tcp", addr)
	}
	if err != nil {
		return nil, err
	}
	return &conn{c, bufio.NewReader(c)}, nil
}

// do sends one command and returns its answer: a string, an int64, a list or nil.
func (c *conn) do(args ...string) (any, error) {
	b := fmt.Appendf(nil, "*%d\r\n", len(args))
	for _, a := range args {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(a), a)
	}
	c.SetDeadline(time.Now().Add(wait))
	if _, err := c.Write(b); err != nil {
		return nil, err
	}
	return c.read()
}

func (c *conn) read() (any, error) {
	line, err := c.r.ReadString('\n')
	if err != nil || len(line) < 3 {
		return nil, errors.Join(io.ErrUnexpectedEOF, err)
	}
	rest := line[1 : len(line)-2]
	if line[0] == '+' {
		return rest, nil
	}
	if line[0] == '-' {
		return nil, Error(rest)
	}
	n, err := strconv.ParseInt(rest, 10, 64)
	if err != nil || line[0] == ':' {
		return n, err
	}
	if n < 0 {
		return nil, nil
	}
	if line[0] == '*' {
		return c.list(n)
	}
	b := make([]byte, n+2)
	_, err = io.ReadFull(c.r, b)
	return string(b[:n]), err
}

func (c *conn) list(n int64) (any, error) {
	all := make([]any, n)
	for i := range all {
		v, err := c.read()
		var inside Error
		if errors.As(err, &inside) {
			v, err = inside, nil
		}
		if err != nil {
			return nil, err
		}
		all[i] = v
	}
	return all, nil
}
