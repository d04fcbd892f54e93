package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"reprise/policy"
	"reprise/store"
	"reprise/store/storetest"
)

const perAlias = 160

// TestAliasesAreCharged: an alias takes of the capacity when it is made, gives it back when it goes, stays with an entry whose answer
// is replaced, and is counted again by a restart.
func TestAliasesAreCharged(t *testing.T) {
	disk := &storetest.Memory{}
	s := open(t, store.Options{Backing: disk, MaxAliases: 4})
	a, b := entry("a"), entry("b")
	s.Put(a, s.Tick())
	s.Put(b, s.Tick())
	bare := s.Stats().Bytes
	expect := func(when string, aliases int64) {
		t.Helper()
		if got := s.Stats(); got.Bytes != bare+aliases*perAlias || got.Aliases != int(aliases) {
			t.Errorf("%s: %d bytes beside the entries and %d aliases, want %d", when, got.Bytes-bare, got.Aliases, aliases)
		}
	}
	for i := range 6 {
		s.Alias(key(fmt.Sprint(i)), a.ID, 1)
	}
	expect("six of which four stay", 4)
	s.Alias(key("5"), a.ID, 2)
	expect("one gets another basis", 4)
	s.Alias(key("5"), b.ID, 2)
	expect("one moves to another entry", 4)
	c := entry("4")
	bare += c.Footprint(4)
	s.Put(c, s.Tick())
	expect("one becomes a key of its own", 3)
	s.Put(entry("a"), s.Tick())
	expect("the answer is replaced", 3)
	s.Sync(context.Background())
	was := s
	s = open(t, store.Options{Backing: disk.Clone(), MaxAliases: 4})
	expect("a restart", 3)
	s = was
	bare -= a.Size
	s.Remove(policy.Purged, a.ID)
	expect("the entry goes", 1)
}

// TestAliasesStayWithinTheCapacity makes aliases and nothing else in a full store.
func TestAliasesStayWithinTheCapacity(t *testing.T) {
	one := entry("100")
	limit := 20 * one.Footprint(4)
	disk := &storetest.Memory{}
	s := open(t, store.Options{Backing: disk, Limit: policy.Limit{Bytes: limit}})
	var ids []policy.ID
	for i := range 20 {
		e := entry(fmt.Sprint(100 + i))
		s.Put(e, s.Tick())
		ids = append(ids, e.ID)
	}
	evicted := 0
	for i := range 400 {
		evs := s.Alias(key(fmt.Sprint("alias", i)), ids[rand.IntN(len(ids))], uint64(rand.IntN(3)))
		evicted += len(gone(evs))
		st := s.Stats()
		if st.Bytes > limit {
			t.Fatalf("%d bytes, the limit is %d", st.Bytes, limit)
		}
		if want := int64(st.Entries)*one.Footprint(4) + int64(st.Aliases)*perAlias; st.Bytes != want {
			t.Fatalf("%d bytes are charged for %d entries and %d aliases", st.Bytes, st.Entries, st.Aliases)
		}
	}
	if st := s.Stats(); evicted == 0 || int64(evicted) != st.Evictions || st.Entries != 20-evicted {
		t.Errorf("%d evicted, %+v", evicted, st)
	}
	s.Sync(context.Background())
	before := s.Stats()
	if st := open(t, store.Options{Backing: disk.Clone(), Limit: policy.Limit{Bytes: limit}}).Stats(); st.Bytes != before.Bytes || st.Entries != before.Entries {
		t.Errorf("after a restart %d bytes of %d entries, before %d of %d", st.Bytes, st.Entries, before.Bytes, before.Entries)
	}
}

// TestFootprint: everything that an entry keeps is charged.
func TestFootprint(t *testing.T) {
	bare := (&store.Entry{}).Footprint(0)
	for name, c := range map[string]struct {
		entry store.Entry
		dim   int
		least int64
	}{
		"prompt":    {store.Entry{Prompt: string(make([]byte, 5000))}, 0, 5000},
		"answer":    {store.Entry{Answer: make([]byte, 5000)}, 0, 5000},
		"pages":     {store.Entry{Answer: make([]byte, 40<<10+1)}, 0, 48 << 10},
		"tenant":    {store.Entry{Labels: &store.Labels{Tenant: string(make([]byte, 64))}}, 0, 64},
		"namespace": {store.Entry{Labels: &store.Labels{Namespace: string(make([]byte, 128))}}, 0, 128},
		"model":     {store.Entry{Labels: &store.Labels{Model: string(make([]byte, 512))}}, 0, 512},
		"endpoint":  {store.Entry{Labels: &store.Labels{Endpoint: string(make([]byte, 128))}}, 0, 128},
		"vector":    {store.Entry{}, 384, 4*384 + 200},
	} {
		if got := c.entry.Footprint(c.dim) - bare; got < c.least || got > c.least+c.least/8+64 {
			t.Errorf("%s: %d bytes are charged, want %d or a little more", name, got, c.least)
		}
	}
}
