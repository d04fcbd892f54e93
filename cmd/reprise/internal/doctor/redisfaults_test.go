package doctor

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"reprise/internal/redistest"
)

var redisFaults = []fault{
	{"a Redis that is not there", "error redis.connection", "connection refused", func(p *patient) { p.set("STORE", "redis://"+refusing(p.t)) }},
	{"a Redis that refuses the credential", "error redis.connection", "NOAUTH", func(p *patient) { p.redis(redistest.Options{Password: "sesame"}) }},
	{"a Redis with TLS, asked without", "error redis.connection", "requires TLS", func(p *patient) {
		p.redis(redistest.Options{TLS: redistest.NewCertificates(p.t)})
	}},
	{"an old Redis", "error redis.version", "version 5.0.14", func(p *patient) { p.set("STORE", "redis://"+oldRedis(p.t)) }},
	{"a Redis that writes nothing to its disk", "warning redis.persistence", "writes nothing", func(p *patient) {
		p.redis(redistest.Options{})
	}},
	{"a Redis that evicts by itself", "warning redis.memory", "allkeys-lru", func(p *patient) {
		p.redis(redistest.Options{AppendOnly: true, MaxMemory: "2gb", Policy: "allkeys-lru"})
	}},
	{"a Redis with less memory than the capacity", "warning redis.memory", "its maxmemory is 100.0 MiB", func(p *patient) {
		p.redis(redistest.Options{AppendOnly: true, MaxMemory: "100mb"})
	}},
	{"a slow Redis", "error redis.latency", "more than the 250ms", func(p *patient) {
		s := p.redis(redistest.Options{AppendOnly: true})
		far := redistest.NewProxy(p.t, s.Addr)
		far.Delay(300 * time.Millisecond)
		p.set("STORE", "redis://"+far.Addr)
	}},
	{"a store of a newer schema", "error redis.schema", "this program has schema", func(p *patient) {
		p.redis(redistest.Options{AppendOnly: true}).Must("HSET", "{reprise}:head", "schema", "99")
	}},
	{"a store with another secret", "error redis.schema", "secret", func(p *patient) {
		p.redis(redistest.Options{AppendOnly: true}).Must("HSET", "{reprise}:head", "schema", "2", "check", "00", "secret", "", "log", "1")
	}},
	{"certificate of an unknown Redis", "error redis.connection", "REPRISE_REDIS_TLS", func(p *patient) {
		s := p.redis(redistest.Options{TLS: redistest.NewCertificates(p.t)})
		p.set("STORE", "rediss://"+s.Addr)
	}},
}

// redis makes the store that of a real server.
func (p *patient) redis(o redistest.Options) *redistest.Server {
	p.t.Helper()
	s := redistest.Start(p.t, o)
	p.set("STORE", "redis://"+s.Addr)
	return s
}

// oldRedis answers as a server of version 5 does.
func oldRedis(t *testing.T) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go answerAsOld(c)
		}
	}()
	return l.Addr().String()
}

func answerAsOld(c net.Conn) {
	defer c.Close()
	const info = "redis_version:5.0.14\r\nredis_mode:standalone\r\n"
	for lines := bufio.NewScanner(c); lines.Scan(); {
		switch word := strings.ToLower(lines.Text()); word {
		case "info":
			fmt.Fprintf(c, "$%d\r\n%s\r\n", len(info), info)
		case "exists":
			fmt.Fprint(c, ":0\r\n")
		case "hello":
			fmt.Fprint(c, "-ERR unknown command `HELLO`\r\n")
		}
	}
}

// TestRedis: a server in which all is well is no fault, and the look at it leaves no key.
func TestRedis(t *testing.T) {
	p := newPatient(t)
	s := p.redis(redistest.Options{AppendOnly: true, MaxMemory: "2gb"})
	if r, printed := p.examine(); len(r.complaints()) > 0 {
		t.Error(printed)
	}
	if keys := s.Must("DBSIZE"); keys != int64(0) {
		t.Errorf("%v keys are left", keys)
	}
}
