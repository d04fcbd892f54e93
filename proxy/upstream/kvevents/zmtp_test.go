package kvevents

import (
	"bufio"
	"bytes"
	"net"
	"strings"
	"testing"
	"time"

	"reprise/internal/enginesim"
)

// TestFrames: a subscriber gets the messages of its topics, whole and in order, short frames and long ones.
func TestFrames(t *testing.T) {
	l := listen(t, "127.0.0.1:0")
	p := enginesim.Publish(l)
	defer p.Close()
	c, err := dial(t.Context(), "tcp://"+l.Addr().String(), sub)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	if err := c.subscribe("kv"); err != nil {
		t.Fatal(err)
	}
	until(t, "a subscription", func() bool { return p.Subscribers() == 1 })
	large := strings.Repeat("x", 1<<20)
	p.Send([]byte("other"), []byte("1"))
	p.Send([]byte("kv"), []byte("2"), []byte(large))
	p.Send([]byte("kv.more"))
	for i, want := range []string{"kv 2 " + large, "kv.more"} {
		if got, err := c.receive(); err != nil || string(bytes.Join(got, []byte(" "))) != want {
			t.Errorf("message %d: %.20q, %v", i, got, err)
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
		l := listen(t, "127.0.0.1:0")
		go func() {
			if c, err := l.Accept(); err == nil {
				c.Write(tc.sent)
				c.(*net.TCPConn).CloseWrite()
			}
		}()
		if _, err := dial(t.Context(), "tcp://"+l.Addr().String(), sub); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", tc.name, err)
		}
		l.Close()
	}
	for _, endpoint := range []string{"", "h:1", "ipc:///tmp/x", "tcp://h", "tcp://*"} {
		if _, err := addressOf(endpoint); err == nil || !strings.Contains(err.Error(), "tcp://host:5557") {
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
		c := &conn{Conn: ours}
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
			if _, err := c.receive(); err != nil {
				return
			}
		}
	})
}
