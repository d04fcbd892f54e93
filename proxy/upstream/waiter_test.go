package upstream

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
)

// TestConnectionThatComesFirst: a request whose own connection does not come takes one that another request needs no more; that of its
// own is kept, and none is lost.
func TestConnectionThatComesFirst(t *testing.T) {
	needLook(t)
	s := startScripted(t, &scripted{answer: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"})
	tr := NewTransport(Limits{})
	defer tr.CloseIdleConnections()
	d, dial := tr.direct, tr.direct.dial
	first, err := d.conn(t.Context(), newRequest(t, s))
	if err != nil {
		t.Fatal(err)
	}
	dialled, goOn := make(chan bool), make(chan bool)
	d.dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		dialled <- true
		if !<-goOn {
			return nil, io.EOF
		}
		return dial(ctx, network, address)
	}
	got := make(chan error)
	wait := func() {
		c, err := d.conn(t.Context(), newRequest(t, s))
		if err == nil && c != first {
			err = errors.New("another connection")
		}
		got <- err
	}
	first.used = true
	go wait()
	<-dialled
	d.keep(first, nil)
	if err := <-got; err != nil {
		t.Error(err)
	}
	go wait()
	<-dialled
	goOn <- false // one of the two dials fails: the request may get the error, or the connection of the other
	goOn <- true
	if err := <-got; err == nil {
		t.Error("a connection that is in use was given out")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.waiting) > 0 {
		t.Errorf("%d addresses are still waited for", len(d.waiting))
	}
}

func newRequest(t *testing.T, s *scripted) *http.Request {
	r, err := http.NewRequest("GET", "http://"+s.Addr().String()+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
