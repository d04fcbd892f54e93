//go:build unix

package upstream

import (
	"net"
	"syscall"

	"reprise/proxy/deadline"
)

// canLook reports whether it can be seen without a wait that something has come over a connection.
const canLook = true

// lookAt returns a function that reports whether nothing has come over a connection, neither bytes nor its end. A byte that has come is
// lost: such a connection must be closed.
func lookAt(c net.Conn) func() bool {
	if counted, ok := c.(*countedConn); ok {
		c = counted.Conn
	}
	if noted, ok := c.(*deadline.Conn); ok {
		c = noted.Conn
	}
	socket, ok := c.(syscall.Conn)
	if !ok {
		return func() bool { return false }
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return func() bool { return false }
	}
	quiet, one := false, make([]byte, 1)
	read := func(fd uintptr) bool {
		_, err := syscall.Read(int(fd), one)
		quiet = err == syscall.EAGAIN
		return true
	}
	return func() bool { return raw.Read(read) == nil && quiet }
}
