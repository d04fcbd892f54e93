package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"reprise/policy"
	"reprise/policy/classic"
	"reprise/policy/rac"
	"reprise/policy/registry"
	"reprise/store"
	"reprise/store/storetest"
)

var errDisk = errors.New("no space left")

// TestWriteBehind: nothing is written on the way of a request, everything half a second later, and nothing when idle.
func TestWriteBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &storetest.Memory{}
		s := open(t, store.Options{Backing: disk})
		time.Sleep(1100 * time.Millisecond) // between two ticks of the flusher
		idle := disk.Writes()
		s.Put(entry("a"), s.Tick())
		if disk.Count(store.KindEntry) != 0 || s.Stats().Dirty == 0 {
			t.Error("written at once")
		}
		time.Sleep(501 * time.Millisecond)
		synctest.Wait()
		if disk.Count(store.KindEntry) != 1 || disk.Count(store.KindVector) != 1 || s.Stats().Dirty != 0 {
			t.Errorf("after half a second: %+v", s.Stats())
		}
		time.Sleep(time.Minute)
		if n := disk.Writes() - idle; n != 1 {
			t.Errorf("%d writes for one change", n)
		}
		s.Close()
	})
}

// TestDiskFull: a backing that fails is reported once an interval, costs nothing else, and gets every change afterwards.
func TestDiskFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk, faults := &storetest.Memory{}, 0
		rac := rac.New(rac.Tuned(50))
		s := open(t, store.Options{Backing: disk, Evictor: rac, Limit: policy.Limit{Entries: 50}, OnFault: func(step string, err error) {
			if faults++; step != "write" || !errors.Is(err, errDisk) {
				t.Errorf("fault %q %v", step, err)
			}
		}})
		first := entry("first")
		s.Put(first, s.Tick())
		time.Sleep(time.Second)
		disk.Fail(errDisk)
		for i := range 5000 {
			e := entry(fmt.Sprint(i))
			e.Topic = policy.TopicID(i + 2)
			s.Put(e, s.Tick())
			time.Sleep(time.Millisecond)
		}
		synctest.Wait()
		if faults < 9 || faults > 11 {
			t.Errorf("%d faults reported in 5 s", faults)
		}
		if n := s.Stats().Dirty; n > 1000 {
			t.Errorf("%d changes are dirty with 50 entries", n)
		}
		disk.Fail(nil)
		time.Sleep(time.Second)
		synctest.Wait()
		if st := s.Stats(); st.Dirty != 0 || disk.Count(store.KindEntry) != 50 || disk.Count(store.KindState) != 50 || disk.Count(store.KindTopic) != 100 {
			t.Errorf("after the disk is well: %+v, %d entries, %d topics", st, disk.Count(store.KindEntry), disk.Count(store.KindTopic))
		}
		s.Close()
	})
}

// TestKilled: what a kill leaves behind is what was there half a second ago, and no id is given out twice.
func TestKilled(t *testing.T) {
	disk := &storetest.Memory{}
	s := open(t, store.Options{Backing: disk, FlushEvery: time.Hour})
	s.Put(entry("a"), s.Tick())
	s.Sync(context.Background())
	lost := entry("b")
	s.Put(lost, s.Tick())
	r := open(t, store.Options{Backing: disk.Clone()})
	if _, _, ok := r.Lookup(key("a")); !ok || r.Stats().Entries != 1 {
		t.Errorf("%+v", r.Stats())
	}
	again := entry("c")
	if r.Put(again, r.Tick()); again.ID <= lost.ID {
		t.Errorf("id %d after %d was given out", again.ID, lost.ID)
	}
}

// readOnly is a backing that cannot be written.
type readOnly struct{ storetest.Memory }

func (b *readOnly) Load(fn func(store.Record) error) (store.Report, error) {
	r, err := b.Memory.Load(fn)
	r.ReadOnly = errDisk
	return r, err
}

func TestReadOnly(t *testing.T) {
	var faults []error
	b := &readOnly{}
	s := open(t, store.Options{Backing: b, OnFault: func(_ string, err error) { faults = append(faults, err) }})
	s.Put(entry("a"), s.Tick())
	if err := s.Sync(context.Background()); !errors.Is(err, store.ErrReadOnly) || !errors.Is(err, errDisk) || b.Writes() != 0 || s.Stats().Dirty != 0 {
		t.Errorf("%v, %d writes", err, b.Writes())
	}
	if len(faults) != 1 || !errors.Is(faults[0], store.ErrReadOnly) || !errors.Is(faults[0], errDisk) {
		t.Errorf("faults %v", faults)
	}
}

// TestDamagedBodies: a body that does not decode is left out, reported, and counted.
func TestDamagedBodies(t *testing.T) {
	disk := &storetest.Memory{}
	var b store.Batch
	for _, k := range append(store.Kinds(), 200) {
		if k != store.KindFormat {
			b.Put = append(b.Put, store.Record{Kind: k, ID: 7, Body: []byte("junk!")})
		}
	}
	disk.Write(&b)
	var reported error
	s := open(t, store.Options{Backing: disk, Space: "x", OnFault: func(_ string, err error) { reported = err }})
	// Only the policy can judge what it has learned, and only the cache what it has counted.
	if st := s.Stats(); st.Entries != 0 || st.Report.Skipped != len(b.Put)-2 || !errors.Is(reported, store.ErrDamaged) {
		t.Errorf("%+v, %v", st, reported)
	}
}

// TestSpaceKnownLater: a store whose embedder has not answered takes over the space that its backing names, if it is of the same embedder, and its
// vectors with it. Otherwise it has all entries, writes no space, and takes vectors after SetSpace, which a restart finds.
func TestSpaceKnownLater(t *testing.T) {
	for _, same := range []bool{true, false} {
		disk := &storetest.Memory{}
		s := open(t, store.Options{Backing: disk, Space: "x", Dim: 2})
		s.Put(entry("a"), s.Tick())
		s.Close()

		var asked []string
		late := store.Options{Backing: disk.Reopen(), Dim: 100, Former: storetest.Spaces(func(space string) (string, int) {
			if asked = append(asked, space); same {
				return "x", 2
			}
			return "", 0
		})}
		s = open(t, late)
		if !slices.Equal(asked, []string{"x"}) || (s.MissingVectors() == 0) != same || s.Stats().Entries != 1 {
			t.Errorf("same %v: asked for %q, %d lack a vector", same, asked, s.MissingVectors())
		}
		if same {
			continue
		}
		b := entry("b")
		b.Vector = nil
		s.Put(b, s.Tick())
		s.Close()

		asked = nil
		late.Backing = disk.Reopen()
		s = open(t, late)
		if !slices.Equal(asked, []string{"x"}) || s.MissingVectors() != 2 {
			t.Errorf("after a restart without an answer: asked for %q, %d lack a vector", asked, s.MissingVectors())
		}
		s.SetSpace("y", 2)
		for e := range s.Lacking() {
			s.SetVector(e.ID, []float32{0, 1})
		}
		s.Close()
		if s = open(t, store.Options{Backing: disk.Reopen(), Space: "y", Dim: 2}); s.MissingVectors() != 0 {
			t.Errorf("%d lack a vector after a restart in their space", s.MissingVectors())
		}
		s.Close()
		asked = nil
		late.Backing = disk.Reopen()
		if open(t, late); !slices.Equal(asked, []string{"y"}) {
			t.Errorf("the backing names %q", asked)
		}
	}
}

// TestClockBackwards: the time of a Tick stands still until the clock has caught up, also over a restart.
func TestClockBackwards(t *testing.T) {
	var now atomic.Int64
	now.Store(1_000_000)
	disk := &storetest.Memory{}
	o := store.Options{Backing: disk, Now: func() time.Time { return time.Unix(now.Load(), 0) }}
	s := open(t, o)
	last := s.Tick()
	check := func(s *store.Store) {
		t.Helper()
		at := s.Tick()
		if at.Seq != last.Seq+1 || at.At < last.At {
			t.Errorf("tick %+v after %+v", at, last)
		}
		last = at
	}
	for range 100 {
		now.Add(rand.Int64N(2000) - 1200)
		check(s)
		e := entry("a")
		e.Expires = time.Unix(now.Load()+10, 0)
		s.Put(e, last)
		if _, _, ok := s.Lookup(key("a")); !ok {
			t.Fatal("entry is lost")
		}
	}
	s.Close()
	now.Add(-500_000)
	o.Backing = disk.Reopen()
	r := open(t, o)
	check(r)
	if _, _, ok := r.Lookup(key("a")); !ok {
		t.Error("entry is lost over the restart")
	}
}

// TestExpiry: entries past their time are still looked up, are swept by and by, and are dropped by a restart.
func TestExpiry(t *testing.T) {
	now := time.Unix(1000, 0)
	disk := &storetest.Memory{}
	o := store.Options{Backing: disk, Now: func() time.Time { return now }}
	s := open(t, o)
	for i, e := range []*store.Entry{entry("fresh"), entry("stale"), entry("over")} {
		e.Created, e.Expires = now, now.Add(time.Hour)
		if i > 0 {
			e.Expires = now.Add(time.Minute)
		}
		if i == 1 {
			e.StaleUntil = now.Add(time.Hour)
		}
		s.Put(e, s.Tick())
	}
	now = now.Add(2 * time.Minute)
	for name, want := range map[string][2]bool{"fresh": {true, true}, "stale": {false, true}, "over": {false, false}} {
		if e, _, ok := s.Lookup(key(name)); !ok || e.Fresh(now) != want[0] || e.Usable(now) != want[1] {
			t.Errorf("%s: found %v, want fresh and usable %v", name, ok, want)
		}
	}
	copied := open(t, store.Options{Backing: func() store.Backing { s.Sync(context.Background()); return disk.Clone() }(), Now: o.Now})
	if copied.Stats().Entries != 2 {
		t.Errorf("%d entries after a restart, want 2", copied.Stats().Entries)
	}
	var swept []policy.ID
	for range 100 {
		swept = append(swept, gone(s.Put(entry("other"), s.Tick()))...)
	}
	if !slices.Contains(swept, 3) || slices.Contains(swept, 1) || slices.Contains(swept, 2) {
		t.Errorf("swept %v, want 3 among them and neither 1 nor 2", swept)
	}
}

// faulty is an evictor that panics on command.
type faulty struct {
	policy.Evictor
	fail string
}

func (f *faulty) Insert(it policy.Item, at policy.Tick) { f.panic("insert"); f.Evictor.Insert(it, at) }
func (f *faulty) Hit(id policy.ID, at policy.Tick)      { f.panic("hit"); f.Evictor.Hit(id, at) }
func (f *faulty) Remove(id policy.ID, why policy.Reason) {
	f.panic("remove")
	f.Evictor.Remove(id, why)
}
func (f *faulty) Victim() (policy.ID, bool) { f.panic("victim"); return f.Evictor.Victim() }

func (f *faulty) panic(in string) {
	if f.fail == in {
		panic("injected in " + in)
	}
}

func TestPolicyPanics(t *testing.T) {
	for _, in := range []string{"insert", "hit", "remove", "victim"} {
		f, reported := &faulty{Evictor: classic.NewLRU()}, 0
		s := open(t, store.Options{Evictor: f, Limit: policy.Limit{Entries: 5}, OnFault: func(step string, err error) {
			if reported++; step != "policy" || !strings.Contains(err.Error(), "injected in "+in) {
				t.Errorf("fault %q %v", step, err)
			}
		}})
		alive := map[policy.ID]bool{}
		do := func(n int) {
			for i := range n {
				e := entry(fmt.Sprint(i))
				evs := s.Put(e, s.Tick())
				s.Hit(e.ID, 0, s.Tick())
				alive[e.ID] = true
				if i%3 == 0 {
					evs = append(evs, s.Remove(policy.Purged, e.ID)...)
				}
				for _, id := range gone(evs) {
					delete(alive, id)
				}
			}
		}
		do(10)
		f.fail = in
		do(10)
		if f.fail = ""; reported == 0 {
			t.Errorf("%s: nothing reported", in)
		}
		do(20)
		if n := len(slices.Collect(s.All())); n != s.Stats().Entries || n != len(alive) || n > 5 {
			t.Errorf("%s: %d entries, the ledger has %d, the events left %d", in, n, s.Stats().Entries, len(alive))
		}
	}
}

// TestPolicyPanicsInExport: a policy whose export panics costs its state, and neither an entry nor the process.
func TestPolicyPanicsInExport(t *testing.T) {
	disk := &storetest.Memory{}
	s := open(t, store.Options{Backing: disk, Evictor: mute{rac.New(rac.Tuned(10))}, OnFault: func(string, error) {}})
	s.Put(entry("a"), s.Tick())
	if err := s.Sync(context.Background()); err != nil || disk.Count(store.KindEntry) != 1 {
		t.Errorf("%d entries written, %v", disk.Count(store.KindEntry), err)
	}
	s.Close()
	r := open(t, store.Options{Backing: disk.Reopen(), Evictor: rac.New(rac.Tuned(10))})
	if _, _, ok := r.Lookup(key("a")); !ok {
		t.Error("the entry is gone after a restart")
	}
}

// mute is a policy whose exports panic.
type mute struct{ *rac.Policy }

func (mute) ExportEntry(policy.ID) (policy.EntryState, bool)      { panic("injected in export") }
func (mute) ExportTopic(policy.TopicID) (policy.TopicState, bool) { panic("injected in export") }

// TestPolicyNamesNoVictim: an evictor that keeps everything costs the newcomers their place, and shows.
func TestPolicyNamesNoVictim(t *testing.T) {
	s := open(t, store.Options{Evictor: nameless{classic.NewLRU(), 0}, Limit: policy.Limit{Entries: 2}})
	for i := range 5 {
		s.Put(entry(fmt.Sprint(i)), s.Tick())
	}
	if st := s.Stats(); st.Entries != 2 || st.Faults != 3 {
		t.Errorf("%d entries, %d faults; want 2 and 3", st.Entries, st.Faults)
	}
}

// nameless is a policy that names no victim, or one that is not resident.
type nameless struct {
	policy.Evictor
	victim policy.ID
}

func (m nameless) Victim() (policy.ID, bool) { return m.victim, m.victim != 0 }

func TestCapacityShrinks(t *testing.T) {
	disk := &storetest.Memory{}
	s := open(t, store.Options{Backing: disk})
	for i := range 20 {
		s.Put(entry(fmt.Sprint(i)), s.Tick())
	}
	s.Hit(2, 0, s.Tick())
	s.Close()
	r := open(t, store.Options{Backing: disk.Reopen(), Limit: policy.Limit{Entries: 3}})
	var ids []policy.ID
	for e := range r.All() {
		ids = append(ids, e.ID)
	}
	r.Close()
	if want := []policy.ID{2, 19, 20}; !slices.Equal(ids, want) || disk.Count(store.KindEntry) != 3 {
		t.Errorf("entries %v, want %v; %d on the disk", ids, want, disk.Count(store.KindEntry))
	}
}

func TestPacking(t *testing.T) {
	noise := make([]byte, 100<<10)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	disk := &storetest.Memory{}
	s := open(t, store.Options{Backing: disk})
	for _, c := range []struct {
		name   string
		answer []byte
		packed bool
	}{
		{"none", nil, false}, {"small", bytes.Repeat([]byte("a"), 4096), false}, {"large", bytes.Repeat([]byte("ab"), 50<<10), true}, {"noise", noise, false},
	} {
		e := entry(c.name)
		e.Answer = c.answer
		s.Put(e, s.Tick())
		s.Sync(context.Background())
		r := open(t, store.Options{Backing: disk.Clone()})
		for _, from := range []*store.Store{s, r} {
			got, _, _ := from.Lookup(e.Key)
			b, err := got.Recording()
			if err != nil || !bytes.Equal(b, c.answer) || (len(got.Answer) < len(c.answer)) != c.packed {
				t.Errorf("%s: %d bytes kept of %d, %v", c.name, len(got.Answer), len(c.answer), err)
			}
		}
	}
}

// TestConcurrent lets everything happen at once, writes included, and then finds on the disk what is in memory.
func TestConcurrent(t *testing.T) {
	for _, spec := range []string{"rac", "rac+", "rac+:sample=30"} {
		t.Run(spec, func(t *testing.T) { testConcurrent(t, spec) })
	}
}

func testConcurrent(t *testing.T, spec string) {
	evictor := func() policy.Evictor {
		e, err := registry.New(spec, policy.Options{Capacity: 100})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	disk := &storetest.Memory{}
	o := store.Options{Backing: disk, Limit: policy.Limit{Entries: 100}, FlushEvery: time.Millisecond, Evictor: evictor()}
	s := open(t, o)
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(worker), 0))
			for i := range 2000 {
				at := s.Tick()
				name := fmt.Sprint(rng.IntN(300))
				e, _, ok := s.Lookup(key(name))
				switch {
				case !ok:
					s.Arrive(1, at)
					s.Put(entry(name), at)
				case rng.IntN(20) == 0:
					s.Remove(policy.Purged, e.ID)
				default:
					s.Hit(e.ID, policy.ID(rng.IntN(i+1)), at)
					s.Alias(key("alias of "+name), e.ID, 0)
				}
				if ok {
					s.Ranks().Importance(e.ID)
				}
				if i%200 == 0 {
					s.Sync(context.Background())
					s.Stats()
					for range s.All() {
					}
				}
			}
		})
	}
	wg.Wait()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	o.Backing, o.Evictor = disk.Reopen(), evictor()
	r := open(t, o)
	for e := range s.All() {
		if got, ok := r.Get(e.ID); !ok || got.Key != e.Key {
			t.Errorf("entry %d is lost", e.ID)
		}
	}
	if a, b := s.Stats(), r.Stats(); a.Entries != b.Entries || a.Aliases != b.Aliases || a.Bytes != b.Bytes {
		t.Errorf("%+v became %+v", a, b)
	}
	for _, k := range []store.Kind{store.KindEntry, store.KindVector, store.KindState} {
		if n := disk.Count(k); n != s.Stats().Entries {
			t.Errorf("%d records of kind %d for %d entries", n, k, s.Stats().Entries)
		}
	}
}
