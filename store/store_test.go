package store_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"reprise/policy"
	"reprise/policy/classic"
	"reprise/policy/rac"
	"reprise/store"
	"reprise/store/storetest"
)

func key(name string) store.Key { return sha256.Sum256([]byte(name)) }

func entry(name string) *store.Entry {
	return &store.Entry{
		Key: key(name), Scope: store.Scope(key("scope")), Labels: &store.Labels{Tenant: "t", Model: "m", Endpoint: "chat"},
		Prompt: "prompt of " + name, Answer: []byte("answer to " + name), Vector: []float32{1, 0, 0, 0}, Topic: 1,
	}
}

func open(t testing.TB, o store.Options) *store.Store {
	t.Helper()
	if o.Evictor == nil {
		o.Evictor = classic.NewLRU()
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

// gone lists the entries that events remove.
func gone(evs []store.Event) (ids []policy.ID) {
	for _, ev := range evs {
		if _, removed := ev.Reason(); removed {
			ids = append(ids, ev.ID)
		}
	}
	return ids
}

// TestReplace: a new answer to a known key takes the place of the old one under the id, topic, chain and aliases of that, and the
// policy keeps its importance.
func TestReplace(t *testing.T) {
	disk := &storetest.Memory{}
	o := store.Options{Backing: disk, Evictor: rac.New(rac.Tuned(10)), Limit: policy.Limit{Entries: 10}}
	s := open(t, o)
	old := entry("a")
	s.Put(old, s.Tick())
	s.Alias(key("alias"), old.ID, 0)
	for range 10 {
		s.Hit(old.ID, 0, s.Tick())
	}
	importance := s.Ranks().Importance(old.ID)
	s.Sync(context.Background())
	again := entry("a")
	again.Answer, again.Topic, again.Chain = []byte("another answer"), 7, [32]byte{1}
	evs := s.Put(again, s.Tick())
	if len(evs) != 1 || !evs[0].Replaced || again.ID != old.ID || again.Topic != old.Topic || again.Chain != old.Chain {
		t.Errorf("%d events; entry %d of topic %d became %d of %d", len(evs), old.ID, old.Topic, again.ID, again.Topic)
	}
	if got := s.Ranks().Importance(old.ID); got < importance || importance < 10 {
		t.Errorf("importance was %v and is %v", importance, got)
	}
	s.Close()
	o.Backing, o.Evictor = disk.Reopen(), rac.New(rac.Tuned(10))
	r := open(t, o)
	for _, from := range []*store.Store{s, r} {
		e, alias, ok := from.Lookup(key("alias"))
		if !ok || !alias || e.ID != old.ID || string(e.Answer) != "another answer" || from.Stats().Entries != 1 {
			t.Errorf("after the replacement the alias leads to %+v", e)
		}
	}
}

// TestReplaceInAFullStore: an expired entry is not swept by the very answer that takes its place.
func TestReplaceInAFullStore(t *testing.T) {
	now := time.Unix(1000, 0)
	s := open(t, store.Options{Limit: policy.Limit{Entries: 3}, Now: func() time.Time { return now }})
	for _, name := range []string{"a", "b", "c"} {
		e := entry(name)
		e.Created, e.Expires = now, now.Add(time.Hour)
		s.Put(e, s.Tick())
	}
	s.Alias(key("alias"), 2, 0)
	now = now.Add(90 * time.Minute)
	again := entry("b")
	if evs := s.Put(again, s.Tick()); again.ID != 2 || len(evs) != 1 {
		t.Errorf("entry 2 became %d, with %d events", again.ID, len(evs))
	}
	if e, _, ok := s.Lookup(key("alias")); !ok || e.ID != 2 {
		t.Error("the alias is lost")
	}
}

// TestProcesses: two processes never make the same id.
func TestProcesses(t *testing.T) {
	seen := map[policy.ID]bool{}
	for _, process := range []uint16{0, 1, 65535} {
		disk := &storetest.Memory{}
		for range 3 { // with restarts
			s := open(t, store.Options{Process: process, Backing: disk.Reopen()})
			for i := range 10 {
				e := entry(fmt.Sprint(len(seen), i))
				if s.Put(e, s.Tick()); seen[e.ID] || e.ID >= 1<<53 {
					t.Fatalf("process %d made id %d", process, e.ID)
				}
				seen[e.ID] = true
			}
			s.Close()
		}
	}
}

// TestAliasesOfBefore: a file of before aliases had a basis is read. Its aliases have the basis 0.
func TestAliasesOfBefore(t *testing.T) {
	disk := &storetest.Memory{}
	s := open(t, store.Options{Backing: disk})
	e := entry("a")
	s.Put(e, s.Tick())
	s.Close()
	disk = disk.Reopen()
	for n := range 20 { // lists of five and of ten are as long as newer ones
		var body []byte
		for i := range n {
			k := key(fmt.Sprint("alias ", i))
			body = append(body, k[:]...)
		}
		disk.Write(&store.Batch{Put: []store.Record{{Kind: store.KindAliases, ID: uint64(e.ID), Body: body}}})
		s = open(t, store.Options{Backing: disk.Clone(), MaxAliases: 20})
		if got := s.Stats(); got.Aliases != n || got.Report.Skipped != 0 {
			t.Errorf("%d aliases, %d records skipped, want %d", got.Aliases, got.Report.Skipped, n)
		}
		if basis, ok := s.Basis(key("alias 0"), e.ID); ok != (n > 0) || basis != 0 {
			t.Errorf("of %d aliases one has basis %d, %v", n, basis, ok)
		}
	}
}

// TestRequestsAreCounted: uses and answers that were put, those of a log that is applied too; what a restart loads is no request.
func TestRequestsAreCounted(t *testing.T) {
	disk := &storetest.Memory{}
	s, follower := open(t, store.Options{Backing: disk}), open(t, store.Options{})
	a := entry("a")
	log := s.Put(a, s.Tick())
	for range 2 {
		ev, _ := s.Hit(a.ID, 0, s.Tick())
		log = append(log, ev)
	}
	s.Hit(99, 0, s.Tick()) // there is none
	log = append(log, s.Put(entry("a"), s.Tick())...)
	log = append(log, s.Alias(key("b"), a.ID, 1)...)
	for _, ev := range log {
		follower.Apply(ev)
	}
	for who, st := range map[string]store.Stats{"the store": s.Stats(), "its follower": follower.Stats()} {
		if st.Requests != 4 || st.Hits != 2 {
			t.Errorf("%s counts %d hits of %d requests, want 2 of 4", who, st.Hits, st.Requests)
		}
	}
	s.Sync(t.Context())
	if st := open(t, store.Options{Backing: disk.Clone()}).Stats(); st.Entries != 1 || st.Requests+st.Hits != 0 {
		t.Errorf("after a restart: %d entries, %d requests", st.Entries, st.Requests)
	}
}
