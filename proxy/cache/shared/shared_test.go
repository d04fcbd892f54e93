package shared

import (
	"errors"
	"testing"
	"time"

	"reprise/store"
)

// TestMembersShare: what one member stores, the others serve; a hit that is at hand costs no call, and one that is not costs one.
func TestMembersShare(t *testing.T) {
	among(t, 3, func(t *testing.T, s *server, all []*member) {
		all[0].put("a", "first")
		all[0].wants("a", "first")
		if n := s.callsOf("fetch"); n != 0 {
			t.Errorf("an own answer took %d fetches", n)
		}
		settle()
		for range 3 {
			all[1].wants("a", "first")
		}
		if n := s.callsOf("fetch"); n != 1 {
			t.Errorf("three hits took %d fetches", n)
		}
		all[2].put("a", "second")
		settle()
		for _, m := range all {
			m.wants("a", "second")
			if got := m.noted(); len(got) > 0 {
				t.Errorf("faults %q", got)
			}
		}
	})
}

// TestUnknownAnswer: an answer is served before its insertion was read from the log.
func TestUnknownAnswer(t *testing.T) {
	among(t, 2, func(t *testing.T, s *server, all []*member) {
		all[1].link.set("", 200*time.Millisecond)
		all[0].put("a", "first")
		time.Sleep(time.Millisecond)
		all[1].wants("a", "first")
	})
}

// TestPurgeHoldsEverywhere: once a purge has returned, no member serves what it names.
func TestPurgeHoldsEverywhere(t *testing.T) {
	among(t, 3, func(t *testing.T, s *server, all []*member) {
		all[0].put("a", "first")
		all[0].put("b", "other")
		settle()
		all[1].wants("a", "first")
		all[2].wants("a", "first")
		began := time.Now()
		if err := all[2].purge(store.Filter{Model: "a"}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 100*time.Millisecond {
			t.Errorf("it took %v", took)
		}
		for _, m := range all {
			m.wants("a", "")
			m.wants("b", "other")
		}
		settle()
		if n := len(s.ids()); n != 1 {
			t.Errorf("%d records are left", n)
		}
		all[0].put("a", "second")
		settle()
		all[1].wants("a", "second")
	})
}

// TestPartition: a member that cannot follow the log serves what never left it, and nothing else, after the grace. A purge takes the grace
// then. When it is back it has made the purge.
func TestPartition(t *testing.T) {
	for _, fault := range []string{"hold", "refuse"} {
		t.Run(fault, func(t *testing.T) {
			among(t, 2, func(t *testing.T, s *server, all []*member) {
				all[0].put("a", "first")
				all[0].put("b", "other")
				settle()
				all[1].wants("a", "first")
				all[1].wants("b", "other")
				all[1].link.set(fault, 0)
				all[1].wants("a", "first")
				began := time.Now()
				if err := all[0].purge(store.Filter{Model: "a"}); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); took > 1300*time.Millisecond {
					t.Errorf("it took %v", took)
				}
				all[1].wants("a", "")
				all[1].wants("b", "")
				all[1].put("c", "own")
				all[1].wants("c", "own")
				time.Sleep(5 * time.Second)
				all[1].wants("c", "own")
				all[1].link.set("", 0)
				time.Sleep(5 * time.Second)
				all[1].wants("a", "")
				all[1].wants("b", "other")
				all[0].wants("c", "own")
			})
		})
	}
}

// TestLongGrace: a purge waits for a member that has long been silent, as long as that still serves answers of others.
func TestLongGrace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const grace = 30 * time.Second
		all := members(t, newServer(), 2, func(o *Options) { o.grace = grace })
		all[0].put("a", "first")
		settle()
		all[1].wants("a", "first")
		all[1].link.set("refuse", 0)
		time.Sleep(grace / 2)
		all[1].wants("a", "first")
		if err := all[0].purge(store.Filter{Model: "a"}); err != nil {
			t.Fatal(err)
		}
		all[1].wants("a", "")
	})
}

// TestPurgeWhileAway: a purge that cannot be appended is an error, holds here, and reaches the others later.
func TestPurgeWhileAway(t *testing.T) {
	among(t, 2, func(t *testing.T, s *server, all []*member) {
		all[0].put("a", "first")
		settle()
		all[1].wants("a", "first")
		all[1].link.set("refuse", 0)
		if err := all[1].purge(store.Filter{Model: "a"}); !errors.Is(err, store.ErrUnconfirmed) {
			t.Errorf("purge: %v", err)
		}
		all[1].wants("a", "")
		all[0].wants("a", "first")
		all[1].link.set("", 0)
		all[1].wants("a", "")
		time.Sleep(3 * time.Second)
		all[0].wants("a", "")
		all[1].wants("a", "")
	})
}
