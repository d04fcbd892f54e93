package store_test

import (
	"bytes"
	"context"
	"errors"
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

// outside opens a store whose answers are elsewhere.
func outside(t testing.TB, change ...func(*store.Options)) *store.Store {
	o := store.Options{Outside: true, Evictor: rac.New(rac.Tuned(100))}
	for _, f := range change {
		f(&o)
	}
	return open(t, o)
}

// TestOutsideKeepsNoAnswers: the events of a store whose answers are elsewhere have the whole entry, the store has everything but the
// answer: its size, the length of the recording, and that it is the same.
func TestOutsideKeepsNoAnswers(t *testing.T) {
	s, inside := outside(t), open(t, store.Options{})
	for _, answer := range [][]byte{[]byte("short"), bytes.Repeat([]byte("long "), 4000)} {
		e, same := entry("a"), entry("a")
		e.Answer, same.Answer = answer, answer
		whole := s.Put(e, s.Tick())[0].Entry
		inside.Put(same, inside.Tick())
		if got, err := whole.Recording(); err != nil || !bytes.Equal(got, answer) {
			t.Errorf("the event has %d bytes of %d, %v", len(got), len(answer), err)
		}
		got, ok := s.Get(e.ID)
		if !ok || got.Answer != nil || got.RecordingSize() != len(answer) || got.Size != same.Size || !got.Same(whole) {
			t.Errorf("%d bytes, recording of %d, size %d of %d", len(got.Answer), got.RecordingSize(), got.Size, same.Size)
		}
		if _, err := got.Recording(); !errors.Is(err, store.ErrNoAnswer) {
			t.Errorf("its recording: %v", err)
		}
		with := got.WithAnswer(whole)
		if again, err := with.Recording(); err != nil || !bytes.Equal(again, answer) || !with.Same(got) || got.Answer != nil {
			t.Errorf("with its answer: %d bytes, %v", len(again), err)
		}
	}
	if a, b := s.Stats().Bytes, inside.Stats().Bytes; a != b {
		t.Errorf("%d bytes count, with the answers %d", a, b)
	}
}

// TestOutsideBytes: of the memory of this process counts what the entries take without their answers, whatever happens to them.
func TestOutsideBytes(t *testing.T) {
	s := outside(t)
	put := func(name, prompt string, vector []float32, answer int) *store.Entry {
		e := entry(name)
		e.Prompt, e.Vector, e.Answer = prompt, vector, bytes.Repeat([]byte{'a'}, answer)
		s.Put(e, s.Tick())
		return e
	}
	without := func(es ...*store.Entry) (sum int64) {
		for _, e := range es {
			sum += (&store.Entry{Prompt: e.Prompt, Labels: e.Labels}).Footprint(len(e.Vector))
		}
		return sum
	}
	a, b := put("a", "", nil, 100), put("b", "a prompt", []float32{1, 0}, 5000)
	if got, want := s.Bytes(), without(a, b); got != want || s.Stats().Bytes <= want {
		t.Errorf("%d bytes in memory of %d, want %d", got, s.Stats().Bytes, want)
	}
	b = put("b", "another prompt, which is longer", []float32{0, 1}, 10)
	alias := store.Key{9}
	s.Alias(alias, b.ID, 0)
	if got, most := s.Bytes()-without(a, b), s.Stats().Bytes; got <= 0 || got > 1024 || s.Bytes() >= most {
		t.Errorf("an alias takes %d bytes", got)
	}
	s.Remove(policy.Purged, a.ID, b.ID)
	if got := s.Bytes(); got != 0 {
		t.Errorf("%d bytes without an entry", got)
	}
}

// kindsOf counts the records of a backing.
func kindsOf(disk *storetest.Memory) string {
	counts := ""
	for _, k := range store.Kinds() {
		counts += fmt.Sprint(disk.Count(k), " ")
	}
	return counts
}

// TestOutsideWritesOnlyThePolicy: the backing of a store whose answers are elsewhere gets the state of entries, topics and counters, from
// the keeper alone, and of removals that of the state.
func TestOutsideWritesOnlyThePolicy(t *testing.T) {
	disk, keeper := &crammed{}, false
	s := outside(t, func(o *store.Options) {
		o.Backing, o.FlushEvery, o.Keeper, o.OnFault = disk, time.Hour, storetest.Keeps(func() bool { return keeper }), func(string, error) {}
	})
	put := func(name string) policy.ID {
		e := entry(name)
		s.Put(e, s.Tick())
		return e.ID
	}
	sync := func(want string) {
		t.Helper()
		if err := s.Sync(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got := kindsOf(&disk.Memory); got != want {
			t.Errorf("records of each kind: %s, want %s", got, want)
		}
		if st := s.Stats(); st.Dirty != 0 {
			t.Errorf("%d are dirty", st.Dirty)
		}
	}
	put("a")
	sync("0 0 0 0 0 0 0 0 0 0 ")
	keeper = true
	b := put("b")
	s.Alias(key("alias"), b, 0)
	sync("0 0 1 0 0 0 1 1 0 0 ")
	put("c")
	s.Remove(policy.Purged, put("d"), b)
	sync("0 0 1 0 0 0 1 1 0 0 ")
	if slices.ContainsFunc(disk.batches, func(b store.Batch) bool { return len(b.Evicted) > 0 || b.Purged }) {
		t.Errorf("removals of entries in %+v", disk.batches)
	}
	disk.Fail(errDisk)
	for _, change := range []func(){func() { put("e") }, func() { s.Remove(policy.Expired, 3) }} {
		if change(); !errors.Is(s.Sync(context.Background()), store.ErrPartial) {
			t.Error("what cannot be written is not said to be state alone")
		}
	}
	keeper = false
	sync("0 0 1 0 0 0 1 1 0 0 ")
}

// TestOutsideNeverBehind: the entries do not wait for the backing, so it keeps none from being stored.
func TestOutsideNeverBehind(t *testing.T) {
	now, disk := time.Unix(1000, 0), &storetest.Memory{}
	disk.Fail(errDisk)
	s := outside(t, func(o *store.Options) {
		o.Backing, o.MaxUnwritten, o.Keeper = disk, time.Second, storetest.Keeps(func() bool { return true })
		o.Now, o.OnFault = func() time.Time { return now }, func(string, error) {}
	})
	s.Put(entry("a"), s.Tick())
	now = now.Add(time.Hour)
	s.Sync(context.Background())
	if s.Behind() {
		t.Error("behind")
	}
}

// TestRecordWithoutAnswer: an entry whose record has no answer is restored with its size and the length of its recording.
func TestRecordWithoutAnswer(t *testing.T) {
	from, disk := open(t, store.Options{Backing: &storetest.Memory{}}), &storetest.Memory{}
	e := entry("a")
	e.Answer = bytes.Repeat([]byte("long "), 4000)
	whole := from.Put(e, from.Tick())[0].Entry
	write := func(r store.Record) error { return disk.Write(&store.Batch{Put: []store.Record{r}}) }
	if err := store.RecordsIn(uint64(e.ID), store.AppendRecord(nil, whole, e.Vector, ""), "", write); err != nil {
		t.Fatal(err)
	}
	s := outside(t, func(o *store.Options) { o.Backing = disk })
	got, ok := s.Get(e.ID)
	if !ok || got.Size != whole.Size || got.RecordingSize() != len(e.Answer) || s.Stats().Bytes != from.Bytes() || s.Bytes() >= from.Bytes() || got.Prompt != e.Prompt {
		t.Errorf("restored %+v of %d bytes, want %+v of %d", got, s.Bytes(), whole, from.Bytes())
	}
}

// TestOutsideLeavesNoState: whatever fails meanwhile, the backing has the state of resident entries alone once it was written, also where
// an entry left and came back under its id.
func TestOutsideLeavesNoState(t *testing.T) {
	for seed := range uint64(10) {
		rng, disk := rand.New(rand.NewPCG(seed, 9)), &storetest.Memory{}
		s := outside(t, func(o *store.Options) {
			o.Backing, o.FlushEvery, o.Keeper, o.OnFault = disk, time.Hour, storetest.Keeps(func() bool { return true }), func(string, error) {}
		})
		for range 500 {
			id := policy.ID(1 + rng.IntN(20))
			switch rng.IntN(6) {
			case 0, 1:
				e := entry(fmt.Sprint(id))
				e.ID, e.Size, e.Answer = id, 900, nil
				s.Apply(store.Event{Kind: store.EventInsert, ID: id, Entry: e})
			case 2:
				s.Apply(store.Event{Kind: store.EventEvict, ID: id})
			case 3:
				s.Hit(id, 0, s.Tick())
			case 4:
				disk.Fail([]error{nil, errDisk}[rng.IntN(2)])
			case 5:
				s.Sync(t.Context())
			}
		}
		disk.Fail(nil)
		if err := s.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		states := map[policy.ID]bool{}
		disk.Load(func(r store.Record) error {
			if r.Kind == store.KindState {
				states[policy.ID(r.ID)] = true
			}
			return nil
		})
		for e := range s.All() {
			if !states[e.ID] {
				t.Errorf("entry %d has no state", e.ID)
			}
			delete(states, e.ID)
		}
		if len(states) > 0 {
			t.Errorf("states of %v, which are gone", states)
		}
	}
}
