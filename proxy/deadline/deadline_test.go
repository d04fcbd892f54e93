package deadline

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// play makes the same calls, drawn from a seed, with one end of a pipe, and returns what came of them and when.
func play(t *testing.T, seed uint64, wrap func(net.Conn) net.Conn) (log []string) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		conn, rng, begin := wrap(a), rand.New(rand.NewPCG(seed, 1)), time.Now()
		events := make(chan string, 1000)
		note := func(what string, n int, err error) {
			events <- fmt.Sprintf("%v %s %d timeout=%v ended=%v", time.Since(begin), what, n, errors.Is(err, os.ErrDeadlineExceeded),
				errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe))
		}
		var pending [2]int // calls of each direction that have not returned
		done := make(chan int, 1000)
		for range 60 {
			at := time.Time{}
			switch rng.IntN(6) {
			case 0:
			case 1:
				at = time.Unix(1, 0)
			default:
				at = time.Now().Add(time.Duration(rng.IntN(4000)) * time.Millisecond)
			}
			switch op := rng.IntN(6); {
			case op == 0:
				conn.SetReadDeadline(at)
			case op == 1:
				conn.SetWriteDeadline(at)
			case op == 2 && pending[0] == 0:
				pending[0]++
				go func() { n, err := conn.Read(make([]byte, 3)); note("read", n, err); done <- 0 }()
			case op == 3 && pending[1] == 0:
				pending[1]++
				go func() { n, err := conn.Write(make([]byte, 5)); note("wrote", n, err); done <- 1 }()
			case op == 4:
				b.SetDeadline(time.Now().Add(time.Millisecond / 2))
				b.Write([]byte{1, 2})
			case op == 5:
				b.SetDeadline(time.Now().Add(time.Millisecond / 2))
				b.Read(make([]byte, 1+rng.IntN(4)))
			}
			time.Sleep(time.Duration(rng.IntN(700)+1) * time.Millisecond)
			for len(done) > 0 {
				pending[<-done]--
			}
		}
		b.Close()
		a.Close()
		synctest.Wait()
		close(events)
		for e := range events {
			log = append(log, e)
		}
		slices.Sort(log)
	})
	return log
}

// TestAsBelow: reads and writes end as they do without a Conn, at the same time.
func TestAsBelow(t *testing.T) {
	for seed := range uint64(300) {
		want := play(t, seed, func(c net.Conn) net.Conn { return c })
		got := play(t, seed, func(c net.Conn) net.Conn { return New(c) })
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d:\n got %q\nwant %q", seed, got, want)
		}
		if len(want) == 0 {
			t.Fatalf("seed %d: nothing was read or written", seed)
		}
	}
}

// sets counts how often deadlines are set.
type sets struct {
	net.Conn
	n int
}

func (s *sets) SetReadDeadline(t time.Time) error  { s.n++; return s.Conn.SetReadDeadline(t) }
func (s *sets) SetWriteDeadline(t time.Time) error { s.n++; return s.Conn.SetWriteDeadline(t) }

// TestFewAreSet: the deadlines of a busy connection, as net/http's server sets them, are seldom set below.
func TestFewAreSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		defer b.Close()
		below := &sets{Conn: a}
		c := New(below)
		defer c.Close()
		go io.Copy(b, b) // what is written comes back
		p := make([]byte, 8)
		const requests = 10_000
		for range requests {
			c.SetWriteDeadline(time.Now().Add(30 * time.Second))
			if _, err := c.Write(p); err != nil {
				t.Fatal(err)
			}
			for _, limit := range []time.Duration{120 * time.Second, 10 * time.Second, 40 * time.Second} {
				c.SetReadDeadline(time.Now().Add(limit))
			}
			if _, err := io.ReadFull(c, p); err != nil {
				t.Fatal(err)
			}
			c.SetReadDeadline(time.Unix(1, 0))
			if _, err := c.Read(p); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatal(err)
			}
			c.SetReadDeadline(time.Time{})
			time.Sleep(10 * time.Millisecond)
		}
		if below.n > requests/1000+10 {
			t.Errorf("%d deadlines were set below in %d requests", below.n, requests)
		}
	})
}

// BenchmarkDeadline is a move of a deadline and a read, as they are and noted.
func BenchmarkDeadline(b *testing.B) {
	for name, wrap := range map[string]func(net.Conn) net.Conn{"plain": func(c net.Conn) net.Conn { return c }, "noted": func(c net.Conn) net.Conn { return New(c) }} {
		b.Run(name, func(b *testing.B) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			far, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				b.Fatal(err)
			}
			defer far.Close()
			near, err := l.Accept()
			if err != nil {
				b.Fatal(err)
			}
			defer near.Close()
			c := wrap(near)
			for b.Loop() {
				c.SetReadDeadline(time.Now().Add(time.Minute))
				c.SetReadDeadline(time.Time{})
			}
		})
	}
}
