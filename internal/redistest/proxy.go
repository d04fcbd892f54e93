package redistest

import (
	"net"
	"sync"
	"testing"
	"time"
)

// Proxy is a TCP proxy in front of a server, for faults of the network. Its methods take effect on open connections too.
type Proxy struct {
	Addr string // where clients connect

	target string
	listen net.Listener

	mu      sync.Mutex // protects the rest
	cut     bool
	hold    chan struct{} // nil: bytes go through; closed by the end of Hold
	delay   time.Duration
	perByte time.Duration
	open    map[net.Conn]struct{}
}

// NewProxy starts a proxy to an address.
func NewProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Addr: l.Addr().String(), target: target, listen: l, open: map[net.Conn]struct{}{}}
	t.Cleanup(func() { l.Close(); p.Heal(); p.Cut() })
	go p.accept()
	return p
}

// Cut closes all connections, and each new one at once, until Heal.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = true
	for c := range p.open {
		c.Close()
	}
}

// Hold makes the network swallow everything, without closing a connection: a partition. Heal ends it, and what was sent arrives then.
func (p *Proxy) Hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hold == nil {
		p.hold = make(chan struct{})
	}
}

// Delay makes everything arrive d later, in each direction.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// Throttle lets so many bytes a second through in each direction of each connection.
func (p *Proxy) Throttle(bytesPerSecond int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.perByte = time.Second / time.Duration(bytesPerSecond)
}

// Heal ends Cut, Hold, Delay and Throttle.
func (p *Proxy) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hold != nil {
		close(p.hold)
	}
	p.cut, p.hold, p.delay, p.perByte = false, nil, 0, 0
}

func (p *Proxy) accept() {
	for {
		c, err := p.listen.Accept()
		if err != nil {
			return
		}
		go p.serve(c)
	}
}

func (p *Proxy) serve(client net.Conn) {
	defer p.forget(client)
	if !p.keep(client) {
		return
	}
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer p.forget(server)
	if !p.keep(server) {
		return
	}
	go p.pump(client, server)
	p.pump(server, client)
}

// keep registers a connection, unless the network is cut.
func (p *Proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.cut {
		p.open[c] = struct{}{}
	}
	return !p.cut
}

func (p *Proxy) forget(c net.Conn) {
	c.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, c)
}

// chunk is data on its way.
type chunk struct {
	data []byte
	due  time.Time
}

// pump copies from one connection to the other until either ends, and closes both.
func (p *Proxy) pump(from, to net.Conn) {
	under, ended := make(chan chunk, 1024), make(chan struct{})
	go func() {
		defer close(ended)
		defer to.Close()
		defer from.Close()
		for c := range under {
			if p.pass(c); !p.write(to, c.data) {
				return
			}
		}
	}()
	defer close(under)
	for {
		b := make([]byte, 16<<10)
		n, err := from.Read(b)
		if err != nil {
			return
		}
		p.mu.Lock()
		due := time.Now().Add(p.delay)
		p.mu.Unlock()
		select {
		case under <- chunk{b[:n], due}:
		case <-ended:
			return
		}
	}
}

// pass waits until a chunk may arrive.
func (p *Proxy) pass(c chunk) {
	time.Sleep(time.Until(c.due))
	p.mu.Lock()
	hold, perByte := p.hold, p.perByte
	p.mu.Unlock()
	if hold != nil {
		<-hold
	}
	time.Sleep(perByte * time.Duration(len(c.data)))
}

func (p *Proxy) write(to net.Conn, b []byte) bool {
	_, err := to.Write(b)
	return err == nil
}
