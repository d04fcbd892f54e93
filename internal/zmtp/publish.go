package zmtp

import (
	"net"
	"strings"
	"sync"
	"time"
)

// server accepts the connections of one socket.
type server struct {
	l  net.Listener
	wg sync.WaitGroup

	mu    sync.Mutex // guards what follows
	conns map[*Conn]*subscriber
	ended bool
}

// subscriber is what waits for one connection of a publisher.
type subscriber struct {
	topics []string
	queue  chan [][]byte
}

// queued is how many messages wait for one subscriber; the next ones are lost to it, as with ZeroMQ.
const queued = 1000

// serve gives each connection to handle, in a goroutine of its own, and closes it when that returns.
func (s *server) serve(own Socket, handle func(*Conn, *subscriber)) {
	s.wg.Go(func() {
		for {
			raw, err := s.l.Accept()
			if err != nil {
				return
			}
			s.wg.Go(func() {
				c, err := greet(raw, own)
				if err != nil {
					return
				}
				defer c.Close()
				if sub := s.add(c); sub != nil {
					defer s.remove(c)
					handle(c, sub)
				}
			})
		}
	})
}

// add notes a connection; nil where the server has ended.
func (s *server) add(c *Conn) *subscriber {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil
	}
	s.conns[c] = &subscriber{queue: make(chan [][]byte, queued)}
	return s.conns[c]
}

func (s *server) remove(c *Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.conns[c].queue)
	delete(s.conns, c)
}

// Drop ends all connections. The peers may connect again.
func (s *server) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.Close()
	}
}

// Close ends the socket and waits for its goroutines.
func (s *server) Close() error {
	err := s.l.Close()
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.Drop()
	s.wg.Wait()
	return err
}

// Publisher is a PUB socket. It is safe for concurrent use.
type Publisher struct{ server }

// Publish returns a publisher for the connections of l, which it closes.
func Publish(l net.Listener) *Publisher {
	p := &Publisher{server{l: l, conns: map[*Conn]*subscriber{}}}
	p.serve(pub, p.subscribed)
	return p
}

// subscribed follows the subscriptions of one connection.
func (p *Publisher) subscribed(c *Conn, s *subscriber) {
	p.wg.Go(func() {
		for parts := range s.queue {
			_ = c.SetWriteDeadline(time.Now().Add(handshake))
			if c.Send(parts...) != nil {
				c.Close()
			}
		}
	})
	for {
		parts, err := c.Receive()
		if err != nil {
			return
		}
		if topic, ok := strings.CutPrefix(string(parts[0]), "\x01"); ok && len(parts) == 1 {
			p.mu.Lock()
			s.topics = append(s.topics, topic)
			p.mu.Unlock()
		}
	}
}

// Send publishes a message, whose first part is its topic. It does not wait for subscribers, nor keep anything for later ones.
func (p *Publisher) Send(parts ...[]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.conns {
		for _, topic := range s.topics {
			if strings.HasPrefix(string(parts[0]), topic) {
				select {
				case s.queue <- parts:
				default:
				}
				break
			}
		}
	}
}

// Subscribers returns how many connections have subscribed.
func (p *Publisher) Subscribers() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.conns {
		if len(s.topics) > 0 {
			n++
		}
	}
	return n
}

// Answerer is a ROUTER socket that answers each request with several messages.
type Answerer struct{ server }

// Answer calls answer with the parts of each request that a connection of l sends, after the empty delimiter, from one goroutine for each
// connection. send sends one message of the reply.
func Answer(l net.Listener, answer func(request [][]byte, send func(parts ...[]byte) error)) *Answerer {
	a := &Answerer{server{l: l, conns: map[*Conn]*subscriber{}}}
	a.serve(router, func(c *Conn, _ *subscriber) {
		for {
			parts, err := c.Receive()
			if err != nil || len(parts) < 2 || len(parts[0]) > 0 {
				return
			}
			answer(parts[1:], func(parts ...[]byte) error { return c.Send(append([][]byte{{}}, parts...)...) })
		}
	})
	return a
}
