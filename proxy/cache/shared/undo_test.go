package shared

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"reprise/proxy/cache"
	"reprise/store"
)

// undone purges the entry of a name at m as an operator does who may take that back, and returns what takes it back.
func (m *member) undone(name string) (purged *store.Entry, undo func() error) {
	m.t.Helper()
	hit, _, _ := m.cache.Lookup(m.t.Context(), m.request(name))
	if hit == nil {
		m.t.Fatalf("member %d: no entry of %q", m.link.member, name)
	}
	kept, ok, err := m.cache.Undo().Copy(m.t.Context(), hit.Entry.ID)
	if !ok || err != nil {
		m.t.Fatal(ok, err)
	}
	if err := m.purge(store.Filter{Entry: hit.Entry.ID}); err != nil {
		m.t.Fatal(err)
	}
	return hit.Entry, func() error {
		_, _, err := m.cache.Undo().PutBack(m.t.Context(), kept)
		return err
	}
}

// naming are purges that name an entry, in each way.
func naming(e *store.Entry) map[string]store.Filter {
	return map[string]store.Filter{"all": {}, "its model": {Model: e.Model}, "its id": {Entry: e.ID}}
}

// ways runs a test with each purge that names the entry of a, which is undone at the first of two members.
func ways(t *testing.T, run func(t *testing.T, s *server, all []*member, undo func() error, purge store.Filter)) {
	for _, way := range []string{"all", "its model", "its id"} {
		t.Run(way, func(t *testing.T) {
			among(t, 2, func(t *testing.T, s *server, all []*member) {
				all[0].put("a", "first")
				settle()
				e, undo := all[0].undone("a")
				run(t, s, all, undo, naming(e)[way])
				all[0].link.set("", 0)
				all[1].link.set("", 0)
				time.Sleep(5 * time.Second)
				for _, m := range all {
					m.wants("a", "")
				}
				others := 0
				if all[0].get("b") != "" {
					others++
				}
				if ids := s.ids(); len(ids) > others {
					t.Errorf("the server has the entries %d", ids)
				}
				late := newMember(t, s, 9)
				settle()
				late.wants("a", "")
			})
		})
	}
}

// TestUndo: what is put back is served by all, also by a member that starts later.
func TestUndo(t *testing.T) {
	among(t, 2, func(t *testing.T, s *server, all []*member) {
		all[1].put("a", "first")
		settle()
		_, undo := all[0].undone("a")
		all[0].wants("a", "")
		if err := undo(); err != nil {
			t.Fatal(err)
		}
		if len(s.ids()) != 1 {
			t.Error("it returns before the server has the entry")
		}
		all = append(all, newMember(t, s, 9))
		settle()
		for _, m := range all {
			m.wants("a", "first")
		}
	})
}

// TestUndoCutOff: a member that cannot follow the log may have missed a purge, and puts nothing back.
func TestUndoCutOff(t *testing.T) {
	ways(t, func(t *testing.T, _ *server, all []*member, undo func() error, purge store.Filter) {
		all[0].link.set("hold", 0)
		if err := all[1].purge(purge); err != nil {
			t.Fatal(err)
		}
		if err := undo(); !errors.Is(err, cache.ErrDeaf) {
			t.Errorf("undo: %v", err)
		}
		all[0].wants("a", "")
	})
}

// TestUndoAfterSilence: nor does one that could not meanwhile, whether a purge came or not.
func TestUndoAfterSilence(t *testing.T) {
	ways(t, func(t *testing.T, _ *server, all []*member, undo func() error, _ store.Filter) {
		all[0].away("", "hold", 2*time.Second)
		all[0].link.set("", 0)
		time.Sleep(3 * time.Second)
		if !all[0].Stats().Live {
			t.Error("it is not live again")
		}
		if err := undo(); !errors.Is(err, cache.ErrDeaf) {
			t.Errorf("undo: %v", err)
		}
	})
}

// TestUndoBesideAPurge: a purge that is in the log, and not read yet, wins.
func TestUndoBesideAPurge(t *testing.T) {
	ways(t, func(t *testing.T, _ *server, all []*member, undo func() error, purge store.Filter) {
		all[0].link.setOnly("read", "", 400*time.Millisecond)
		settle()
		if _, err := all[1].link.Purge(t.Context(), 1<<40, purge); err != nil { // which has not returned to its caller
			t.Fatal(err)
		}
		if err := undo(); !errors.Is(err, cache.ErrPurged) {
			t.Errorf("undo: %v", err)
		}
		all[0].wants("a", "")
	})
}

// TestUndoOnItsWay: an entry that is put back is not served once a purge could have been missed, though it has not left this process.
func TestUndoOnItsWay(t *testing.T) {
	ways(t, func(t *testing.T, _ *server, all []*member, undo func() error, purge store.Filter) {
		all[0].link.set("hold", 0)
		all[0].put("b", "another") // which is sent first, so that the next one has to wait here
		time.Sleep(900 * time.Millisecond)
		result := make(chan error, 1)
		go func() { result <- undo() }()
		synctest.Wait()
		all[0].wants("a", "first") // within the grace
		if err := all[1].purge(purge); err != nil {
			t.Fatal(err)
		}
		all[0].wants("a", "")
		if err := <-result; !errors.Is(err, cache.ErrDeaf) {
			t.Errorf("undo: %v", err)
		}
		all[0].wants("a", "")
	})
}

// TestUndoBeforeAPurge: a purge by the old id that comes behind the new entry in the log removes it everywhere, though only the member that has put
// it back has both ids.
func TestUndoBeforeAPurge(t *testing.T) {
	ways(t, func(t *testing.T, _ *server, all []*member, undo func() error, purge store.Filter) {
		if err := undo(); err != nil {
			t.Fatal(err)
		}
		if err := all[1].purge(purge); err != nil {
			t.Fatal(err)
		}
	})
}

// TestCopyCutOff: a purge that could not be taken back is refused.
func TestCopyCutOff(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := members(t, newServer(), 1)[0]
		m.away("", "hold", 2*time.Second)
		m.put("a", "first")
		hit, _, _ := m.cache.Lookup(t.Context(), m.request("a"))
		if _, ok, err := m.cache.Undo().Copy(t.Context(), hit.Entry.ID); !ok || !errors.Is(err, cache.ErrDeaf) {
			t.Errorf("%v, %v", ok, err)
		}
		m.link.set("", 0)
	})
}
