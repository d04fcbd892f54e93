package store_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"reprise/policy"
	"reprise/policy/registry"
	"reprise/store"
	"reprise/store/storetest"
)

// TestUse: uses are counted for an answer, with the time of the last, also those of a log; a new answer begins again.
func TestUse(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	s := open(t, store.Options{Now: func() time.Time { return now }})
	e := entry("a")
	e.Created = now.Add(-time.Hour)
	s.Put(e, s.Tick())
	want := func(hits int64, last time.Time) {
		t.Helper()
		got, _ := s.Get(e.ID)
		if u := got.Use(); u.Hits != hits || !u.Last.Equal(last) {
			t.Errorf("%d hits, the last at %v; want %d, %v", u.Hits, u.Last, hits, last)
		}
	}
	want(0, time.Time{})
	before, _ := s.Get(e.ID) // it takes no copy
	now = now.Add(90 * time.Second)
	s.Hit(e.ID, 0, s.Tick())
	now = now.Add(time.Second / 4)
	s.Hit(e.ID, 0, s.Tick())
	want(2, time.Unix(1_800_000_090, 0))
	again := entry("a")
	again.Created = time.Unix(1_800_000_150, 1000)
	s.Put(again, s.Tick())
	want(0, time.Time{})
	s.Hit(e.ID, 0, s.Tick())
	want(1, again.Created) // no use comes before the answer
	s.Apply(store.Event{Kind: store.EventUse, ID: e.ID, At: s.Tick()})
	want(2, again.Created)
	if before.Use().Hits != 2 {
		t.Errorf("the answer of before has %d hits", before.Use().Hits) // those of its own
	}
	if (&store.Entry{}).Use() != (store.Use{}) {
		t.Error("an entry of no store was used")
	}
}

// TestUseIsReadWithoutALock: the race detector sees one that needs it.
func TestUseIsReadWithoutALock(t *testing.T) {
	s := open(t, store.Options{})
	e := entry("a")
	s.Put(e, s.Tick())
	var both sync.WaitGroup
	both.Go(func() {
		for range 1000 {
			s.Hit(e.ID, 0, s.Tick())
		}
	})
	both.Go(func() {
		last := int64(0)
		for range 1000 {
			got, _ := s.Get(e.ID)
			if n := got.Use().Hits; n < last {
				t.Errorf("%d hits after %d", n, last)
			} else {
				last = n
			}
		}
	})
	both.Wait()
	if got, _ := s.Get(e.ID); got.Use().Hits != 1000 {
		t.Errorf("%d hits", got.Use().Hits)
	}
}

// TestStaleUntilSurvives: with a chain and aliases or without, here and in the backing.
func TestStaleUntilSurvives(t *testing.T) {
	b := &storetest.Memory{}
	s := open(t, store.Options{Backing: b})
	until := time.Unix(1_900_000_000, 7)
	for i := range 4 {
		e := entry(fmt.Sprint(i))
		e.StaleUntil = until
		if i%2 > 0 {
			e.Chain = [32]byte{1}
		}
		s.Put(e, s.Tick())
		if i > 1 {
			s.Alias(key(fmt.Sprint("alias", i)), e.ID, 0)
		}
	}
	again := entry("1") // keeps the chain of the first answer
	again.StaleUntil = until
	s.Put(again, s.Tick())
	check := func(s *store.Store) {
		t.Helper()
		n := 0
		for e := range s.All() {
			if n++; !e.StaleUntil.Equal(until) || (e.Chain != [32]byte{}) != (n%2 == 0) {
				t.Errorf("entry %d: stale until %v, chain %v", e.ID, e.StaleUntil, e.Chain[0])
			}
		}
		if n != 4 {
			t.Errorf("%d entries", n)
		}
	}
	check(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	check(open(t, store.Options{Backing: b.Reopen()}))
}

// TestRanks: what goes next is what goes; a policy that does not say, and one that panics, say nothing.
func TestRanks(t *testing.T) {
	evictor, err := registry.New("rac", policy.Options{Capacity: 5})
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, store.Options{Evictor: evictor, Limit: policy.Limit{Entries: 5}})
	for i := range 5 {
		e := entry(fmt.Sprint(i))
		e.Topic = policy.TopicID(1 + i%2)
		s.Put(e, s.Tick())
	}
	for range 20 {
		s.Hit(2, 0, s.Tick())
	}
	next, says := s.Ranks().Next(3)
	if !says || len(next) != 3 || next[0].Why == "" {
		t.Fatalf("next: %v %v", next, says)
	}
	p, kept := s.Ranks().Prevalences([]policy.TopicID{1, 2, 99})
	if !kept || len(p) != 3 || p[1] < 5*p[0] || p[2] != 0 {
		t.Errorf("prevalences %v %v", p, kept)
	}
	newest := entry("new")
	newest.Topic = 2
	if got := gone(s.Put(newest, s.Tick())); !slices.Equal(got, []policy.ID{next[0].ID}) {
		t.Errorf("evicted %v, foreseen %v", got, next)
	}
	silent, err := registry.New("w-tinylfu", policy.Options{Capacity: 5})
	if err != nil {
		t.Fatal(err)
	}
	s = open(t, store.Options{Evictor: silent})
	if next, says := s.Ranks().Next(3); says || next != nil {
		t.Errorf("w-tinylfu: %v %v", next, says)
	}
	if p, kept := s.Ranks().Prevalences([]policy.TopicID{1}); kept || p != nil {
		t.Errorf("w-tinylfu: prevalences %v %v", p, kept)
	}
	s = open(t, store.Options{Evictor: unreadable{}})
	if next, says := s.Ranks().Next(3); says || len(next) > 0 {
		t.Errorf("unreadable: %v %v", next, says)
	}
}

// unreadable panics when it is read.
type unreadable struct{ policy.Evictor }

func (unreadable) Forecast(*policy.Forecast, int) int { panic("unreadable") }
func (unreadable) Why(policy.ID) string               { panic("unreadable") }
