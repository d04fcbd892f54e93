package torture

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync/atomic"
)

// names is a name server for this process: while works is set every name is that of the engines, otherwise no name exists.
type names struct{ works atomic.Bool }

// use makes the process resolve names here until restore.
func (n *names) use() (restore func()) {
	before := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe() // a stream, so that messages have a length before them
		go n.serve(server)
		return client, nil
	}}
	return func() { net.DefaultResolver = before }
}

func (n *names) serve(conn net.Conn) {
	defer conn.Close()
	for {
		var length [2]byte
		if _, err := io.ReadFull(conn, length[:]); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(length[:]))
		if _, err := io.ReadFull(conn, query); err != nil {
			return
		}
		reply := n.answer(query)
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...)); err != nil {
			return
		}
	}
}

// answer is the reply to a query with one question (RFC 1035 §4).
func (n *names) answer(query []byte) []byte {
	end := 12
	for end < len(query) && query[end] != 0 {
		end += int(query[end]) + 1
	}
	end += 5 // the end of the name, type and class
	reply := append([]byte(nil), query[:end]...)
	flags, answers := uint16(0x8183), uint16(0) // no such name
	if n.works.Load() {
		flags = 0x8180
		if binary.BigEndian.Uint16(query[end-4:]) == 1 { // an IPv4 address
			answers = 1
			reply = append(append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4), net.ParseIP(loopback()).To4()...)
		}
	}
	binary.BigEndian.PutUint16(reply[2:], flags)
	copy(reply[4:], []byte{0, 1, 0, byte(answers), 0, 0, 0, 0})
	return reply
}
