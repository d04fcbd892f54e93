package zmtp

import (
	"bufio"
	"bytes"
	"net"
	"strings"
	"testing"
	"time"
)

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func dial(t *testing.T, l net.Listener, own Socket) *Conn {
	t.Helper()
	c, err := Dial(t.Context(), "tcp://"+l.Addr().String(), own)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	return c
}

// until polls for a condition.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// TestPublish: a subscriber gets the messages of its topics, whole and in order, short frames and long ones.
func TestPublish(t *testing.T) {
	l := listen(t)
	p := Publish(l)
	defer p.Close()
	c := dial(t, l, Sub)
	if err := c.Subscribe("kv"); err != nil {
		t.Fatal(err)
	}
	until(t, "a subscription", func() bool { return p.Subscribers() == 1 })
	large := bytes.Repeat([]byte("x"), 1<<20)
	p.Send([]byte("other"), []byte("1"))
	p.Send([]byte("kv"), []byte("2"), large)
	p.Send([]byte("kv.more"))
	for i, want := range [][][]byte{{[]byte("kv"), []byte("2"), large}, {[]byte("kv.more")}} {
		got, err := c.Receive()
		if err != nil || len(got) != len(want) {
			t.Fatalf("message %d: %d parts, %v", i, len(got), err)
		}
		for j := range want {
			if !bytes.Equal(got[j], want[j]) {
				t.Errorf("message %d part %d: %.20q", i, j, got[j])
			}
		}
	}
	p.Drop()
	if _, err := c.Receive(); err == nil {
		t.Error("a closed connection has no error")
	}
}

// TestAnswer: a request gets several messages.
func TestAnswer(t *testing.T) {
	l := listen(t)
	a := Answer(l, func(request [][]byte, send func(parts ...[]byte) error) {
		for _, part := range request {
			if err := send(part, []byte("!")); err != nil {
				t.Error(err)
			}
		}
	})
	defer a.Close()
	c := dial(t, l, Dealer)
	if err := c.Send(nil, []byte("one"), []byte("two")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"one", "two"} {
		got, err := c.Receive()
		if err != nil || len(got) != 3 || len(got[0]) > 0 || string(got[1]) != want {
			t.Fatalf("got %q, %v", got, err)
		}
	}
}

// TestWrongPeers: what is no ZeroMQ, another version, another mechanism and another socket are named.
func TestWrongPeers(t *testing.T) {
	other := greeting()
	other[10] = 2
	secured := greeting()
	copy(secured[12:], "PLAIN")
	for _, tc := range []struct {
		name, want string
		sent       []byte
	}{
		{"HTTP", "is no ZMTP socket", []byte(strings.Repeat("HTTP/1.1 400 Bad Request\r\n", 4))},
		{"an older version", "ZMTP 2", other},
		{"another mechanism", "PLAIN", secured},
		{"another socket", "PUSH", append(greeting(), "\x04\x1a\x05READY\x0bSocket-Type\x00\x00\x00\x04PUSH"...)},
		{"no socket", "does not say", append(greeting(), "\x04\x06\x05READY"...)},
		{"a message at once", "in place of READY", append(greeting(), "\x00\x02hi"...)},
		{"a truncated property", "does not say", append(greeting(), "\x04\x08\x05READY\x0bS"...)},
		{"an end", "EOF", greeting()[:20]},
		{"a frame of 2^60 bytes", "longer than", append(greeting(), 6, 16, 0, 0, 0, 0, 0, 0, 0)},
	} {
		l := listen(t)
		go func() {
			if c, err := l.Accept(); err == nil {
				c.Write(tc.sent)
				c.(*net.TCPConn).CloseWrite()
			}
		}()
		if _, err := Dial(t.Context(), "tcp://"+l.Addr().String(), Sub); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", tc.name, err)
		}
		l.Close()
	}
	for _, endpoint := range []string{"", "h:1", "ipc:///tmp/x", "tcp://h", "tcp://*"} {
		if _, err := Address(endpoint); err == nil || !strings.Contains(err.Error(), "tcp://host:5557") {
			t.Errorf("%q: %v", endpoint, err)
		}
	}
}

// FuzzReceive: no bytes of a peer make a panic, or memory beyond what has come.
func FuzzReceive(f *testing.F) {
	f.Add([]byte("\x01\x01a\x00\x01b"))
	f.Add([]byte("\x04\x07\x04PING\x00\x01"))
	f.Add([]byte{2, 0, 0, 0, 0, 3, 0, 0, 0, 'x'})
	f.Fuzz(func(t *testing.T, sent []byte) {
		ours, theirs := net.Pipe()
		c := &Conn{Conn: ours}
		c.r = bufio.NewReader(bytes.NewReader(sent))
		go func() { // what is written is dropped
			var sink [512]byte
			for {
				if _, err := theirs.Read(sink[:]); err != nil {
					return
				}
			}
		}()
		defer theirs.Close()
		for {
			if _, err := c.Receive(); err != nil {
				return
			}
		}
	})
}
