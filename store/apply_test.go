package store_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"reprise/policy"
	"reprise/policy/rac"
	"reprise/store"
	"reprise/store/storetest"
)

// sharedLog is what a log of several processes says, by the shortest rules.
type sharedLog struct{ model }

func (l *sharedLog) byKey(k store.Key) *modelEntry {
	if e := l.find(k); e != nil && e.key == k {
		return e
	}
	return nil
}

func (l *sharedLog) unalias(k store.Key) {
	for _, e := range l.list {
		e.unalias(k)
	}
}

func (l *sharedLog) insert(id policy.ID, k store.Key, answer int) {
	if e := l.byID(id); e != nil {
		if e.key == k {
			e.answer = fmt.Sprint(answer)
		}
		return
	}
	if other := l.byKey(k); other != nil {
		l.remove(other)
	}
	l.unalias(k)
	l.list = append(l.list, &modelEntry{id: id, key: k, answer: fmt.Sprint(answer)})
}

func (l *sharedLog) alias(k store.Key, id policy.ID, basis uint64) {
	if l.byKey(k) != nil {
		return
	}
	l.unalias(k)
	if e := l.byID(id); e != nil {
		if len(e.aliases) == l.maxAliases {
			e.aliases = crowdedOut(e.aliases)
		}
		e.aliases = append(e.aliases, modelAlias{k, basis})
	}
}

// TestSharedLog: a store that applies the log of several processes has what it says, in any order of its events: also where an entry is
// unknown or has left, a key has another entry, or an event comes twice.
func TestSharedLog(t *testing.T) {
	const keys, most = 12, 3
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		s := outside(t, func(o *store.Options) { o.MaxAliases = most })
		l := &sharedLog{model{maxAliases: most}}
		seq := int64(0)
		for step := range 1500 {
			id, k := policy.ID(1+rng.IntN(30)), key(fmt.Sprint(rng.IntN(keys)))
			var ev store.Event
			switch n := rng.IntN(10); {
			case n < 4: // an id is always of one key
				k = key(fmt.Sprint(int(id) % keys))
				e := entry("")
				e.ID, e.Key, e.Created, e.Size, e.Answer = id, k, time.Unix(int64(step), 0), 1000+int64(id), nil
				ev = store.Event{Kind: store.EventInsert, ID: id, Entry: e, Replaced: rng.IntN(2) == 0}
				l.insert(id, k, step)
			case n < 7:
				ev = store.Event{Kind: store.EventAlias, ID: id, Key: k, Basis: [...]uint64{0, 1, 2, store.Refused}[rng.IntN(4)]}
				l.alias(k, id, ev.Basis)
			case n < 8:
				ev = store.Event{Kind: []store.EventKind{store.EventEvict, store.EventExpire, store.EventPurge}[rng.IntN(3)], ID: id}
				if e := l.byID(id); e != nil {
					l.remove(e)
				}
			case n < 9:
				ev = store.Event{Kind: store.EventUse, ID: id, At: policy.Tick{Seq: 1 << 40}, Parent: policy.ID(rng.IntN(30))}
			default:
				ev = store.Event{Kind: store.EventArrive, Topic: policy.TopicID(id), At: policy.Tick{Seq: 1 << 40}}
			}
			for range 1 + rng.IntN(2) {
				if ev.Kind == store.EventUse || ev.Kind == store.EventArrive {
					seq++
				}
				s.Apply(ev)
			}
			l.compare(t, s, keys)
		}
		if at := s.Tick(); at.Seq != seq+1 {
			t.Errorf("request %d after %d uses and arrivals", at.Seq, seq)
		}
	}
}

func (l *sharedLog) compare(t *testing.T, s *store.Store, keys int) {
	t.Helper()
	bytes, aliases := int64(0), 0
	for _, want := range l.list {
		e, alias, ok := s.Lookup(want.key)
		if !ok || alias || e.ID != want.id || fmt.Sprint(e.Created.Unix()) != want.answer {
			t.Fatalf("entry %d with answer %s: found %+v", want.id, want.answer, e)
		}
		bytes += e.Size + perAlias*int64(len(want.aliases))
		aliases += len(want.aliases)
	}
	for i := range keys {
		k := key(fmt.Sprint(i))
		e, alias, ok := s.Lookup(k)
		at := slices.IndexFunc(l.list, func(e *modelEntry) bool {
			return slices.ContainsFunc(e.aliases, func(a modelAlias) bool {
				basis, ok := s.Basis(k, e.id)
				return a.key == k && ok && a.basis == basis
			})
		})
		if alias != (at >= 0) || alias && e.ID != l.list[at].id || ok != alias && l.byKey(k) == nil {
			t.Fatalf("key %d: alias %v of %+v", i, alias, e)
		}
	}
	if st := s.Stats(); st.Entries != len(l.list) || st.Aliases != aliases || st.Bytes != bytes || st.Faults != 0 {
		t.Fatalf("%+v, want %d entries, %d aliases, %d bytes", st, len(l.list), aliases, bytes)
	}
}

// TestConflict: the later of two entries under one key stays, and the removal of the earlier one is returned.
func TestConflict(t *testing.T) {
	s := outside(t, func(o *store.Options) { o.Process = 1 })
	mine := entry("a")
	s.Put(mine, s.Tick())
	s.Alias(key("alias"), mine.ID, 0)
	theirs := entry("a")
	theirs.ID, theirs.Answer, theirs.Size = 2<<37+1, nil, 700
	evs := s.Apply(store.Event{Kind: store.EventInsert, ID: theirs.ID, Entry: theirs, At: policy.Tick{Seq: 9}})
	if len(evs) != 2 || evs[0].Kind != store.EventExpire || evs[0].ID != mine.ID || evs[0].Key != mine.Key || evs[1].Kind != store.EventInsert || evs[1].ID != theirs.ID {
		t.Errorf("%+v", evs)
	}
	if e, _, ok := s.Lookup(mine.Key); !ok || e.ID != theirs.ID || s.Stats().Entries != 1 || s.Stats().Aliases != 0 {
		t.Errorf("%+v, %+v", e, s.Stats())
	}
}

// TestSharedTicks: events of others get ticks of this process: a use and an arrival the next one, an insertion the last.
func TestSharedTicks(t *testing.T) {
	s := outside(t)
	mine := entry("a")
	s.Put(mine, s.Tick())
	far := policy.Tick{Seq: 1000, At: 1e12}
	theirs := entry("b")
	theirs.ID = 2<<37 + 1
	for i, c := range []struct {
		ev   store.Event
		want int64
	}{
		{store.Event{Kind: store.EventUse, ID: mine.ID, At: far}, 2},
		{store.Event{Kind: store.EventInsert, ID: theirs.ID, Entry: theirs, At: far}, 2},
		{store.Event{Kind: store.EventArrive, Topic: 7, At: far}, 3},
	} {
		evs := s.Apply(c.ev)
		if len(evs) != 1 || evs[0].At.Seq != c.want || evs[0].At.At >= far.At {
			t.Errorf("event %d: %+v", i, evs)
		}
	}
}

// TestEvictedElsewhere: a victim that this policy would not have chosen is no fault where others have seen the requests in another order.
func TestEvictedElsewhere(t *testing.T) {
	s := outside(t)
	for _, name := range []string{"a", "b"} {
		s.Put(entry(name), s.Tick())
	}
	s.Apply(store.Event{Kind: store.EventEvict, ID: 2})
	if st := s.Stats(); st.Faults != 0 || st.Evictions != 1 || st.Entries != 1 {
		t.Errorf("%+v", st)
	}
}

// mixed is a Backing of a shared store as a process finds it: records of entries by those that stored them, states by the one that evicts.
func mixed(t *testing.T, entries []*store.Entry, states *storetest.Memory) *storetest.Memory {
	all := states.Clone()
	for _, e := range entries {
		write := func(r store.Record) error { return all.Write(&store.Batch{Put: []store.Record{r}}) }
		if err := store.RecordsIn(uint64(e.ID), store.AppendRecord(nil, e, []float32{1, 0, 0, 0}, ""), "", write); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// TestList: a store that lacks some entries, has others and has still others with an older answer holds all of a listing after it has
// inserted them, with their importance, topics, aliases and last use, and says which are anchors.
func TestList(t *testing.T) {
	states, policyOf := &storetest.Memory{}, func() *rac.Policy { return rac.New(rac.Tuned(100)) }
	keeper := policyOf()
	from := outside(t, func(o *store.Options) {
		o.Backing, o.Evictor, o.Keeper = states, keeper, storetest.Keeps(func() bool { return true })
	})
	var entries []*store.Entry
	for i := range 10 {
		e := entry(fmt.Sprint(i))
		e.Topic = policy.TopicID(1 + i%3)
		entries = append(entries, from.Put(e, from.Tick())[0].Entry)
		for range i {
			from.Arrive(e.Topic, from.Tick())
			from.Hit(e.ID, 0, from.Tick())
		}
	}
	from.Anchor(5)
	from.Sync(t.Context())
	disk := mixed(t, entries, states)
	disk.Write(&store.Batch{Put: []store.Record{{Kind: store.KindAliases, ID: 3, Body: slices.Concat(kb("x"), kb("y"))}, {Kind: store.KindEntry, ID: 77, Body: []byte("damaged")}}})
	mine, faults := policyOf(), 0
	s := outside(t, func(o *store.Options) { o.Evictor, o.Process, o.OnFault = mine, 2, func(string, error) { faults++ } })
	old := *entries[3]
	old.Created = time.Unix(1, 0)
	s.Apply(store.Event{Kind: store.EventInsert, ID: 4, Entry: &old})
	s.Apply(store.Event{Kind: store.EventInsert, ID: 3, Entry: entries[2]})
	s.Alias(key("gone"), 3, 0)
	all, err := s.List(disk)
	if err != nil || faults != 1 {
		t.Fatal(err, faults)
	}
	var anchors []policy.ID
	for _, e := range all.Entries {
		s.Insert(e, false)
		if e.Anchor {
			anchors = append(anchors, e.ID)
		}
	}
	s.FinishList(all)
	for _, want := range entries {
		e, ok := s.Get(want.ID)
		if !ok || !e.SameAnswer(want) || e.Size != want.Size || want.ID > 4 && mine.Importance(e.ID) != keeper.Importance(e.ID) {
			t.Errorf("entry %d is %+v of importance %v, want %v", want.ID, e, mine.Importance(want.ID), keeper.Importance(want.ID))
		}
	}
	for topic := range policy.TopicID(3) {
		a, _ := mine.ExportTopic(topic + 1)
		b, _ := keeper.ExportTopic(topic + 1)
		if topic == 1 && (a.Last != b.Last || math.Abs(a.LogW-b.LogW) > 1e-6) { // of the others it had entries before
			t.Errorf("topic %d is %+v, want %+v", topic+1, a, b)
		}
	}
	x, alias, _ := s.Lookup(key("x"))
	if _, _, still := s.Lookup(key("gone")); still || !alias || x.ID != 3 || s.Stats().Aliases != 2 || !slices.Equal(anchors, []policy.ID{5}) {
		t.Errorf("aliases of %+v, %+v; anchors %v", x, s.Stats(), anchors)
	}
	if at, last := s.Tick(), from.Tick(); at.Seq < last.Seq {
		t.Errorf("request %d comes after %d", at.Seq, last.Seq)
	}
}

func kb(name string) []byte { k := key(name); return k[:] }

// TestListOfTwo: of two entries under one key, which two processes stored at once, the one that was answered last is listed and restored.
func TestListOfTwo(t *testing.T) {
	var entries []*store.Entry
	for id, second := range map[policy.ID]int64{1: 20, 9: 10} {
		e := entry("a")
		e.ID, e.Created, e.Size = id, time.Unix(second, 0), 900
		entries = append(entries, e)
	}
	disk := mixed(t, entries, &storetest.Memory{})
	s := outside(t)
	all, err := s.List(disk)
	if err != nil || len(all.Entries) != 1 || all.Entries[0].ID != 1 {
		t.Errorf("%+v, %v", all, err)
	}
	if _, ok := outside(t, func(o *store.Options) { o.Backing = disk }).Get(1); !ok {
		t.Error("the other one was restored")
	}
}

// TestAdopt: a store that adopts a secret and a process number has no entries, and makes no id of before.
func TestAdopt(t *testing.T) {
	s := outside(t, func(o *store.Options) { o.Process = 5 })
	before := s.Secret()
	e := entry("a")
	e.Topic = 5<<37 + 1
	s.Put(e, s.Tick())
	secret := [32]byte{1, 2, 3}
	if evs := s.Adopt(secret, 9); len(evs) != 1 || evs[0].Kind != store.EventPurge || evs[0].ID != e.ID {
		t.Errorf("%+v", evs)
	}
	after := entry("a")
	s.Put(after, s.Tick())
	if s.Secret() != secret || before == secret || after.ID != 9<<37+1 || s.MaxTopic() != 9<<37 || s.Stats().Entries != 1 {
		t.Errorf("secret %x, id %d, topic %d, %+v", s.Secret(), after.ID, s.MaxTopic(), s.Stats())
	}
	given := outside(t, func(o *store.Options) { o.Secret = secret })
	if given.Secret() != secret {
		t.Error("the secret that was given is not taken")
	}
}
