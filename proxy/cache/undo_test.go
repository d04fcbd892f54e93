package cache

import (
	"errors"
	"slices"
	"testing"
	"time"

	"reprise/policy"
	"reprise/store"
	"reprise/store/storetest"
)

// TestPutBack: an entry that was purged is back under a new id with its answer and times, found by its key and by meaning, also after a restart.
func TestPutBack(t *testing.T) {
	disk := &storetest.Memory{}
	r, _ := newJudged(t, func(so *store.Options, _ *Options) { so.Backing = disk.Reopen() })
	k, a := long("k", 40), long("a", 42)
	r.wants(r.request(k), "miss", 1)
	was, _ := r.state.store.Get(1)
	e, ok, err := r.Cache.Undo().Copy(t.Context(), 1)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if _, ok, _ := r.Cache.Undo().Copy(t.Context(), 7); ok {
		t.Error("a copy of an entry that is not there")
	}
	if _, purged, _ := r.Purge(t.Context(), store.Filter{Entry: 1}); purged != 1 {
		t.Fatal(purged)
	}
	if r.find(t.Context(), r.request(a)).Hit != nil {
		t.Fatal("found after the purge")
	}
	id, reason, err := r.Cache.Undo().PutBack(t.Context(), e)
	if id != 2 || reason != "" || err != nil {
		t.Fatal(id, reason, err)
	}
	now, _ := r.state.store.Get(2)
	if !now.Created.Equal(was.Created) || !now.Expires.Equal(was.Expires) || string(now.Answer) != string(was.Answer) || now.AnswerHash != was.AnswerHash || now.Prompt != was.Prompt {
		t.Errorf("%+v, was %+v", now, was)
	}
	r.wants(r.request(k), "exact", 2)
	r.wants(r.request(a), "semantic", 2)
	if err := r.state.store.Close(); err != nil {
		t.Fatal(err)
	}
	again, _ := newJudged(t, func(so *store.Options, _ *Options) { so.Backing = disk.Reopen() })
	again.wants(again.request(k), "exact", 2)
}

// TestPutBackTooLate: an answer that has come since stays.
func TestPutBackTooLate(t *testing.T) {
	r, _ := newJudged(t)
	k := long("k", 40)
	r.wants(r.request(k), "miss", 1)
	e, _, _ := r.Cache.Undo().Copy(t.Context(), 1)
	r.Purge(t.Context(), store.Filter{Entry: 1})
	r.wants(r.request(k), "miss", 2)
	if _, _, err := r.Cache.Undo().PutBack(t.Context(), e); !errors.Is(err, ErrTaken) {
		t.Error(err)
	}
	r.wants(r.request(k), "exact", 2)
}

// TestPutBackExpired: an answer whose time is over meanwhile answers nothing, and stays away.
func TestPutBackExpired(t *testing.T) {
	r, _ := newJudged(t)
	r.wants(r.request(long("k", 40)), "miss", 1)
	e, _, _ := r.Cache.Undo().Copy(t.Context(), 1)
	r.Purge(t.Context(), store.Filter{Entry: 1})
	r.pass(24 * time.Hour)
	if _, _, err := r.Cache.Undo().PutBack(t.Context(), e); !errors.Is(err, ErrExpired) {
		t.Error(err)
	}
	if len(r.state.copies) != 0 || r.state.store.Stats().Entries != 0 {
		t.Error("something is left")
	}
}

// TestPutBackKeepsVerdicts: a request that a verdict keeps from an entry is kept from it also when that is put back, where the verdict came before a
// restart, while the entry was away, or after that, and after another restart.
func TestPutBackKeepsVerdicts(t *testing.T) {
	k, a := long("k", 40), long("a", 42)
	for _, when := range []string{"before a restart", "before", "while it is away", "late"} {
		disk := &storetest.Memory{}
		open := func() *rig {
			r, _ := newJudged(t, func(so *store.Options, _ *Options) { so.Backing = disk.Reopen() })
			return r
		}
		r := open()
		say := func(at string) {
			if at != when && !(at == "before" && when == "before a restart") {
				return
			}
			p := Pair{Request: keyOf(a), Entry: keyOf(k), ID: 1}
			if err := r.verdicts.Reviewed(p, false); err != nil {
				t.Fatal(err)
			}
		}
		r.wants(r.request(k), "miss", 1)
		r.wants(r.request(a), "semantic", 1)
		say("before")
		if when == "before a restart" {
			r.state.store.Close()
			r = open()
		}
		kept, _, err := r.Cache.Undo().Copy(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		r.Purge(t.Context(), store.Filter{Entry: 1})
		say("while it is away")
		if id, _, err := r.Cache.Undo().PutBack(t.Context(), kept); id != 2 || err != nil {
			t.Fatal(id, err)
		}
		say("late")
		for _, restarted := range []bool{false, true} {
			if restarted {
				r.state.store.Close()
				r = open()
			}
			f := r.find(t.Context(), r.request(a))
			if hit, _, _ := r.Lookup(t.Context(), r.request(a)); hit != nil || f.Hit != nil {
				t.Errorf("a verdict %s: it is served, restarted: %v", when, restarted)
			}
			r.wants(r.request(k), "exact", 2)
		}
	}
}

// TestPutBackAfterAnotherPurge: what another purge has named stays away, in any order and of any process; one of other entries, and the own purge
// as it is read from the log of a shared store, change nothing.
func TestPutBackAfterAnotherPurge(t *testing.T) {
	own, all, other := store.Filter{Entry: 1}, store.Filter{}, store.Filter{Entry: 2}
	for _, tc := range []struct {
		name   string
		purges func(r *rig)
		back   bool
	}{
		{"all", func(r *rig) { r.Purge(t.Context(), own); r.Purge(t.Context(), all) }, false},
		{"all, before", func(r *rig) { r.Purge(t.Context(), all); r.Purge(t.Context(), own) }, false},
		{"the same again", func(r *rig) { r.Purge(t.Context(), own); r.Purge(t.Context(), own) }, false},
		{"by another process", func(r *rig) { r.Purge(t.Context(), own); r.follower.ApplyPurge(t.Context(), own, false, nil) }, false},
		{"by another process, missed", func(r *rig) { r.Purge(t.Context(), own); r.follower.Missed() }, false},
		{"the store was begun again", func(r *rig) { r.Purge(t.Context(), own); r.follower.Adopt([32]byte{1}, 2) }, false},
		{"of another entry", func(r *rig) { r.Purge(t.Context(), own); r.Purge(t.Context(), other) }, true},
		{"of another entry, by another process", func(r *rig) { r.Purge(t.Context(), own); r.follower.ApplyPurge(t.Context(), other, false, nil) }, true},
		{"read from the log", func(r *rig) { r.Purge(t.Context(), own); r.follower.ApplyPurge(t.Context(), own, true, nil) }, true},
	} {
		r, _ := newJudged(t)
		k := long("k", 40)
		r.wants(r.request(k), "miss", 1)
		e, _, err := r.Cache.Undo().Copy(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		tc.purges(r)
		if _, _, err := r.Cache.Undo().PutBack(t.Context(), e); tc.back && err != nil || !tc.back && !errors.Is(err, ErrPurged) {
			t.Errorf("%s: %v", tc.name, err)
		}
		if found := r.find(t.Context(), r.request(k)).Hit != nil; found != tc.back {
			t.Errorf("%s: found: %v", tc.name, found)
		}
		if len(r.state.copies) != 0 {
			t.Errorf("%s: %d copies are left", tc.name, len(r.state.copies))
		}
	}
}

// TestCopyDuringAPurge: a purge that is under way may be about to remove the entry that is copied.
func TestCopyDuringAPurge(t *testing.T) {
	r, _ := newJudged(t)
	r.wants(r.request(long("k", 40)), "miss", 1)
	var kept *Copied
	r.follower.purge(func(*store.Entry) bool { // without the lock: there is no copy yet that would be matched under it
		if kept == nil {
			kept, _, _ = r.Cache.Undo().Copy(t.Context(), 1)
		}
		return true
	}, nil, false)
	r.Purge(t.Context(), store.Filter{Entry: 1})
	if _, _, err := r.Cache.Undo().PutBack(t.Context(), kept); !errors.Is(err, ErrPurged) {
		t.Error(err)
	}
}

// TestPutBackUnknownOutside: what the shared store does not take is removed again; what it has taken, and has left meanwhile, was purged.
func TestPutBackUnknownOutside(t *testing.T) {
	for _, tc := range []struct {
		name    string
		appends func(r *rig, id policy.ID) error
		want    error
	}{
		{"taken", func(*rig, policy.ID) error { return nil }, nil},
		{"unknown", func(*rig, policy.ID) error { return errShelf }, ErrDeaf},
		{"purged meanwhile", func(r *rig, _ policy.ID) error {
			return r.follower.ApplyPurge(t.Context(), store.Filter{Entry: 1}, false, nil)
		}, ErrPurged},
	} {
		r, s := newShared(t)
		r.wants(r.request(letters(40)), "miss", 1)
		kept, _, err := r.Cache.Undo().Copy(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		r.Purge(t.Context(), store.Filter{Entry: 1})
		s.appends = func(id policy.ID) error { return tc.appends(r, id) }
		if _, _, err := r.Cache.Undo().PutBack(t.Context(), kept); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v", tc.name, err)
		}
		if _, there := r.Get(2); there != (tc.want == nil) {
			t.Errorf("%s: there: %v", tc.name, there)
		}
		removed := slices.ContainsFunc(s.log, func(ev Event) bool { return ev.Kind == store.EventPurge && ev.ID == 2 && !ev.Applied })
		if removed != (tc.want != nil) {
			t.Errorf("%s: the others read that it is removed: %v", tc.name, removed)
		}
	}
}
