package redistest

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strconv"
	"testing"
	"time"

	redis "github.com/redis/go-redis/v9"
)

func TestRestart(t *testing.T) {
	s := Start(t, Options{Password: "secret", AppendOnly: true})
	s.Must("SET", "a", "1")
	s.Restart()
	if v := s.Must("GET", "a"); v != "1" {
		t.Errorf("after a restart: %v", v)
	}
	s.Must("CONFIG", "RESETSTAT")
	s.Must("GET", "a")
	if n := s.Calls()["get"]; n != 1 {
		t.Errorf("%d calls of GET", n)
	}
}

// TestRestartLoads: a server that answers INFO while it loads what is on disk has not started yet.
func TestRestartLoads(t *testing.T) {
	const keys, perKey = 4000, "50" // it answers after every thousand or so; the delay of each key is in microseconds
	s := Start(t, Options{AppendOnly: true, Extra: []string{"key-load-delay " + perKey}})
	s.Must("EVAL", "for i = 1, tonumber(ARGV[1]) do redis.call('SET', 'key' .. i, '1') end", "0", strconv.Itoa(keys))
	s.Restart()
	if v, err := s.Do("DBSIZE"); v != int64(keys) || err != nil {
		t.Errorf("%v of %d keys after a restart: %v", v, keys, err)
	}
}

func TestFreeze(t *testing.T) {
	s := Start(t, Options{})
	s.Freeze()
	answer := make(chan any, 1)
	go func() {
		v, _ := s.Do("PING")
		answer <- v
	}()
	select {
	case v := <-answer:
		t.Errorf("a frozen server answers %v", v)
	case <-time.After(50 * time.Millisecond):
	}
	s.Thaw()
	if v := <-answer; v != "PONG" {
		t.Errorf("answer %v", v)
	}
}

func TestTLS(t *testing.T) {
	c := NewCertificates(t)
	s := Start(t, Options{TLS: c})
	s.Must("PING")
	without := c.Client.Clone()
	without.Certificates = nil
	for what, secure := range map[string]*tls.Config{"a client without a certificate is served": without, "the certificate is trusted without its authority": {}} {
		if err := s.client(secure).Ping(t.Context()).Err(); err == nil {
			t.Error(what)
		}
	}
}

func TestCluster(t *testing.T) {
	c := StartCluster(t, Options{})
	owner := c.Owner(t, "{a}")
	owner.Must("SET", "{a}1", "x")
	for _, s := range c.Nodes {
		_, err := s.Do("GET", "{a}1")
		var moved redis.Error
		if got := errors.As(err, &moved); got == (s == owner) {
			t.Errorf("%s: %v", s.Addr, err)
		}
	}
}

func TestFailover(t *testing.T) {
	f := StartFailover(t, Options{Password: "data"}, 1, "watch")
	old := f.Primary
	old.Kill()
	f.AwaitSwitch(t)
	f.Primary.Must("SET", "a", "1")
	if f.Replica != old {
		t.Error("the former primary is not the replica")
	}
}

func TestProxy(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go io.Copy(c, c)
		}
	}()
	p := NewProxy(t, l.Addr().String())
	c, err := net.Dial("tcp", p.Addr)
	if err != nil {
		t.Fatal(err)
	}
	echo := func() error {
		if _, err := c.Write([]byte("x")); err != nil {
			return err
		}
		_, err := io.ReadFull(c, make([]byte, 1))
		return err
	}
	if err := echo(); err != nil {
		t.Fatal(err)
	}
	const each = 50 * time.Millisecond
	p.Delay(each)
	if start := time.Now(); echo() != nil || time.Since(start) < 2*each {
		t.Error("no delay")
	}
	p.Heal()
	p.Hold()
	c.SetDeadline(time.Now().Add(each))
	if err := echo(); err == nil {
		t.Error("bytes went through while the network holds them")
	}
	p.Heal()
	c.SetDeadline(time.Time{})
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
		t.Errorf("after Heal: %v", err)
	}
	p.Cut()
	if err := echo(); err == nil {
		t.Error("bytes went through a connection that was cut")
	}
}
