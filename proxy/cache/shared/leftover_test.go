package shared

import (
	"fmt"
	"testing"
	"time"

	"reprise/store"
)

// TestPurgeOfMany: a purge of more than the queue holds leaves nothing either.
func TestPurgeOfMany(t *testing.T) {
	among(t, 2, func(t *testing.T, s *server, all []*member) {
		for i := range 300 {
			all[0].put(fmt.Sprint("a", i), "first")
			time.Sleep(10 * time.Millisecond)
		}
		settle()
		if err := all[1].purge(store.Filter{Model: "a"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		if n := len(s.ids()); n != 0 {
			t.Errorf("%d records are left", n)
		}
		late := newMember(t, s, 3)
		settle()
		late.wants("a299", "")
	}, func(o *Options) { o.queueEvents = 64 })
}

// TestPurgesCross: what a load has brought back, for a purge that is to be made again, leaves by the purge of another member that comes first
// in the log, and does not have it: its removal is appended all the same.
func TestPurgesCross(t *testing.T) {
	among(t, 1, func(t *testing.T, s *server, all []*member) {
		m := all[0]
		s.mu.Lock()
		m.link.modest = true
		s.mu.Unlock()
		time.Sleep(2 * time.Second) // its lease ends
		m.put("a", "first")
		m.put("b", "other")
		settle()
		other := s.link(2) // it removes nothing
		purge := func(serial uint64) store.Mark {
			at, err := other.Purge(t.Context(), serial, store.Filter{Model: "a"})
			if err != nil {
				t.Fatal(err)
			}
			settle()
			return at
		}
		purge(1)
		m.link.setOnly("write", "refuse", 0)
		m.view.lose()
		settle()
		if n := m.Stats().PendingPurges; n != 1 {
			t.Errorf("%d purges are to be made again", n)
		}
		if err := other.Finish(t.Context(), purge(2)); err != nil {
			t.Fatal(err)
		}
		m.link.set("", 0)
		time.Sleep(5 * time.Second)
		if n, purges := len(s.ids()), len(s.copy().purges); n != 1 || purges != 0 {
			t.Errorf("%d records and %d unfinished purges are left", n, purges)
		}
		late := newMember(t, s, 3)
		settle()
		late.wants("a", "")
		late.wants("b", "other")
	})
}

// TestBeginRepeats: what a member has loaded before it starts may have what an unfinished purge names: it is not served.
func TestBeginRepeats(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newServer()
		if _, err := s.link(1).Purge(t.Context(), 1, store.Filter{Model: "a"}); err != nil {
			t.Fatal(err)
		}
		m, err := New(Options{Link: s.link(2).parts()})
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Begin(t.Context()); err != nil || m.Stats().PendingPurges != 1 || !m.purges.names(&store.Entry{Labels: &store.Labels{Model: "a"}}) {
			t.Errorf("%v, %d purges wait", err, m.Stats().PendingPurges)
		}
	})
}

// TestRepeatsDoNotGrow: members that load again and again repeat the purges of the last minute, and those that the others repeat, once for each
// filter: they do not become more and more, until they are one of everything.
func TestRepeatsDoNotGrow(t *testing.T) {
	among(t, 3, func(t *testing.T, s *server, all []*member) {
		all[0].put("b", "other")
		for range 20 {
			for _, m := range all {
				if err := m.purge(store.Filter{Model: "a"}); err != nil {
					t.Fatal(err)
				}
			}
		}
		for round := range 8 {
			before := s.copy().mark.Purges
			for _, m := range all {
				m.view.lose()
			}
			time.Sleep(5 * time.Second)
			if n := s.copy().mark.Purges - before; n > uint64(len(all)) {
				t.Errorf("round %d: %d members repeat %d purges of one filter", round, len(all), n)
			}
		}
		all[2].wants("b", "other")
	})
}

// TestLogReturns: a store that was emptied gets older data of its first log, as from a backup: what was purged in either log stays away, and
// without a purge everything comes back.
func TestLogReturns(t *testing.T) {
	for _, when := range []string{"never", "in the first log", "in the log between"} {
		t.Run(when, func(t *testing.T) {
			among(t, 2, func(t *testing.T, s *server, all []*member) {
				all[0].put("a", "first")
				settle()
				old, want := s.copy(), "first"
				purge := func(now string) {
					if now == when {
						want = ""
						all[1].purge(store.Filter{Model: "a"})
					}
					time.Sleep(2 * time.Minute)
				}
				purge("in the first log")
				s.flush()
				settle()
				all[0].put("b", "other")
				settle()
				purge("in the log between")
				s.failover(old)
				time.Sleep(5 * time.Second)
				late := newMember(t, s, 3)
				settle()
				for _, m := range append(all, late) {
					m.wants("a", want)
				}
			})
		})
	}
}

// TestPurgerDies: a member that ends between its purge and the removal of what that names leaves nothing that a later member serves. Without a later
// one the keeper finishes the purge, and what is stored then stays.
func TestPurgerDies(t *testing.T) {
	for _, stays := range []bool{false, true} { // away for long
		among(t, 2, func(t *testing.T, s *server, all []*member) {
			for i := range 200 {
				all[0].put(fmt.Sprint("a", i), "first")
			}
			all[0].put("b", "other")
			settle()
			all[1].link.dies = true
			all[1].link.set("", 5*time.Millisecond)
			if err := all[1].purge(store.Filter{Model: "a"}); err == nil {
				t.Error("a member that ends has removed everything")
			}
			all[0].wants("a199", "")
			if stays {
				time.Sleep(time.Minute)
			}
			late := newMember(t, s, 3)
			for range 20 {
				late.wants("a199", "")
				time.Sleep(50 * time.Millisecond)
			}
			all[0].wants("a199", "")
			late.wants("b", "other")
			if n, purges := len(s.ids()), len(s.copy().purges); n != 1 || purges != 0 {
				t.Errorf("%d records and %d unfinished purges are left", n, purges)
			}
			all[0].put("a", "second")
			settle()
			newMember(t, s, 4)
			settle()
			all[0].wants("a", "second")
		})
	}
}
