package redis

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"reprise/internal/redistest"
	"reprise/store"
)

// within gives up on a condition after long enough for any machine.
func within(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within a minute", what)
		}
	}
}

// calls are all that reach the server, each with the time of ctx.
func calls(s *Shared, m store.Mark) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"fetch": func(ctx context.Context) error { _, err := s.Fetch(ctx, store.Key{1}); return err },
		"append": func(ctx context.Context) error {
			_, err := s.Append(ctx, m, 1000, []store.Event{insert(entry(1, 1, "a"))})
			return err
		},
		"purge": func(ctx context.Context) error { _, err := s.Purge(ctx, 1001, store.Filter{}); return err },
		"read":  func(ctx context.Context) error { _, err := s.Read(ctx, store.Position{}, time.Second); return err },
		"beat":  func(ctx context.Context) error { _, err := s.Beat(ctx, store.Position{}, true); return err },
		"trim": func(ctx context.Context) error {
			return s.TrimLog(ctx, store.Position{N: 1, ID: logName(m.Log) + "/1-1"})
		},
		"fetch or lease": func(ctx context.Context) error { _, err := s.FetchOrLease(ctx, store.Key{1}, time.Second); return err },
		"lease":          func(ctx context.Context) error { _, err := s.Lease(ctx, store.Key{1}, time.Second); return err },
		"renew":          func(ctx context.Context) error { return s.Renew(ctx, time.Second, store.Key{1}) },
		"free":           func(ctx context.Context) error { return s.Release(ctx, store.Key{1}) },
		"info":           func(ctx context.Context) error { _, err := s.Info(ctx); return err },
		"agree":          s.Agree,
	}
}

// TestSilence: no call outlives its deadline while the server is frozen, and all work again afterwards.
func TestSilence(t *testing.T) {
	many := redistest.StartCluster(t, redistest.Options{})
	owner := many.Owner(t, "{reprise}:head")
	one := redistest.Start(t, redistest.Options{})
	for _, at := range []struct {
		url    string
		server *redistest.Server
	}{{"redis://" + one.Addr, one}, {"redis-cluster://" + strings.Join(many.Addrs(), ","), owner}} {
		s, err := Open(t.Context(), Options{URL: at.url})
		if err != nil {
			t.Fatal(err)
		}
		m := beat(t, s).Mark
		at.server.Freeze()
		for name, call := range calls(s, m) {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			if err := call(ctx); err == nil {
				t.Errorf("%s succeeds while the server is frozen", name)
			}
			cancel()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		other, err := Open(ctx, Options{URL: at.url})
		if !errors.Is(err, ErrUnreachable) {
			t.Errorf("open: %v", err)
		} else {
			other.Close()
		}
		cancel()
		at.server.Thaw()
		for name, call := range calls(s, m) {
			within(t, name, func() bool {
				err := call(t.Context())
				return err == nil || errors.Is(err, store.ErrPurged)
			})
		}
		at.server.Freeze()
		s.Close()
		at.server.Thaw()
	}
}

// TestEmptied: a server that was emptied has another log, and what was known of the former one is refused.
func TestEmptied(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	s := open(t, Options{URL: "redis://" + server.Addr})
	before := beat(t, s)
	p := appendAll(t, s, before.Mark, insert(entry(1, 1, "a")))
	server.Must("FLUSHALL")
	if f, err := s.Fetch(t.Context(), store.Key{1}); err != nil || f.Entry != nil || f.Now != (store.Mark{}) {
		t.Errorf("fetched %+v %v", f, err)
	}
	if _, err := s.Append(t.Context(), before.Mark, next(), nil); !errors.Is(err, store.ErrGap) {
		t.Errorf("append: %v", err)
	}
	if _, err := s.Purge(t.Context(), next(), store.Filter{}); !errors.Is(err, store.ErrGap) {
		t.Errorf("purge: %v", err)
	}
	after := beat(t, s)
	if after.Mark.Log == before.Mark.Log || after.Mark.Purges != 0 || after.End.N != 0 {
		t.Errorf("state %+v", after)
	}
	for range 2 { // with an empty log, and with one
		if _, err := s.Read(t.Context(), p, time.Millisecond); !errors.Is(err, store.ErrGap) {
			t.Errorf("read: %v", err)
		}
		appendAll(t, s, after.Mark, insert(entry(2, 2, "b")))
	}
	if _, err := s.Append(t.Context(), before.Mark, next(), nil); !errors.Is(err, store.ErrGap) {
		t.Errorf("append under the mark of the former log: %v", err)
	}
	if got, err := s.Read(t.Context(), after.End, time.Second); err != nil || len(got) != 2 {
		t.Errorf("read %+v %v", got, err)
	}
	again := open(t, Options{URL: "redis://" + server.Addr})
	if again.Secret() != s.Secret() {
		t.Error("the secret of the process that noticed is not that of the store")
	}
}

// TestKilled: what was acknowledged is there after kill -9 of a server that writes to its disk.
func TestKilled(t *testing.T) {
	server := redistest.Start(t, redistest.Options{AppendOnly: true})
	s := open(t, Options{URL: "redis://" + server.Addr})
	m := beat(t, s).Mark
	p := appendAll(t, s, m, insert(entry(1, 1, "a")))
	server.Kill()
	for name, call := range calls(s, m) {
		if err := call(t.Context()); err == nil {
			t.Errorf("%s succeeds without a server", name)
		}
	}
	server.Restart()
	within(t, "fetch", func() bool {
		f, err := s.Fetch(t.Context(), store.Key{1})
		return err == nil && f.Entry != nil && f.Now == m
	})
	if got := beat(t, s); got.End != p {
		t.Errorf("the log ends at %v, want %v", got.End, p)
	}
	appendAll(t, s, m, insert(entry(2, 2, "b")))
	within(t, "read", func() bool { // the pool of one connection tries to connect once a second
		got, err := s.Read(t.Context(), p, time.Second)
		return err == nil && len(got) == 1
	})
}

// stale returns a function that brings the keys back to what they are now, as a failover to a replica that lags does.
func stale(t *testing.T, server *redistest.Server, names ...string) (back func()) {
	dumps := map[string]string{}
	for _, name := range names {
		dumps[name], _ = server.Must("DUMP", "{reprise}:"+name).(string)
	}
	return func() {
		for name, dump := range dumps {
			server.Must("DEL", "{reprise}:"+name)
			server.Must("RESTORE", "{reprise}:"+name, "0", dump)
		}
	}
}

// nextMillisecond returns when the clock of the server is in another millisecond than at the call.
func nextMillisecond(server *redistest.Server) {
	now := func() string {
		t := server.Must("TIME").([]any)
		return fmt.Sprintf("%s.%06s", t[0], t[1])[:14]
	}
	for begin := now(); now() == begin; {
	}
}

// TestLostHistory: a process that has read batches which a failover then lost finds out, whatever others have appended since.
func TestLostHistory(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	a, b := open(t, Options{URL: "redis://" + server.Addr}), open(t, Options{URL: "redis://" + server.Addr})
	m := beat(t, a).Mark
	appendAll(t, a, m, insert(entry(1, 1, "a")))
	for more := range 4 {
		t.Run(fmt.Sprint(more), func(t *testing.T) {
			back := stale(t, server, "head", "log", "mark")
			var lost store.Position
			for range 2 {
				lost = appendAll(t, a, m, insert(entry(2, 2, "lost")))
			}
			back()
			nextMillisecond(server) // ids have the time: within one millisecond those of the lost batches would be given again, which no failover is fast enough for
			for range more {
				if _, err := b.Append(t.Context(), m, next(), []store.Event{insert(entry(3, 3, "b"))}); err != nil {
					t.Fatal(err)
				}
			}
			if got, err := a.Read(t.Context(), lost, time.Millisecond); !errors.Is(err, store.ErrGap) {
				t.Errorf("read %+v %v", got, err)
			}
		})
	}
	t.Run("a purge", func(t *testing.T) {
		back := stale(t, server, "head", "log", "mark")
		now, err := a.Purge(t.Context(), next(), store.Filter{Tenant: "t"})
		if err != nil {
			t.Fatal(err)
		}
		back()
		if _, err := a.Append(t.Context(), now, next(), nil); !errors.Is(err, store.ErrGap) {
			t.Errorf("append under a mark that the store has lost: %v", err)
		}
		if p := beat(t, a); p.Mark.Purges != now.Purges-1 {
			t.Errorf("mark %v", p.Mark)
		}
	})
}

// TestTrimmed: a process that lacks what the log does not have any more finds out, and the end of the log stays.
func TestTrimmed(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	s := open(t, Options{URL: "redis://" + server.Addr})
	m := beat(t, s).Mark
	var ends []store.Position
	for range 5 {
		ends = append(ends, appendAll(t, s, m, insert(entry(1, 1, "a"))))
	}
	if err := s.TrimLog(t.Context(), ends[2]); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{-1, -1, 2, 1, 0} {
		got, err := s.Read(t.Context(), ends[i], time.Millisecond)
		if i == 1 {
			want = 3 // the batch at which it was trimmed stays
		}
		if want < 0 != errors.Is(err, store.ErrGap) || want >= 0 && len(got) != want {
			t.Errorf("after batch %d: %d batches, %v", i+1, len(got), err)
		}
	}
	if err := s.TrimLog(t.Context(), ends[4]); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Read(t.Context(), ends[4], time.Millisecond); err != nil || len(got) != 0 {
		t.Errorf("at the end: %d batches, %v", len(got), err)
	}
	other := store.Position{N: 9, ID: strings.Repeat("0", 16) + "/99-0"}
	if err := s.TrimLog(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if n := server.Must("XLEN", "{reprise}:log"); n != int64(1) {
		t.Errorf("%v batches after a trim at a position of another log", n)
	}
}

// TestLogIsBounded: in batches, in bytes, and in what a member lacks.
func TestLogIsBounded(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	s := open(t, Options{URL: "redis://" + server.Addr, LogBytes: 100 << 10})
	m := beat(t, s).Mark
	e := entry(1, 1, "a")
	e.Prompt = strings.Repeat("x", 10<<10)
	var end store.Position
	for range 400 {
		end = appendAll(t, s, m, insert(e))
		if n := server.Must("XLEN", "{reprise}:log").(int64); n > 11 {
			t.Fatalf("%d batches of 10 KiB each", n)
		}
	}
	e.Prompt = ""
	for range 1000 {
		end = appendAll(t, s, m, store.Event{Kind: store.EventUse, ID: 1})
	}
	if n := server.Must("XLEN", "{reprise}:log").(int64); n < 500 {
		t.Errorf("%d small batches are left", n)
	}
	if _, err := s.Beat(t.Context(), end, true); err != nil {
		t.Fatal(err)
	}
	if n := server.Must("XLEN", "{reprise}:log").(int64); n < keptBatches || n > keptBatches+200 { // whole blocks of the stream are dropped
		t.Errorf("%d batches are left that all have applied", n)
	}
}

// TestFull: a server without memory refuses to append, still has what it had, and takes the batch when there is room. The keeper stays one, and
// what it removes makes room.
func TestFull(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	s := open(t, Options{URL: "redis://" + server.Addr})
	m := beat(t, s).Mark
	appendAll(t, s, m, insert(entry(1, 1, "a")))
	if _, err := s.Beat(t.Context(), store.Position{}, true); err != nil {
		t.Fatal(err)
	}
	server.Must("CONFIG", "SET", "maxmemory", "1mb")
	_, err := s.Append(t.Context(), m, next(), []store.Event{insert(entry(2, 2, "b"))})
	if !errors.Is(err, store.ErrFull) {
		t.Errorf("append: %v", err)
	}
	if f, err := s.Fetch(t.Context(), store.Key{1}); err != nil || f.Entry == nil {
		t.Errorf("fetched %+v %v", f, err)
	}
	if f, err := s.FetchOrLease(t.Context(), store.Key{2}, time.Second); err != nil || f.Now != m || f.Leased {
		t.Errorf("fetched without an answer: %+v %v", f, err)
	}
	if p, err := s.Beat(t.Context(), store.Position{}, true); err != nil || p.Keeper != s.Process() || p.Mark != m || p.End.N != 1 || !p.Full {
		t.Errorf("beat: %+v %v", p, err)
	}
	if _, err := s.Append(t.Context(), m, next(), []store.Event{{Kind: store.EventEvict, ID: 1, Key: store.Key{1}}}); err != nil {
		t.Errorf("removal: %v", err)
	}
	if f, err := s.Fetch(t.Context(), store.Key{1}); err != nil || f.Entry != nil || len(records(t, s)) > 0 {
		t.Errorf("after a removal: %+v %v, records %v", f, err, records(t, s))
	}
	if m, err = s.Purge(t.Context(), next(), store.Filter{}); err != nil || m.Purges != 1 {
		t.Errorf("purge: %v %v", m, err)
	}
	serial := next()
	server.Must("CONFIG", "SET", "maxmemory", "0")
	var at [2]store.Position
	for i := range at {
		var err error
		if at[i], err = s.Append(t.Context(), m, serial, []store.Event{insert(entry(2, 2, "b"))}); err != nil {
			t.Fatal(err)
		}
	}
	if at[0] != at[1] || at[0].N != 4 {
		t.Errorf("appended at %v and %v", at[0], at[1])
	}
	info, err := s.Info(t.Context())
	if err != nil || info.Policy != "noeviction" || info.MaxMemory != 0 || info.Used == 0 || info.Version == "" {
		t.Errorf("%+v %v", info, err)
	}
}

// TestReadOnly: an answer that the server is a replica now drops the connections, in each wording.
func TestReadOnly(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	s := open(t, Options{URL: "redis://" + server.Addr})
	m := beat(t, s).Mark
	clients := func() int64 {
		return int64(strings.Count(fmt.Sprint(server.Must("CLIENT", "LIST")), "laddr="))
	}
	for name, call := range map[string]func() error{
		"command": func() error { _, err := s.Lease(t.Context(), store.Key{9}, time.Minute); return err },
		"script": func() error {
			_, err := s.Append(t.Context(), m, next(), []store.Event{insert(entry(1, 1, "a"))})
			return err
		},
		"older": func() error {
			return s.link.seen(s.link.client().Eval(t.Context(), "return redis.error_reply('ERR READONLY replica')", nil).Err())
		},
		"fetch": func() error {
			f, err := s.FetchOrLease(t.Context(), store.Key{8}, time.Minute)
			if err == nil && !f.Leased { // by a replica, which has the answers
				err = errors.New("READONLY")
			}
			s.Release(t.Context(), store.Key{8})
			return err
		},
	} {
		server.Must("REPLICAOF", "127.0.0.1", "1")
		s.link.renewed.Store(0)
		before := s.link.client()
		if err := call(); err == nil || !strings.Contains(err.Error(), "READONLY") {
			t.Errorf("%s: %v", name, err)
		}
		if s.link.client() == before {
			t.Errorf("%s: the connections are the same", name)
		}
		server.Must("REPLICAOF", "NO", "ONE")
		if err := call(); err != nil && name != "older" {
			t.Errorf("%s: afterwards: %v", name, err)
		}
	}
	if n := clients(); n > 4 {
		t.Errorf("%d connections are open", n)
	}
}

// TestFailover: after the sentinels have made the replica the primary, everything goes on there.
func TestFailover(t *testing.T) {
	f := redistest.StartFailover(t, redistest.Options{Password: "data"}, 1, "watch")
	o := Options{URL: "redis-sentinel://:data@" + f.Sentinels[0].Addr + "/cache", SentinelPassword: "watch"}
	for _, r := range []wrong{
		{"password of the sentinels", Options{URL: o.URL, SentinelPassword: "sesame"}, store.ErrRefused, "REPRISE_REDIS_SENTINEL_PASSWORD"},
		{"no password of the sentinels", Options{URL: o.URL}, store.ErrRefused, "REPRISE_REDIS_SENTINEL_PASSWORD"},
		{"name of the master", Options{URL: strings.Replace(o.URL, "/cache", "/other", 1), SentinelPassword: "watch"}, store.ErrRefused, "have no master"},
		{"password", Options{URL: strings.Replace(o.URL, ":data", ":sesame", 1), SentinelPassword: "watch"}, store.ErrRefused, "REPRISE_REDIS_PASSWORD"},
	} {
		r.run(t)
	}
	t.Run("switch", func(t *testing.T) {
		s := open(t, o)
		m := beat(t, s).Mark
		p := appendAll(t, s, m, insert(entry(1, 1, "a")))
		within(t, "replication", func() bool {
			return f.Replica.Info("replication")["master_repl_offset"] == f.Primary.Info("replication")["master_repl_offset"]
		})
		f.Primary.Kill()
		f.AwaitSwitch(t)
		within(t, "fetch", func() bool {
			got, err := s.Fetch(t.Context(), store.Key{1})
			return err == nil && got.Entry != nil
		})
		within(t, "append", func() bool {
			_, err := s.Append(t.Context(), m, 1<<20, []store.Event{insert(entry(2, 2, "b"))})
			return err == nil
		})
		within(t, "read", func() bool {
			got, err := s.Read(t.Context(), p, time.Second)
			return err == nil && len(got) == 1 && got[0].N == p.N+1
		})
	})
}

// TestMoved: a cluster that has given the slot to another node is followed there.
func TestMoved(t *testing.T) {
	c := redistest.StartCluster(t, redistest.Options{})
	s := open(t, Options{URL: "redis-cluster://" + strings.Join(c.Addrs(), ",")})
	m := beat(t, s).Mark
	appendAll(t, s, m, insert(entry(1, 1, "a")))
	from := c.Owner(t, "{reprise}:head")
	slot, _ := from.Must("CLUSTER", "KEYSLOT", "{reprise}").(int64)
	to := c.Nodes[0]
	if to == from {
		to = c.Nodes[1]
	}
	id, _ := to.Must("CLUSTER", "MYID").(string)
	from.Must("FLUSHALL")
	to.Must("CLUSTER", "SETSLOT", fmt.Sprint(slot), "NODE", id)
	for _, n := range c.Nodes {
		n.Must("CLUSTER", "SETSLOT", fmt.Sprint(slot), "NODE", id)
	}
	var now store.Pulse
	within(t, "beat", func() bool {
		var err error
		now, err = s.Beat(t.Context(), store.Position{}, false)
		return err == nil
	})
	if now.Mark.Log == m.Log {
		t.Error("the log is the former one")
	}
	appendAll(t, s, now.Mark, insert(entry(1, 1, "a")))
	if f, err := s.Fetch(t.Context(), store.Key{1}); err != nil || f.Entry == nil {
		t.Errorf("fetched %+v %v", f, err)
	}
}
