package cache

import (
	"errors"
	"testing"

	"reprise/store"
	"reprise/store/storetest"
)

// TestPutBack: an entry that was purged is back under a new id with its answer and times, found by its key and by meaning, also after a restart.
func TestPutBack(t *testing.T) {
	disk := &storetest.Memory{}
	r, _ := newJudged(t, func(so *store.Options, _ *Options) { so.Backing = disk.Reopen() })
	k, a := long("k", 40), long("a", 42)
	r.wants(r.request(k), "miss", 1)
	was, _ := r.store.Get(1)
	e, ok, err := Copy(t.Context(), r.Cache, 1)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if _, ok, _ := Copy(t.Context(), r.Cache, 7); ok {
		t.Error("a copy of an entry that is not there")
	}
	if _, purged, _ := r.Purge(t.Context(), store.Filter{Entry: 1}); purged != 1 {
		t.Fatal(purged)
	}
	if r.find(t.Context(), r.request(a)).Hit != nil {
		t.Fatal("found after the purge")
	}
	id, reason, err := PutBack(t.Context(), r.Cache, e)
	if id != 2 || reason != "" || err != nil {
		t.Fatal(id, reason, err)
	}
	now, _ := r.store.Get(2)
	if !now.Created.Equal(was.Created) || !now.Expires.Equal(was.Expires) || string(now.Answer) != string(was.Answer) || now.AnswerHash != was.AnswerHash || now.Prompt != was.Prompt {
		t.Errorf("%+v, was %+v", now, was)
	}
	r.wants(r.request(k), "exact", 2)
	r.wants(r.request(a), "semantic", 2)
	if err := r.store.Close(); err != nil {
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
	e, _, _ := Copy(t.Context(), r.Cache, 1)
	r.Purge(t.Context(), store.Filter{Entry: 1})
	r.wants(r.request(k), "miss", 2)
	if _, _, err := PutBack(t.Context(), r.Cache, e); !errors.Is(err, ErrTaken) {
		t.Error(err)
	}
	r.wants(r.request(k), "exact", 2)
}
