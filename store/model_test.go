package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"reprise/policy"
	"reprise/policy/rac"
	"reprise/store"
	"reprise/store/storetest"
)

// model is the plainest store under LRU: one list, searched from the front, most recently used last.
type model struct {
	max        int
	maxAliases int
	list       []*modelEntry
}

type modelEntry struct {
	id      policy.ID
	key     store.Key
	aliases []modelAlias
	answer  string
	vector  bool
}

type modelAlias struct {
	key   store.Key
	basis uint64
}

func (e *modelEntry) unalias(k store.Key) {
	e.aliases = slices.DeleteFunc(e.aliases, func(a modelAlias) bool { return a.key == k })
}

func (m *model) find(k store.Key) *modelEntry {
	for _, e := range m.list {
		if e.key == k || slices.ContainsFunc(e.aliases, func(a modelAlias) bool { return a.key == k }) {
			return e
		}
	}
	return nil
}

func (m *model) byID(id policy.ID) *modelEntry {
	for _, e := range m.list {
		if e.id == id {
			return e
		}
	}
	return nil
}

func (m *model) remove(e *modelEntry) {
	m.list = slices.DeleteFunc(m.list, func(x *modelEntry) bool { return x == e })
}

func (m *model) put(id policy.ID, k store.Key, answer string, vector bool) (gone []policy.ID) {
	if old := m.find(k); old != nil && old.key == k {
		m.hit(old.id)
		old.answer, old.vector = answer, vector
		return nil
	} else if old != nil {
		old.unalias(k)
	}
	m.list = append(m.list, &modelEntry{id: id, key: k, answer: answer, vector: vector})
	for len(m.list) > m.max {
		gone = append(gone, m.list[0].id)
		m.list = m.list[1:]
	}
	return gone
}

func (m *model) hit(id policy.ID) {
	if e := m.byID(id); e != nil {
		m.remove(e)
		m.list = append(m.list, e)
	}
}

// crowdedOut is a list without the alias that makes room for another.
func crowdedOut(all []modelAlias) []modelAlias {
	out := max(slices.IndexFunc(all, func(a modelAlias) bool { return a.basis != store.Refused }), 0)
	return slices.Delete(slices.Clone(all), out, out+1)
}

func (m *model) alias(k store.Key, id policy.ID, basis uint64) {
	e, old, a := m.byID(id), m.find(k), modelAlias{k, basis}
	if e == nil || slices.Contains(e.aliases, a) || old != nil && old.key == k {
		return
	}
	if old != nil {
		old.unalias(k)
	}
	if len(e.aliases) == m.maxAliases {
		e.aliases = crowdedOut(e.aliases)
	}
	e.aliases = append(e.aliases, a)
}

// TestModel plays random scripts, with restarts and with faults of the backing, and compares with the model.
func TestModel(t *testing.T) {
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 0))
		m := &model{max: 20, maxAliases: 3}
		disk := &storetest.Memory{}
		start := func() *store.Store {
			return open(t, store.Options{Backing: disk.Reopen(), Limit: policy.Limit{Entries: m.max}, MaxAliases: m.maxAliases,
				FlushEvery: time.Hour, OnFault: func(string, error) {}})
		}
		s := start()
		for step := range 1500 {
			k, id := key(fmt.Sprint(rng.IntN(40))), policy.ID(rng.IntN(step+1))
			switch rng.IntN(12) {
			case 0, 1, 2, 3:
				e := entry("")
				e.Key, e.Answer = k, fmt.Append(nil, "answer ", step)
				if step%3 == 0 {
					e.Vector = nil
				}
				got := gone(s.Put(e, s.Tick()))
				if want := m.put(e.ID, k, string(e.Answer), e.Vector != nil); !slices.Equal(got, want) {
					t.Fatalf("seed %d step %d: evicted %v, want %v", seed, step, got, want)
				}
			case 4, 5, 6:
				s.Hit(id, 0, s.Tick())
				m.hit(id)
			case 7, 8:
				basis := [...]uint64{0, 1, store.Refused}[rng.IntN(3)]
				s.Alias(k, id, basis)
				m.alias(k, id, basis)
			case 9:
				if e := m.byID(id); (e != nil) != (len(s.Remove(policy.Purged, id)) == 1) {
					t.Fatalf("seed %d step %d: removing %d", seed, step, id)
				} else if e != nil {
					m.remove(e)
				}
			case 10:
				disk.Fail([]error{nil, context.DeadlineExceeded}[rng.IntN(2)])
				s.Sync(context.Background())
			case 11:
				if rng.IntN(10) == 0 {
					disk.Fail(nil)
					s.Close()
					s = start()
					vectors(t, s, m)
				}
			}
			compare(t, s, m)
		}
		disk.Fail(nil)
		s.Close()
		if n := disk.Count(store.KindEntry); n != len(m.list) {
			t.Errorf("seed %d: %d entries on the disk, want %d", seed, n, len(m.list))
		}
	}
}

func compare(t *testing.T, s *store.Store, m *model) {
	t.Helper()
	aliases := 0
	for _, want := range m.list {
		e, alias, ok := s.Lookup(want.key)
		if !ok || alias || e.ID != want.id || string(e.Answer) != want.answer {
			t.Fatalf("entry %d with %q: found %+v", want.id, want.answer, e)
		}
		for _, a := range want.aliases {
			if e, alias, ok := s.Lookup(a.key); !ok || !alias || e.ID != want.id {
				t.Fatalf("alias of %d is not found", want.id)
			}
			if basis, ok := s.Basis(a.key, want.id); !ok || basis != a.basis {
				t.Fatalf("alias of %d has basis %d, %v, want %d", want.id, basis, ok, a.basis)
			}
		}
		if _, ok := s.Basis(want.key, want.id); ok {
			t.Fatalf("the own key of %d has a basis", want.id)
		}
		aliases += len(want.aliases)
	}
	if st := s.Stats(); st.Entries != len(m.list) || st.Aliases != aliases || st.Bytes != s.Bytes() {
		t.Fatalf("%d entries, %d aliases and %d bytes, want %d, %d and %d", st.Entries, st.Aliases, s.Bytes(), len(m.list), aliases, st.Bytes)
	}
}

// vectors checks which entries have a vector after a restart.
func vectors(t *testing.T, s *store.Store, m *model) {
	t.Helper()
	restored, _ := s.Restored()
	for e := range restored {
		if want := m.byID(e.ID); want == nil || want.vector != (e.Vector != nil) {
			t.Fatalf("entry %d was restored with vector %v", e.ID, e.Vector)
		}
	}
}

// TestRestartEquality: after a restart the policy names the same victims in the same order, with the same weights.
func TestRestartEquality(t *testing.T) {
	for seed := range uint64(5) {
		rng := rand.New(rand.NewPCG(seed, 7))
		disk := &storetest.Memory{}
		limit := policy.Limit{Entries: 200}
		evictor := func() *rac.Policy {
			o := rac.Tuned(limit.Entries)
			o.Protect = false // the newest is found by birth, which a restart replays by last use
			return rac.New(o)
		}
		before := evictor()
		s := open(t, store.Options{Backing: disk, Evictor: before, Limit: limit, FlushEvery: time.Hour})
		for i := range 3000 {
			at := s.Tick()
			topic := policy.TopicID(1 + rng.IntN(12))
			if rng.IntN(2) == 0 {
				s.Hit(policy.ID(1+rng.IntN(i+1)), policy.ID(rng.IntN(i+1)), at)
				continue
			}
			s.Arrive(topic, at)
			if i%100 == 0 {
				s.Sync(t.Context()) // what changes later is written again
			}
			e := entry(fmt.Sprint(i))
			e.Topic, e.Parent = topic, policy.ID(rng.IntN(i+1))
			s.Put(e, at)
		}
		s.Close()
		after := evictor()
		r := open(t, store.Options{Backing: disk.Reopen(), Evictor: after, Limit: limit})
		for e := range s.All() {
			if a, b := before.Importance(e.ID), after.Importance(e.ID); a != b || a == 0 {
				t.Fatalf("weight of %d was %v and is %v", e.ID, a, b)
			}
			if n, ok := r.Get(e.ID); !ok || string(n.Answer) != string(e.Answer) || n.Topic != e.Topic || !n.Created.Equal(e.Created) {
				t.Fatalf("entry %d was %+v and is %+v", e.ID, e, n)
			}
		}
		if r.MaxTopic() != s.MaxTopic() {
			t.Errorf("highest topic was %d and is %d", s.MaxTopic(), r.MaxTopic())
		}
		for i := 0; ; i++ {
			a, ok := before.Victim()
			b, _ := after.Victim()
			if a != b {
				t.Fatalf("seed %d: victim %d was %d and is %d", seed, i, a, b)
			}
			if !ok {
				break
			}
			before.Remove(a, policy.Evicted)
			after.Remove(b, policy.Evicted)
		}
	}
}
