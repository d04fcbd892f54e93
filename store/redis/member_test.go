package redis

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"reprise/internal/redistest"
	"reprise/store"
)

// TestKeeper: one process at a time has the lease; it passes on when it is left, and when its holder is silent.
func TestKeeper(t *testing.T) {
	for title, url := range urls(t) {
		t.Run(title, func(t *testing.T) {
			a, b := open(t, Options{URL: url}), open(t, Options{URL: url})
			keeper := func(s *Shared, keep bool) uint16 {
				t.Helper()
				p, err := s.Beat(t.Context(), store.Position{}, keep)
				if err != nil {
					t.Fatal(err)
				}
				if p.Keeper == s.Process() && p.Leased <= 0 || p.Leased > leaseTime { // that of another may be in its last millisecond
					t.Errorf("the lease runs for %s", p.Leased)
				}
				return p.Keeper
			}
			if got := keeper(a, false); got != 0 {
				t.Errorf("keeper %d before any", got)
			}
			for i, want := range []uint16{a.Process(), a.Process()} {
				if got := keeper([]*Shared{a, b}[i], true); got != want {
					t.Errorf("keeper %d, want %d", got, want)
				}
			}
			keeper(a, false)
			if got := keeper(b, true); got != b.Process() {
				t.Errorf("keeper %d after the first has left", got)
			}
			within(t, "end of the lease of a silent keeper", func() bool { return keeper(a, true) == a.Process() })
			a.Close()
			if got := keeper(b, true); got != b.Process() {
				t.Errorf("keeper %d after the other was closed", got)
			}
		})
	}
}

// TestMembers: each process has a number of its own, is seen by the others with what it has applied, and is gone after its end.
func TestMembers(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	var all []*Shared
	seen := map[uint16]bool{}
	for i := range 20 {
		s := open(t, Options{URL: "redis://" + server.Addr, Name: fmt.Sprintf("proxy\n%d", i)})
		if seen[s.Process()] {
			t.Errorf("two processes have the number %d", s.Process())
		}
		seen[s.Process()] = true
		all = append(all, s)
	}
	if _, err := all[3].Beat(t.Context(), store.Position{N: 42}, false); err != nil {
		t.Fatal(err)
	}
	all[4].Close()
	p := beat(t, all[0])
	found := 0
	for _, m := range p.Members {
		if m.Silent < 0 || m.Silent > time.Hour || !strings.HasPrefix(m.Name, "proxy_") || m.Process == all[4].Process() {
			t.Errorf("member %+v", m)
		}
		if m.Process == all[3].Process() && m.Applied == 42 {
			found++
		}
	}
	if len(p.Members) != 19 || found != 1 {
		t.Errorf("%d members, %d with what the fourth has applied", len(p.Members), found)
	}
	if d := time.Since(p.Time); d < -time.Minute || d > time.Minute {
		t.Errorf("the clock of the server is off by %s", d)
	}
}

// TestProcessNumber: one that another process has is not used on, and Agree gets a free one; a process keeps its own.
func TestProcessNumber(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	a, b := open(t, Options{URL: "redis://" + server.Addr}), open(t, Options{URL: "redis://" + server.Addr})
	before := a.Process()
	if err := a.Agree(t.Context()); err != nil || a.Process() != before {
		t.Errorf("number %d, and then %d %v", before, a.Process(), err)
	}
	value, _ := server.Must("HGET", "{reprise}:members", fmt.Sprint(b.Process())).(string)
	server.Must("HSET", "{reprise}:members", fmt.Sprint(before), value)
	if _, err := a.Beat(t.Context(), store.Position{}, false); !errors.Is(err, store.ErrProcess) {
		t.Errorf("beat: %v", err)
	}
	if err := a.Agree(t.Context()); err != nil || a.Process() == before || a.Process() == b.Process() || a.Process() == 0 {
		t.Errorf("number %d, then %d %v", before, a.Process(), err)
	}
	beat(t, a)
	server.Must("SET", "{reprise}:process", "65535")
	if got := open(t, Options{URL: "redis://" + server.Addr}).Process(); got != 1 && !(b.Process() == 1 || a.Process() == 1) {
		t.Errorf("number %d after the last", got)
	}
}

// TestAnotherSecret: a process of which the store was taken by others, after it was emptied, finds out.
func TestAnotherSecret(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	a, b := open(t, Options{URL: "redis://" + server.Addr, Prefix: "one"}), open(t, Options{URL: "redis://" + server.Addr, Prefix: "two"})
	server.Must("RENAME", "{two}:head", "{one}:head")
	if _, err := a.Beat(t.Context(), store.Position{}, false); !errors.Is(err, store.ErrSecret) {
		t.Errorf("beat: %v", err)
	}
	if err := a.Agree(t.Context()); err != nil || a.Secret() != b.Secret() {
		t.Errorf("agree: %v", err)
	}
	beat(t, a)
}

// TestCommands: a fetch is one command, a batch is one, a beat is one.
func TestCommands(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	s := open(t, Options{URL: "redis://" + server.Addr})
	m := beat(t, s).Mark
	appendAll(t, s, m, insert(entry(1, 1, "a")))
	for name, call := range map[string]func() error{
		"mget": func() error { _, err := s.Fetch(t.Context(), store.Key{1}); return err },
		"evalsha": func() error {
			_, err := s.Append(t.Context(), m, next(), []store.Event{insert(entry(2, 2, "b"))})
			return err
		},
		"set": func() error { _, err := s.Lease(t.Context(), store.Key{1}, time.Second); return err },
	} {
		const n = 50
		server.Must("CONFIG", "RESETSTAT")
		for range n {
			if err := call(); err != nil {
				t.Fatal(err)
			}
		}
		if got := server.Calls(); got[name] < n || name == "mget" && len(got) > 3 || name == "set" && len(got) > 3 { // INFO and CONFIG are of the test
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestScriptsAreSentAgain: a server that has lost its scripts gets them again.
func TestScriptsAreSentAgain(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	s := open(t, Options{URL: "redis://" + server.Addr})
	m := beat(t, s).Mark
	server.Must("SCRIPT", "FLUSH")
	appendAll(t, s, m, insert(entry(1, 1, "a")))
	if f, err := s.Fetch(t.Context(), store.Key{1}); err != nil || f.Entry == nil {
		t.Errorf("fetched %+v %v", f, err)
	}
}

// TestExpiry: an answer leaves the server when it may not be served any more, not when it is stale.
func TestExpiry(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	s := open(t, Options{URL: "redis://" + server.Addr})
	m := beat(t, s).Mark
	now := time.Now()
	for i, one := range []struct {
		expires, stale time.Time
		least, most    time.Duration // PTTL; 0: none
	}{
		{now.Add(time.Hour), time.Time{}, 59 * time.Minute, time.Hour + time.Second},
		{now.Add(-time.Hour), now.Add(time.Hour), 59 * time.Minute, time.Hour + time.Second},
		{now.Add(time.Hour), now.Add(time.Minute), 59 * time.Minute, time.Hour + time.Second},
		{time.Time{}, time.Time{}, -1, -1},
		{now.Add(-time.Hour), time.Time{}, -2, -2},
	} {
		e := entry(1, byte(i), "a")
		e.Expires, e.StaleUntil = one.expires, one.stale
		appendAll(t, s, m, insert(e))
		ttl, _ := server.Must("PTTL", s.link.keys.answer(e.Key)).(int64)
		if one.least < 0 && ttl != int64(one.least) || one.least > 0 && (ttl < one.least.Milliseconds() || ttl > one.most.Milliseconds()) {
			t.Errorf("%d: %d ms", i, ttl)
		}
	}
}

// TestSerialOutlivesMember: a batch whose answer was lost is not appended again by a process that was no member for a while, as after a jump
// of the server's clock.
func TestSerialOutlivesMember(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	a, b := open(t, Options{URL: "redis://" + server.Addr}), open(t, Options{URL: "redis://" + server.Addr})
	m, n := beat(t, a).Mark, next()
	evs := []store.Event{insert(entry(1, 1, "a"))}
	first, err := a.Append(t.Context(), m, n, evs)
	if err != nil {
		t.Fatal(err)
	}
	server.Must("HSET", a.link.keys.members, a.processArg(), a.token+" 0 1000000 silent")
	if got := beat(t, b).Members; len(got) != 1 {
		t.Errorf("members %+v", got)
	}
	beat(t, a)
	if again, err := a.Append(t.Context(), m, n, evs); err != nil || again != first {
		t.Errorf("appended at %v, and again at %v, %v", first, again, err)
	}
}
