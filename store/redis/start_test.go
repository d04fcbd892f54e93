package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reprise/internal/redistest"
	"reprise/store"
)

// rights are those that the comment of the package names.
const rights = "~{reprise}:* +@read +@write +@scripting +@connection +@transaction +info +time"

func TestParseURL(t *testing.T) {
	for text, want := range map[string]string{
		"redis://h":                                "redis://h:6379",
		"rediss://u:p%40ss@h:1/3":                  "rediss://h:1/3 u p@ss",
		"redis://:p@ss/word@h":                     "redis://h:6379  p@ss/word",
		"redis://[::1]:7":                          "redis://[::1]:7",
		"redis-cluster://a,b:2":                    "redis-cluster://a:6379,b:2",
		"rediss-cluster://u:p@a":                   "rediss-cluster://a:6379 u p",
		"redis-sentinel://u:p@a,b:2/m/4":           "redis-sentinel://a:26379,b:2/m/4 u p",
		"redis-sentinel://a/m":                     "redis-sentinel://a:26379/m",
		"redis://":                                 "",
		"redis:h":                                  "",
		"memcached://h":                            "",
		"redis-cluster://h/1":                      "",
		"redis://a,b":                              "",
		"redis://h/x":                              "",
		"redis://h:0":                              "",
		"redis://h:99999":                          "",
		"redis://u:sesame@h:port":                  "",
		"redis-sentinel://h":                       "",
		"redis://h/0?password=u:sesame":            "",
		"redis://h?token=u:sesame":                 "",
		"redis://u:sesame@h/-1":                    "",
		"redis-sentinel+tls://u:sesame@h/m":        "",
		"redis-sentinel://u:sesame@h/m/sesame-one": "",
	} {
		to, err := parseURL(text)
		got := to.name()
		if to.password != "" {
			got += " " + to.user + " " + to.password
		}
		if err != nil {
			if got = ""; !errors.Is(err, store.ErrRefused) || !strings.Contains(err.Error(), "REPRISE_STORE") || strings.Contains(err.Error(), "u:sesame") {
				t.Errorf("%s: %v", text, err)
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// wrong is a start that must end with an error.
type wrong struct {
	title string
	o     Options
	is    error  // the error is one,
	says  string // and contains this
}

func (r wrong) run(t *testing.T) {
	t.Run(r.title, func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		s, err := Open(ctx, r.o)
		if s != nil {
			defer s.Close()
		}
		if !errors.Is(err, r.is) || !strings.Contains(err.Error(), r.says) || (s != nil) != (r.is == ErrUnreachable) {
			t.Errorf("%v %v", s, err)
		}
		if err != nil && strings.Contains(err.Error(), "sesame") {
			t.Errorf("the error repeats a password: %v", err)
		}
	})
}

// TestStartErrors: each wrong setting is an error that says which, and none hangs.
func TestStartErrors(t *testing.T) {
	open := redistest.Start(t, redistest.Options{})
	locked := redistest.Start(t, redistest.Options{Password: "open", ACL: []string{"narrow on >open ~* +@read +info", "elsewhere on >open ~other:* +@all", "able on >open " + rights}})
	node := redistest.StartCluster(t, redistest.Options{}).Nodes[0]
	at := func(s *redistest.Server, before, after string) Options {
		return Options{URL: "redis://" + before + s.Addr + after}
	}
	refused := store.ErrRefused
	for _, r := range []wrong{
		{"wrong password", at(locked, ":sesame@", ""), refused, "REPRISE_REDIS_PASSWORD"},
		{"wrong user", at(locked, "nobody:sesame@", ""), refused, "the user in REPRISE_STORE"},
		{"no password", at(locked, "", ""), refused, "set REPRISE_REDIS_PASSWORD"},
		{"no right to write", at(locked, "narrow:open@", ""), refused, "needs the rights"},
		{"no right to the keys", at(locked, "elsewhere:open@", ""), refused, "needs the rights"},
		{"database", at(open, "", "/99"), refused, "the database in REPRISE_STORE"},
		{"cluster alone", at(node, "", ""), refused, "use redis-cluster://"},
		{"single as cluster", Options{URL: "redis-cluster://" + open.Addr}, refused, "use redis://"},
		{"no host", Options{URL: "redis://no-such-host.invalid"}, refused, "check the host"},
		{"no TLS", Options{URL: "rediss://" + open.Addr}, refused, "redis instead of rediss"},
		{"no Redis", Options{URL: "redis://" + listener(t, "HTTP/1.1 400 Bad Request\r\n\r\n")}, refused, "no Redis server"},
		{"no sentinel", Options{URL: "redis-sentinel://" + open.Addr + "/cache"}, refused, "are no sentinels"},
		{"no hosts", Options{URL: "redis-cluster://no-such-host.invalid,no-such-node.invalid"}, refused, "check the host"},
		{"no host of a sentinel", Options{URL: "redis-sentinel://no-such-host.invalid/m"}, refused, "check the host"},
		{"one of two hosts", Options{URL: "redis-sentinel://no-such-host.invalid," + closed(t) + "/m"}, ErrUnreachable, ""},
		{"version", Options{URL: "redis://" + old(t)}, refused, "6.0.16, and 6.2 or later"},
		{"silent", Options{URL: "redis://" + listener(t, "")}, ErrUnreachable, ""},
		{"refused connection", Options{URL: "redis://" + closed(t)}, ErrUnreachable, "refused"},
		{"refused connection of a cluster", Options{URL: "redis-cluster://" + closed(t)}, ErrUnreachable, ""},
		{"refused connection of sentinels", Options{URL: "redis-sentinel://" + closed(t) + "/m"}, ErrUnreachable, ""},
	} {
		r.run(t)
	}
}

// listener is the address of a server that answers each connection with a text, or with nothing.
func listener(t *testing.T, text string) string {
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
			c.Write([]byte(text))
		}
	}()
	return l.Addr().String()
}

// old is the address of a server of an older version.
func old(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	serve := func(c net.Conn) {
		for b := make([]byte, 4096); ; {
			n, err := c.Read(b)
			switch {
			case err != nil:
				return
			case strings.Contains(string(b[:n]), "info"):
				fmt.Fprint(c, "$23\r\nredis_version:6.0.16\r\n\r\n\r\n")
			default:
				fmt.Fprint(c, "-ERR unknown command\r\n")
			}
		}
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serve(c)
		}
	}()
	return l.Addr().String()
}

// closed is an address at which no server listens.
func closed(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestStartErrorsOfTLS(t *testing.T) {
	c, others := redistest.NewCertificates(t), redistest.NewCertificates(t)
	server := redistest.Start(t, redistest.Options{TLS: c})
	url, refused := "rediss://"+server.Addr, store.ErrRefused
	full := Options{URL: url, CA: c.CA, Cert: c.ClientCert, Key: c.ClientKey}
	with := func(change func(*Options)) Options {
		o := full
		change(&o)
		return o
	}
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), full)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	for _, r := range []wrong{
		{"authority", with(func(o *Options) { o.CA = "" }), refused, "REPRISE_REDIS_TLS"},
		{"other authority", with(func(o *Options) { o.CA = others.CA }), refused, "REPRISE_REDIS_TLS"},
		{"no certificates in the file", with(func(o *Options) { o.CA = empty }), refused, "no certificate in PEM"},
		{"no file", with(func(o *Options) { o.CA = empty + "x" }), refused, "REPRISE_REDIS_TLS"},
		{"name", with(func(o *Options) { o.URL = strings.Replace(url, "127.0.0.1", "localhost", 1) }), refused, "as its certificate does"},
		{"no certificate", with(func(o *Options) { o.Cert, o.Key = "", "" }), refused, "REPRISE_REDIS_TLS"},
		{"other certificate", with(func(o *Options) { o.Cert, o.Key = others.ClientCert, others.ClientKey }), refused, "REPRISE_REDIS_TLS"},
		{"half a certificate", with(func(o *Options) { o.Key = "" }), refused, "REPRISE_REDIS_TLS"},
		{"without TLS", Options{URL: "redis://" + server.Addr}, refused, "rediss"},
		{"settings without TLS", Options{URL: "redis://" + server.Addr, CA: c.CA}, refused, "is for TLS"},
	} {
		r.run(t)
	}
}

// TestTLSEverywhere: a cluster, and sentinels with their servers, with TLS.
func TestTLSEverywhere(t *testing.T) {
	c := redistest.NewCertificates(t)
	o := Options{CA: c.CA, Cert: c.ClientCert, Key: c.ClientKey}
	many := redistest.StartCluster(t, redistest.Options{TLS: c})
	o.URL = "rediss-cluster://" + strings.Join(many.Addrs(), ",")
	roundTrip(t, o)
	f := redistest.StartFailover(t, redistest.Options{TLS: c, Password: "data"}, 1, "")
	o.URL = "rediss-sentinel://:data@" + f.Sentinels[0].Addr + "/" + f.Master
	roundTrip(t, o)
}

// TestRights: the rights that the comment of the package names are enough for everything, and no others of a single server are needed.
func TestRights(t *testing.T) {
	server := redistest.Start(t, redistest.Options{ACL: []string{"able on >open " + rights}})
	roundTrip(t, Options{URL: "redis://able:open@" + server.Addr})
	if _, err := open(t, Options{URL: "redis://able:open@" + server.Addr}).Info(t.Context()); err != nil {
		t.Error(err)
	}
	many := redistest.StartCluster(t, redistest.Options{ACL: []string{"able on >open " + rights + " +cluster|slots +cluster|shards"}})
	roundTrip(t, Options{URL: "redis-cluster://able:open@" + many.Nodes[0].Addr})
}

// TestAgreement: processes that cannot share a store find out at their start.
func TestAgreement(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	o := func(space, secret string) Options {
		return Options{URL: "redis://" + server.Addr, Space: space, Secret: secret}
	}
	const one, two = "sesame-sesame-sesame", "sesame-sesame-another"
	begun := func(o Options) {
		server.Must("FLUSHALL")
		s, err := Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
	}
	refused := func(o Options, is error, says string) {
		t.Helper()
		_, err := Open(t.Context(), o)
		if !errors.Is(err, is) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%v", err)
		}
	}
	begun(o("words", ""))
	kept := open(t, o("words", "")).Secret()
	if again := open(t, o("words", "")).Secret(); again != kept {
		t.Error("another secret at the next start")
	}
	if other := open(t, o("meaning", "")).Secret(); other != kept {
		t.Error("another embedder has another secret")
	}
	refused(o("words", one), store.ErrSecret, "leave out REPRISE_SECRET")
	server.Must("HSET", "{reprise}:head", "schema", "99")
	refused(o("words", ""), store.ErrVersion, `"99"`)
	begun(o("words", one))
	refused(o("words", ""), store.ErrSecret, "set the same here")
	refused(o("words", two), store.ErrSecret, "the same REPRISE_SECRET")
	if first, second := open(t, o("words", one)).Secret(), open(t, o("words", one)).Secret(); first != second {
		t.Error("one text makes two secrets")
	}
	for _, value := range fieldsOf(server.Must("HGETALL", "{reprise}:head")) {
		if secret := open(t, o("words", one)).Secret(); strings.Contains(value, string(secret[:])) || strings.Contains(value, one) {
			t.Error("the server has the secret of the operator")
		}
	}
	elsewhere := o("meaning", two)
	elsewhere.Prefix = "other"
	open(t, elsewhere)
}

func fieldsOf(v any) (all []string) {
	list, _ := v.([]any)
	for _, one := range list {
		text, _ := one.(string)
		all = append(all, text)
	}
	return all
}

// TestTemporary: states of a server that pass are no reason to refuse the start.
func TestTemporary(t *testing.T) {
	full := redistest.Start(t, redistest.Options{MaxMemory: "1mb"})
	replica := redistest.Start(t, redistest.Options{Extra: []string{"replicaof 127.0.0.1 1", "replica-serve-stale-data no"}})
	follower := redistest.Start(t, redistest.Options{Extra: []string{"replicaof 127.0.0.1 1"}})
	for title, server := range map[string]*redistest.Server{"full": full, "no link to the primary": replica, "replica": follower} {
		s, err := Open(t.Context(), Options{URL: "redis://" + server.Addr})
		if !errors.Is(err, ErrUnreachable) || errors.Is(err, store.ErrRefused) {
			t.Errorf("%s: %v", title, err)
		}
		if s != nil {
			s.Close()
		}
	}
}

// TestGoneAfterAgree: a server that goes away between the first call of a start and the load of its entries is one that is not there, and no
// error of the configuration.
func TestGoneAfterAgree(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	s := open(t, Options{URL: "redis://" + server.Addr})
	load := func() error {
		_, err := s.Backing().Load(func(store.Record) error { return nil })
		return err
	}
	if err := load(); err != nil {
		t.Error(err)
	}
	server.Kill()
	if _, err := s.Beat(t.Context(), store.Position{}, false); !errors.Is(err, ErrUnreachable) {
		t.Errorf("beat: %v", err)
	}
	if err := load(); !errors.Is(err, ErrUnreachable) {
		t.Errorf("load: %v", err)
	}
}
