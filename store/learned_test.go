package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"reprise/policy"
	"reprise/policy/registry"
	"reprise/store"
	"reprise/store/storetest"
)

const panelCapacity = 500

// panel is rac+ with shadows of full size, or with small ones.
func panel(t *testing.T, spec string) policy.Evictor {
	t.Helper()
	e, err := registry.New(spec, policy.Options{Capacity: panelCapacity, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func openPanel(t *testing.T, spec string, o store.Options) *store.Store {
	t.Helper()
	o.Evictor, o.Limit = panel(t, spec), policy.Limit{Entries: panelCapacity}
	return open(t, o)
}

// drawn is a trace of keys, of popular topics with a few popular members each, and of scans through what comes once.
func drawn(seed uint64, n int) []int {
	rng := rand.New(rand.NewPCG(seed, 5))
	keys := make([]int, n)
	for i := range keys {
		topic := min(rng.IntN(300), rng.IntN(300), rng.IntN(300), rng.IntN(300))
		keys[i] = topic*10 + min(rng.IntN(10), rng.IntN(10))
		if i%400 < 100 {
			keys[i] = 100_000 + 1000*int(seed) + i
		}
	}
	return keys
}

// play asks for keys and returns the share that was there.
func play(s *store.Store, keys []int) float64 {
	hits := 0
	for _, k := range keys {
		at := s.Tick()
		if e, _, ok := s.Lookup(key(fmt.Sprint(k))); ok {
			s.Hit(e.ID, 0, at)
			hits++
			continue
		}
		e := entry(fmt.Sprint(k))
		e.Topic, e.Turn = policy.TopicID(1+k/10), int32(k%10)
		s.Arrive(e.Topic, at)
		s.Put(e, at)
	}
	return float64(hits) / float64(len(keys))
}

// TestLearned: a restart costs neither what the panel has learned nor hits. The refill of the shadows by the restart is
// no request, so figures are as they were.
func TestLearned(t *testing.T) {
	for _, spec := range []string{"rac+", "rac+:sample=125"} {
		disk := &storetest.Memory{}
		s, whole := openPanel(t, spec, store.Options{Backing: disk}), openPanel(t, spec, store.Options{})
		play(s, drawn(1, 20_000))
		play(whole, drawn(1, 20_000))
		before := s.Stats()
		s.Close()
		r := openPanel(t, spec, store.Options{Backing: disk.Reopen()})
		after := r.Stats()
		if before.Entries != panelCapacity || after.Entries != before.Entries || disk.Count(store.KindLearned) != 1 {
			t.Fatalf("%s: %d entries became %d", spec, before.Entries, after.Entries)
		}
		for i, x := range after.Panel.Experts {
			was := before.Panel.Experts[i]
			if was.HitRatio < 0.05 || x.Name != was.Name || x.HitRatio != was.HitRatio {
				t.Errorf("%s: %+v became %+v", spec, was, x)
			}
		}
		if after.Panel.Leader != before.Panel.Leader {
			t.Errorf("%s: expert %d led, and %d does after the restart", spec, before.Panel.Leader, after.Panel.Leader)
		}
		got, want := play(r, drawn(2, 20_000)), play(whole, drawn(2, 20_000))
		if got < want-0.01 || got > want+0.01 {
			t.Errorf("%s: hit ratio %.4f after a restart, %.4f without", spec, got, want)
		}
	}
}

// TestLearnedNothing: where there is nothing to bring back, the refill does not pass for requests either.
func TestLearnedNothing(t *testing.T) {
	disk := &storetest.Memory{}
	s := openPanel(t, "rac", store.Options{Backing: disk})
	play(s, drawn(1, 4000))
	s.Close()
	r := openPanel(t, "rac+", store.Options{Backing: disk.Reopen()})
	keys := drawn(2, 300)[100:]
	got := play(r, keys)
	for _, x := range r.Stats().Panel.Experts {
		if x.Entries == 0 || got == 0 || x.HitRatio < got/2 {
			t.Errorf("%s has %d entries and would have hit %.2f, the cache did %.2f", x.Name, x.Entries, x.HitRatio, got)
		}
	}
}

// TestLearnedRefused: a snapshot that the policy cannot take is reported, costs no entry, and is replaced.
func TestLearnedRefused(t *testing.T) {
	disk := &storetest.Memory{}
	s := openPanel(t, "rac+", store.Options{Backing: disk})
	play(s, drawn(1, 4000))
	s.Close()
	m := disk.Clone()
	m.Write(&store.Batch{Put: []store.Record{{Kind: store.KindLearned, Body: []byte("junk")}}})
	faults := 0
	r := openPanel(t, "rac+", store.Options{Backing: m, OnFault: func(step string, err error) {
		if faults++; step != "policy" || !errors.Is(err, policy.ErrSnapshot) {
			t.Errorf("fault in %s: %v", step, err)
		}
	}})
	st := r.Stats()
	if faults != 1 || st.Faults != 1 || st.Entries != panelCapacity || st.Report.Skipped != 0 {
		t.Errorf("reported %d times, %+v", faults, st)
	}
	blank := panel(t, "rac+").(policy.Panel).Stats()
	for i, x := range st.Panel.Experts {
		if x.HitRatio != 0 {
			t.Errorf("%+v, want it as %+v", x, blank.Experts[i])
		}
	}
	if st.Panel.Leader != blank.Leader {
		t.Errorf("expert %d leads, want %d", st.Panel.Leader, blank.Leader)
	}
	r.Close()
	openPanel(t, "rac+", store.Options{Backing: m.Reopen()}) // fails of any fault
}

// TestLearnedKept: a policy that learns nothing leaves the record to the one that does.
func TestLearnedKept(t *testing.T) {
	disk := &storetest.Memory{}
	s := openPanel(t, "rac+", store.Options{Backing: disk})
	play(s, drawn(1, 4000))
	before := s.Stats().Panel.Experts
	s.Close()
	plain := openPanel(t, "lru", store.Options{Backing: disk.Reopen()})
	play(plain, drawn(2, 1000))
	if plain.Stats().Panel != nil {
		t.Error("lru has a panel")
	}
	plain.Close()
	r := openPanel(t, "rac+", store.Options{Backing: disk.Reopen()})
	if after := r.Stats().Panel.Experts; after[0].HitRatio != before[0].HitRatio {
		t.Errorf("%+v became %+v", before, after)
	}
}

// TestLearnedEvery: what changes with every request is written every half-minute, on demand and at the end.
func TestLearnedEvery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &recorder{}
		s := openPanel(t, "rac+", store.Options{Backing: disk, OnFault: func(string, error) {}})
		for i := range 100 {
			play(s, []int{i % 10})
			time.Sleep(time.Second)
		}
		synctest.Wait()
		if disk.n.Load() < 3 || disk.n.Load() > 5 {
			t.Errorf("written %d times in 100 s", disk.n.Load())
		}
		time.Sleep(time.Minute)
		idle := disk.n.Load()
		time.Sleep(10 * time.Minute)
		if disk.n.Load() != idle {
			t.Errorf("written %d times while nothing changed", disk.n.Load()-idle)
		}
		play(s, []int{1})
		s.Sync(context.Background())
		if disk.n.Load() != idle+1 {
			t.Errorf("written %d times on demand", disk.n.Load()-idle)
		}
		play(s, []int{1})
		disk.Fail(errDisk)
		if err := s.Sync(context.Background()); !errors.Is(err, errDisk) {
			t.Error(err)
		}
		disk.Fail(nil)
		time.Sleep(time.Second)
		synctest.Wait()
		if disk.n.Load() != idle+3 { // the failed write, and the next that is due at once
			t.Errorf("written %d times after a fault", disk.n.Load()-idle)
		}
		play(s, []int{1})
		s.Close()
		if disk.n.Load() != idle+4 {
			t.Errorf("written %d times at the end", disk.n.Load()-idle)
		}
	})
}

// recorder counts the records of what the policy has learned that it is given.
type recorder struct {
	storetest.Memory
	n atomic.Int64 // a goroutine of the store writes
}

func (r *recorder) Write(b *store.Batch) error {
	if slices.ContainsFunc(b.Put, func(r store.Record) bool { return r.Kind == store.KindLearned }) {
		r.n.Add(1)
	}
	return r.Memory.Write(b)
}
