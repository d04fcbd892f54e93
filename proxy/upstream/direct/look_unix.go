//go:build unix

package direct

import (
	"net"
	"syscall"
)

// canLook reports whether a socket can be asked, without a wait, whether something has come.
const canLook = true

// lookAt returns a function that reports whether nothing has come over a connection, neither bytes nor its end. A byte that has come is
// lost: such a connection must be closed.
func lookAt(c net.Conn) func() bool {
	never := func() bool { return false }
	socket, ok := c.(syscall.Conn)
	if !ok {
		return never
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return never
	}
	quiet, one := false, make([]byte, 1)
	read := func(fd uintptr) bool {
		_, err := syscall.Read(int(fd), one)
		quiet = err == syscall.EAGAIN
		return true
	}
	return func() bool { return raw.Read(read) == nil && quiet }
}
