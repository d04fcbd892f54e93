//go:build !unix

package direct

import "net"

// canLook reports whether a socket can be asked, without a wait, whether something has come.
const canLook = false

func lookAt(net.Conn) func() bool { return func() bool { return false } }
