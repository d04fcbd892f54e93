package shared

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"reprise/store"
)

// away lets some time pass in which a link has a fault, of one kind of calls or of all (""), and ends it.
func (m *member) away(kind, fault string, d time.Duration) {
	m.link.setOnly(kind, fault, 0)
	time.Sleep(d)
}

// TestMarkOfAFetch: a fetch that shows a purge which is not applied here serves nothing, though this member is still live.
func TestMarkOfAFetch(t *testing.T) {
	among(t, 2, func(t *testing.T, s *server, all []*member) {
		all[0].put("a", "first")
		settle()
		all[1].link.setOnly("log", "hold", 0)
		all[0].link.Purge(t.Context(), 1<<40, store.Filter{Model: "a"}) // which has not returned to its caller
		all[1].wants("a", "")
		if st := all[1].Stats(); !st.Live || st.RefusedByMark != 1 || st.Fetches != 1 {
			t.Errorf("%+v", st)
		}
		all[1].link.set("", 0)
	})
}

// TestDeafServesOnlyUnsent: an answer that may have reached the shared store may have been purged there, so that a member that learns nothing
// does not serve it, though it was the last thing that it stored.
func TestDeafServesOnlyUnsent(t *testing.T) {
	among(t, 2, func(t *testing.T, s *server, all []*member) {
		all[0].link.setOnly("write", "lost", 0)
		all[0].put("a", "first")
		time.Sleep(time.Millisecond)
		all[0].link.set("hold", 0)
		time.Sleep(900 * time.Millisecond)
		all[0].put("b", "second")
		if err := all[1].purge(store.Filter{Model: "a"}); err != nil {
			t.Fatal(err)
		}
		all[0].wants("a", "")
		all[0].put("c", "third")
		all[0].wants("c", "third")
		all[0].link.set("", 0)
		time.Sleep(5 * time.Second)
		all[0].wants("a", "")
		all[1].wants("c", "third")
	})
}

// TestMissedPurge: a member that has missed a purge, whose batch has left the log, drops what it has not appended, and keeps no answer to a
// request from before.
func TestMissedPurge(t *testing.T) {
	among(t, 2, func(t *testing.T, s *server, all []*member) {
		early := all[1].request("a2")
		all[1].away("", "hold", 2*time.Second)
		all[1].put("a", "first")
		for range 2 { // the second one lets the first leave the log
			if err := all[0].purge(store.Filter{Model: "a"}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(12 * time.Second)
		}
		all[1].wants("a", "first")
		all[1].link.set("", 0)
		time.Sleep(3 * time.Second)
		if st := all[1].Stats(); st.Gaps != 1 || st.DroppedInserts != 1 || !st.Live {
			t.Errorf("%+v", st)
		}
		if reason := all[1].keep(early, "a2", "second", time.Hour); reason != "purged" {
			t.Errorf("kept: %q", reason)
		}
		for _, m := range all {
			m.wants("a", "")
		}
	})
}

// TestDroppedReplacement: an answer that the queue had no room for leaves, and the one that it has replaced does not return.
func TestDroppedReplacement(t *testing.T) {
	among(t, 2, func(t *testing.T, s *server, all []*member) {
		all[1].put("a", "first")
		settle()
		all[0].wants("a", "first")
		s.setFull(true)
		all[0].put("a", "second")
		synctest.Wait() // it is refused, and waits for the next attempt: a batch that is being sent keeps its place
		for _, name := range []string{"b", "c", "d"} {
			all[0].put(name, "more")
		}
		all[0].wants("a", "")
		time.Sleep(time.Millisecond)
		all[0].wants("a", "")
		s.setFull(false)
		time.Sleep(3 * time.Second)
		for _, m := range all {
			m.wants("a", "")
		}
		if st := all[0].Stats(); st.DroppedInserts == 0 {
			t.Errorf("%+v", st)
		}
	}, func(o *Options) { o.QueueBytes, o.NearBytes = 1000, -1 })
}

// TestSlowReader: a member that reads the log, but never reaches its end, is deaf.
func TestSlowReader(t *testing.T) {
	among(t, 2, func(t *testing.T, s *server, all []*member) {
		all[0].put("a", "first")
		settle()
		all[1].wants("a", "first")
		all[1].slow(400 * time.Millisecond) // for a read of 20 batches
		for range 400 {
			all[0].put("b", "x")
			time.Sleep(10 * time.Millisecond)
		}
		if all[1].Stats().Live {
			t.Error("it is live")
		}
		all[1].wants("a", "")
	})
}

func (m *member) slow(d time.Duration) { m.link.setOnly("read", "", d) }

// TestFlush: members survive that the server is emptied. What one has not appended is appended to the new log.
func TestFlush(t *testing.T) {
	among(t, 3, func(t *testing.T, s *server, all []*member) {
		all[0].put("a", "first")
		settle()
		all[1].wants("a", "first")
		for _, m := range all {
			m.link.set("refuse", 0)
		}
		time.Sleep(2 * time.Second)
		all[1].put("b", "second")
		s.flush()
		for _, m := range all {
			m.link.set("", 0)
		}
		time.Sleep(5 * time.Second)
		for _, m := range all {
			m.wants("a", "")
			m.wants("b", "second")
			if st := m.Stats(); !st.Live || st.Loads != 2 {
				t.Errorf("%+v", st)
			}
		}
	})
}

// TestFailoverRepeatsPurges: a purge that an older copy lacks is made again by the members, also in what the store keeps: a member that starts later
// does not find what it names.
func TestFailoverRepeatsPurges(t *testing.T) {
	among(t, 2, func(t *testing.T, s *server, all []*member) {
		all[0].put("a", "first")
		all[0].put("b", "other")
		settle()
		old := s.copy()
		if err := all[0].purge(store.Filter{Model: "a"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		s.failover(old)
		for range 20 {
			for _, m := range all {
				m.wants("a", "")
			}
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(2 * time.Second)
		late := newMember(t, s, 9)
		settle()
		for _, m := range append(all, late) {
			m.wants("a", "")
			m.wants("b", "other")
		}
		if n := len(s.ids()); n != 1 {
			t.Errorf("%d records are left", n)
		}
	})
}

// TestKeeper: one member evicts for all; when it is gone another one does within 2 s, and no answer is kept that exceeds the capacity by more
// than 1 %.
func TestKeeper(t *testing.T) {
	among(t, 3, func(t *testing.T, s *server, all []*member) {
		keepers := func() (n int) {
			for _, m := range all {
				if m.Keeper() {
					n++
				}
			}
			return n
		}
		for i := range 100 {
			all[i%3].put(string(rune('a'+i)), "x")
			time.Sleep(20 * time.Millisecond)
			if n := len(s.ids()); n > 21 || keepers() != 1 {
				t.Fatalf("%d entries, %d keepers", n, keepers())
			}
		}
		for _, m := range all {
			if n := m.cache.Stats().Store.Entries; n != 20 {
				t.Errorf("%d entries", n)
			}
		}
		for _, m := range all {
			if m.Keeper() {
				m.link.set("hold", 0)
				time.Sleep(2 * time.Second)
				if m.Keeper() || keepers() != 1 {
					t.Errorf("the lease has not passed on: %d keepers", keepers())
				}
				m.link.set("", 0)
				break
			}
		}
	}, func(o *Options) { o.Limit.Entries = 20 })
}

// TestFull: where the keeper does not evict, answers are refused.
func TestFull(t *testing.T) {
	among(t, 1, func(t *testing.T, s *server, all []*member) {
		all[0].away("", "hold", 3*time.Second)
		reasons := map[string]int{}
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			reasons[all[0].put(name, "x")]++
		}
		if reasons["full"] == 0 || reasons[""] < 2 {
			t.Errorf("%v", reasons)
		}
		all[0].link.set("", 0)
		time.Sleep(3 * time.Second)
		if n := len(s.ids()); n > 2 {
			t.Errorf("%d entries", n)
		}
	}, func(o *Options) { o.Limit.Entries = 2 })
}

// TestServerIsFull: a server whose memory ends before the capacity is reached does not end the caching: the keeper makes room for what is new. A
// purge is taken all the same.
func TestServerIsFull(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newServer()
		s.room = 20
		all := members(t, s, 2)
		for i := range 100 {
			all[i%2].put(string(rune('a'+i)), "x")
			time.Sleep(500 * time.Millisecond)
		}
		time.Sleep(5 * time.Second)
		for _, m := range all {
			m.wants(string(rune('a'+98)), "x") // of the other member, too
		}
		if n := len(s.ids()); n < 15 || n > 21 {
			t.Errorf("%d entries", n)
		}
		s.setFull(true)
		if err := all[0].purge(store.Filter{}); err != nil {
			t.Errorf("purge: %v", err)
		}
		all[1].wants(string(rune('a'+98)), "")
	})
}

// TestLateAdoption: a member that starts without the server answers by itself, and takes secret, number and entries from the server later.
func TestLateAdoption(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newServer()
		first := members(t, s, 1)[0]
		first.put("a", "first")
		settle()
		m := &member{t: t, link: s.link(0)}
		m.link.set("refuse", 0)
		m.start(m.parts(), [32]byte{7}, 77, func(o *Options) { o.Away = true })
		m.put("b", "own")
		m.wants("b", "own")
		time.Sleep(5 * time.Second)
		if st := m.Stats(); st.Joined || st.Live || st.Loaded || !st.Failing {
			t.Errorf("%+v", st)
		}
		m.wants("b", "own")
		m.link.set("", 0)
		time.Sleep(3 * time.Second)
		m.wants("b", "")
		m.wants("a", "first")
		m.put("c", "second")
		settle()
		first.wants("c", "second")
		if st := m.Stats(); !st.Joined || !st.Live || m.cache.Secret() != [32]byte{1} {
			t.Errorf("%+v", st)
		}
	})
}

// TestLeads: of two members one asks the upstream, the other waits for its answer; a lead that ends without one passes on, and that of a
// process that died expires.
func TestLeads(t *testing.T) {
	among(t, 2, func(t *testing.T, s *server, all []*member) {
		again, done := all[0].Lead(t.Context(), keyOf("a"))
		if again {
			t.Error("the first one waits")
		}
		began := time.Now()
		go func() {
			time.Sleep(4 * time.Second) // longer than a lease
			all[0].put("a", "first")
			done()
		}()
		again, other := all[1].Lead(t.Context(), keyOf("a"))
		if took := time.Since(began); !again || took < 4*time.Second || took > 4100*time.Millisecond {
			t.Errorf("again %v after %v", again, took)
		}
		all[1].wants("a", "first")
		other()
		time.Sleep(time.Second)

		_, done = all[0].Lead(t.Context(), keyOf("b"))
		time.AfterFunc(time.Second, done)
		if again, done := all[1].Lead(t.Context(), keyOf("b")); !again || s.holder("b") != 2 {
			t.Errorf("again %v, %d leads", again, s.holder("b"))
		} else {
			done()
		}
		all[1].Lead(t.Context(), keyOf("c"))
		all[1].link.set("hold", 0)
		began = time.Now()
		_, done = all[0].Lead(t.Context(), keyOf("c"))
		if took := time.Since(began); took > 2*time.Second || s.holder("c") != 1 {
			t.Errorf("the lease of a dead member took %v", took)
		}
		done()
		all[1].link.set("", 0)
		if again, done := all[0].Lead(cancelled(t), keyOf("d")); again {
			t.Error("it waits")
		} else {
			done()
		}
	})
}

// TestLostLease: a lease whose reply is lost is released when its flight ends, so that no other member waits until it expires.
func TestLostLease(t *testing.T) {
	among(t, 2, func(t *testing.T, s *server, all []*member) {
		all[0].link.setOnly("fetch", "lost", 0)
		_, done := all[0].Lead(t.Context(), keyOf("a"))
		if s.holder("a") != 1 {
			t.Fatal("the store has not given the lease")
		}
		all[0].link.set("", 0)
		done()
		time.Sleep(100 * time.Millisecond) // less than a lease
		began := time.Now()
		again, other := all[1].Lead(t.Context(), keyOf("a"))
		if took := time.Since(began); again || took > 0 {
			t.Errorf("again %v after %v", again, took)
		}
		other()
	})
}

// TestFetchBringsLease: a fetch that finds nothing brings the lease of its key, so that a miss asks the store once. A store that answers late, or whose
// reply is lost, delays the miss by one wait; what it may have given is released. A lease that no flight needs is released too.
func TestFetchBringsLease(t *testing.T) {
	for _, c := range []struct {
		name, fault string
		delay, took time.Duration
		lead        bool // a flight follows
		free        time.Duration
	}{
		{name: "flight", lead: true, free: 10 * time.Millisecond},
		{name: "no flight", free: 200 * time.Millisecond},
		{name: "lost", fault: "lost", lead: true, free: 10 * time.Millisecond},
		{name: "lost, no flight", fault: "lost", free: 200 * time.Millisecond},
		{name: "late", delay: 400 * time.Millisecond, took: FetchTimeout, lead: true, free: 10 * time.Millisecond},
		{name: "away", fault: "hold", took: FetchTimeout, lead: true, free: time.Millisecond},
	} {
		bubble(t, func(t *testing.T) {
			s := newServer()
			m := members(t, s, 2)[0]
			m.link.setOnly("fetch", c.fault, c.delay)
			began := time.Now()
			m.wants("a", "")
			if c.lead {
				again, done := m.Lead(t.Context(), keyOf("a"))
				if took := time.Since(began); again || took != c.took || s.callsOf("lease") > 0 {
					t.Errorf("%s: again %v after %v and %d questions for a lease", c.name, again, took, s.callsOf("lease"))
				}
				if c.fault == "" && c.delay == 0 {
					time.Sleep(5 * time.Second)
					if s.holder("a") != 1 {
						t.Errorf("%s: the lease of a flight is not renewed", c.name)
					}
				}
				m.link.set("", 0)
				done()
			}
			m.link.set("", 0)
			if time.Sleep(c.free); s.holder("a") != 0 {
				t.Errorf("%s: the lease is not released", c.name)
			}
		})
	}
}

// TestOtherHoldsLease: a fetch while another member has the lease brings none, and the flight waits.
func TestOtherHoldsLease(t *testing.T) {
	among(t, 2, func(t *testing.T, s *server, all []*member) {
		all[0].wants("a", "")
		_, done := all[0].Lead(t.Context(), keyOf("a"))
		all[1].wants("a", "")
		time.AfterFunc(3*time.Second, done)
		began := time.Now()
		again, other := all[1].Lead(t.Context(), keyOf("a"))
		if took := time.Since(began); !again || took < 3*time.Second {
			t.Errorf("again %v after %v", again, took)
		}
		other()
	})
}

// TestLeaseComesLate: of two requests of one process for a key the first gets the lease by its fetch, whose reply comes after the flight of the second
// has asked: the flight does not wait longer than for that reply.
func TestLeaseComesLate(t *testing.T) {
	among(t, 1, func(t *testing.T, s *server, all []*member) {
		m := all[0]
		go func() {
			f, err := m.link.FetchOrLease(t.Context(), keyOf("a"), leadTTL)
			time.Sleep(20 * time.Millisecond)
			m.leads.fetched(keyOf("a"), f.Leased, err)
		}()
		time.Sleep(time.Millisecond)
		began := time.Now()
		_, done := m.Lead(t.Context(), keyOf("a"))
		if took := time.Since(began); took > 20*time.Millisecond || s.holder("a") != 1 {
			t.Errorf("it took %v", took)
		}
		done()
	})
}

func cancelled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func (s *server) holder(name string) uint16 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leases[keyOf(name)].by
}

// TestCloseAppends: what waits is appended at the end.
func TestCloseAppends(t *testing.T) {
	among(t, 1, func(t *testing.T, s *server, all []*member) {
		all[0].link.set("", 100*time.Millisecond)
		all[0].put("a", "first")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := all[0].Shared.Close(ctx); err != nil || len(s.ids()) != 1 {
			t.Errorf("%v, %d entries", err, len(s.ids()))
		}
		all[0].link.set("hold", 0)
		all[0].put("b", "second")
		if err := all[0].Shared.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("close: %v", err)
		}
	})
}

// TestBreaker: a store that is slow costs some requests the deadline of a fetch, and then none.
func TestBreaker(t *testing.T) {
	among(t, 1, func(t *testing.T, s *server, all []*member) {
		all[0].link.setOnly("fetch", "hold", 0)
		began := time.Now()
		for range 100 {
			all[0].wants("a", "")
		}
		if took := time.Since(began); took > 5*FetchTimeout {
			t.Errorf("it took %v", took)
		}
		if st := all[0].Stats(); st.Breaker != "open" || st.Timeouts != 5 || st.Broken != 95 {
			t.Errorf("%+v", st)
		}
		all[0].link.set("", 0)
		all[0].put("a", "first")
		time.Sleep(1100 * time.Millisecond)
		all[0].near.clear()
		all[0].wants("a", "first")
	})
}

// TestFetchesTogether: the answers of keys that are looked up next come by one call, and only those that may be served.
func TestFetchesTogether(t *testing.T) {
	among(t, 2, func(t *testing.T, s *server, all []*member) {
		names := []string{"a", "b", "c", "unknown", "d"}
		for _, name := range names {
			if name != "unknown" {
				all[0].put(name, "answer to "+name)
			}
		}
		settle()
		lookup := func(next ...string) {
			t.Helper()
			q := all[1].request(next[0])
			for _, name := range next[1:] {
				q.Next = append(q.Next, all[1].request(name).Key)
			}
			hit, _, err := all[1].cache.Lookup(t.Context(), q)
			if err != nil || hit == nil || string(hit.Entry.Answer) != "answer to "+next[0] || q.Next != nil {
				t.Fatalf("%+v, %v, and %d keys are left", hit, err, len(q.Next))
			}
		}
		lookup(names...)
		before := all[1].Stats().Fetches
		for _, name := range []string{"b", "c", "d"} {
			all[1].wants(name, "answer to "+name)
		}
		if got := all[1].Stats().Fetches; got != before || before != 1 {
			t.Errorf("%d fetches, and then %d", before, got-before)
		}
		all[0].put("e", "answer to e")
		all[0].put("f", "answer to f")
		settle()
		all[1].link.setOnly("log", "hold", 0)
		all[0].link.Purge(t.Context(), 1<<40, store.Filter{Model: "f"}) // which has not returned to its caller
		q := all[1].request("e")
		q.Next = []store.Key{all[1].request("f").Key}
		if hit, _, _ := all[1].cache.Lookup(t.Context(), q); hit != nil {
			t.Errorf("an answer is served under an older mark: %+v", hit)
		}
		all[1].wants("f", "")
		all[1].link.set("", 0)
	})
}
