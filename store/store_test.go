package store_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"
	"time"

	"reprise/policy"
	"reprise/store"
	"reprise/store/storetest"
)

func key(name string) store.Key { return sha256.Sum256([]byte(name)) }

func entry(name string) *store.Entry {
	return &store.Entry{
		Key: key(name), Scope: store.Scope(key("scope")), Tenant: "t", Model: "m", Endpoint: "chat",
		Prompt: "prompt of " + name, Answer: []byte("answer to " + name), Vector: []float32{1, 0, 0, 0}, Topic: 1,
	}
}

func open(t testing.TB, o store.Options) *store.Store {
	t.Helper()
	if o.Evictor == nil {
		o.Evictor = policy.NewLRU()
	}
	if o.OnFault == nil {
		o.OnFault = func(step string, err error) { t.Errorf("fault in %s: %v", step, err) }
	}
	s, err := store.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestPutLookupEvict(t *testing.T) {
	s := open(t, store.Options{Limit: policy.Limit{Entries: 2}})
	a, b, c := entry("a"), entry("b"), entry("c")
	s.Put(a, s.Tick())
	s.Put(b, s.Tick())
	s.Hit(a.ID, 0, s.Tick())
	if got := s.Put(c, s.Tick()); !slices.Equal(got.Evicted, []policy.ID{b.ID}) {
		t.Errorf("evicted %v, want %v", got.Evicted, b.ID)
	}
	if _, _, ok := s.Lookup(key("b")); ok {
		t.Error("evicted entry is found")
	}
	e, alias, ok := s.Lookup(key("a"))
	if !ok || alias || e.ID != a.ID || e.Vector != nil {
		t.Errorf("lookup of a: %+v %v %v", e, alias, ok)
	}
	again := entry("a")
	if got := s.Put(again, s.Tick()); !slices.Equal(got.Evicted, []policy.ID{a.ID}) || again.ID == a.ID {
		t.Errorf("replacing a by %d evicted %v, want %v", again.ID, got.Evicted, a.ID)
	}
}

func TestRestart(t *testing.T) {
	m := &storetest.Memory{}
	s := open(t, store.Options{Backing: m, Space: "x"})
	for i := range 10 {
		s.Put(entry(fmt.Sprint(i)), s.Tick())
	}
	s.Alias(key("alias"), 3)
	if err := s.Sync(context.Background()); err != nil {
		t.Fatal(err)
	}
	s.Close()
	r := open(t, store.Options{Backing: m.Reopen(), Space: "x", Now: func() time.Time { return time.Unix(1, 0) }})
	n := 0
	for e := range r.Restored() {
		if len(e.Vector) != 4 {
			t.Errorf("entry %d has vector %v", e.ID, e.Vector)
		}
		n++
	}
	e, alias, ok := r.Lookup(key("alias"))
	if n != 10 || !ok || !alias || e.ID != 3 || r.Secret() != s.Secret() {
		t.Errorf("%d entries; alias: %v %v %v", n, e, alias, ok)
	}
	if at := r.Tick(); at.Seq != 11 {
		t.Errorf("tick %+v, want 11", at)
	}
}
