package enginesim

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"time"
)

// server is a socket of ZMTP 3.0 as far as an engine needs it. It shares no code with the proxy's end, which is tested against it.
type server struct {
	l  net.Listener
	wg sync.WaitGroup

	mu     sync.Mutex            // protects what follows, and what is written
	topics map[net.Conn][]string // of each connection
	ended  bool
}

// open accepts connections as a socket of type kind, and gives handle each message that comes.
func open(l net.Listener, kind string, handle func(s *server, c net.Conn, message [][]byte)) *server {
	s := &server{l: l, topics: map[net.Conn][]string{}}
	s.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.wg.Go(func() {
				defer s.remove(c)
				r := bufio.NewReader(c)
				for err := errors.Join(s.add(c), greet(c, r, kind)); err == nil; {
					var message [][]byte
					if message, err = readMessage(r); err == nil {
						handle(s, c, message)
					}
				}
			})
		}
	})
	return s
}

func (s *server) add(c net.Conn) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return net.ErrClosed
	}
	s.topics[c] = nil
	return nil
}

func (s *server) remove(c net.Conn) {
	c.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.topics, c)
}

// Drop ends all connections. The peers may connect again.
func (s *server) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.topics {
		c.Close()
	}
}

// Close ends the socket and waits for its goroutines.
func (s *server) Close() {
	s.l.Close()
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.Drop()
	s.wg.Wait()
}

// Publisher is a PUB socket. It is safe for concurrent use.
type Publisher struct{ *server }

// Publish returns a publisher for the connections of l, which it closes.
func Publish(l net.Listener) *Publisher {
	return &Publisher{open(l, "PUB", func(s *server, c net.Conn, message [][]byte) {
		if topic, ok := strings.CutPrefix(string(message[0]), "\x01"); ok {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.topics[c] = append(s.topics[c], topic)
		}
	})}
}

// Send publishes a message, whose first part is its topic, to those who have subscribed.
func (p *Publisher) Send(parts ...[]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c, topics := range p.topics {
		for _, topic := range topics {
			if strings.HasPrefix(string(parts[0]), topic) {
				_ = writeMessage(c, parts...) // a broken connection is removed by its reader
				break
			}
		}
	}
}

// Subscribers returns how many connections have subscribed.
func (p *Publisher) Subscribers() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, topics := range p.topics {
		if len(topics) > 0 {
			n++
		}
	}
	return n
}

// serveReplays is a ROUTER socket: answer gets the parts of each request after the empty delimiter, and send sends one message of the reply.
func serveReplays(l net.Listener, answer func(request [][]byte, send func(parts ...[]byte) error)) *server {
	return open(l, "ROUTER", func(s *server, c net.Conn, message [][]byte) {
		answer(message[1:], func(parts ...[]byte) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			return writeMessage(c, append([][]byte{{}}, parts...)...)
		})
	})
}

// greet exchanges the greetings and the READY commands.
func greet(c net.Conn, r *bufio.Reader, kind string) error {
	greeting := [64]byte{0: 0xff, 8: 1, 9: 0x7f, 10: 3}
	copy(greeting[12:], "NULL")
	ready := binary.BigEndian.AppendUint32([]byte("\x05READY\x0bSocket-Type"), uint32(len(kind)))
	ready = append(ready, kind...)
	_, err := c.Write(append(append(greeting[:], 4, byte(len(ready))), ready...))
	if err == nil {
		_, err = io.ReadFull(r, greeting[:])
	}
	if err == nil {
		_, err = readMessage(r) // READY
	}
	return err
}

// writeMessage writes each part as a long frame.
func writeMessage(c net.Conn, parts ...[]byte) error {
	var out []byte
	for i, p := range parts {
		flags := byte(2)
		if i < len(parts)-1 {
			flags |= 1 // more parts follow
		}
		out = append(binary.BigEndian.AppendUint64(append(out, flags), uint64(len(p))), p...)
	}
	_ = c.SetWriteDeadline(time.Now().Add(10 * time.Second))
	_, err := c.Write(out)
	return err
}

// readMessage reads the parts of a message, or a command.
func readMessage(r *bufio.Reader) (parts [][]byte, err error) {
	for {
		head, err := r.Peek(2)
		if err != nil {
			return nil, err
		}
		flags, size := head[0], int(head[1])
		if flags&2 != 0 {
			return nil, errors.New("the proxy sends short frames only")
		}
		part := make([]byte, 2+size)
		if _, err := io.ReadFull(r, part); err != nil {
			return nil, err
		}
		if parts = append(parts, part[2:]); flags&1 == 0 {
			return parts, nil
		}
	}
}
