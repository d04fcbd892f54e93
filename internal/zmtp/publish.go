package zmtp

import (
	"errors"
	"net"
	"strings"
	"sync"
	"time"
)

// Publisher is a PUB socket. It is safe for concurrent use.
type Publisher struct {
	l  net.Listener
	wg sync.WaitGroup

	mu     sync.Mutex // guards what follows
	subs   map[*Conn]*subscriber
	closed bool
}

// subscriber is one connection and what waits for it.
type subscriber struct {
	topics []string
	queue  chan [][]byte
}

// queued is how many messages wait for one subscriber; the next ones are lost to it, as with ZeroMQ.
const queued = 1000

// Publish returns a publisher for the connections of l, which it closes.
func Publish(l net.Listener) *Publisher {
	p := &Publisher{l: l, subs: map[*Conn]*subscriber{}}
	serve(l, pub, &p.wg, p.subscribed)
	return p
}

// serve gives each connection of l to handle, and closes it when that returns.
func serve(l net.Listener, own Socket, wg *sync.WaitGroup, handle func(*Conn)) {
	wg.Go(func() {
		for {
			raw, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				if c, err := greet(raw, own); err == nil {
					defer c.Close()
					handle(c)
				}
			})
		}
	})
}

// subscribed follows the subscriptions of one connection.
func (p *Publisher) subscribed(c *Conn) {
	s := &subscriber{queue: make(chan [][]byte, queued)}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return
	}
	p.subs[c] = s
	p.mu.Unlock()
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
		p.mu.Lock()
		switch {
		case err != nil:
			if p.subs[c] != nil {
				delete(p.subs, c)
				close(s.queue)
			}
			p.mu.Unlock()
			return
		case len(parts) == 1 && strings.HasPrefix(string(parts[0]), "\x01"):
			s.topics = append(s.topics, string(parts[0][1:]))
		}
		p.mu.Unlock()
	}
}

// Send publishes a message, whose first part is its topic. It does not wait for subscribers, nor keep anything for later ones.
func (p *Publisher) Send(parts ...[]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.subs {
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

// Subscribers is how many connections have subscribed.
func (p *Publisher) Subscribers() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.subs {
		if len(s.topics) > 0 {
			n++
		}
	}
	return n
}

// Drop ends all connections. Subscribers may connect again.
func (p *Publisher) Drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.subs {
		c.Close()
	}
}

// Close ends the publisher and waits for its goroutines.
func (p *Publisher) Close() error {
	err := p.l.Close()
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.Drop()
	p.wg.Wait()
	return err
}

// Answerer is a ROUTER socket that answers each request with several messages.
type Answerer struct {
	l  net.Listener
	wg sync.WaitGroup

	mu    sync.Mutex // guards conns
	conns map[*Conn]bool
}

// Answer calls answer with the parts of each request that a connection of l sends, after the empty delimiter, from one goroutine for each
// connection. send sends one message of the reply.
func Answer(l net.Listener, answer func(request [][]byte, send func(parts ...[]byte) error)) *Answerer {
	a := &Answerer{l: l, conns: map[*Conn]bool{}}
	serve(l, router, &a.wg, func(c *Conn) {
		a.mu.Lock()
		if a.conns == nil {
			a.mu.Unlock()
			return
		}
		a.conns[c] = true
		a.mu.Unlock()
		defer func() {
			a.mu.Lock()
			delete(a.conns, c)
			a.mu.Unlock()
		}()
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

// Close ends the socket and waits for its goroutines.
func (a *Answerer) Close() error {
	err := a.l.Close()
	a.mu.Lock()
	for c := range a.conns {
		c.Close()
	}
	a.conns = nil
	a.mu.Unlock()
	a.wg.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
