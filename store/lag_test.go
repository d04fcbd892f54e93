package store_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"reprise/policy"
	"reprise/store"
	"reprise/store/storetest"
)

// TestUnwritten: the age of the oldest change that the backing lacks, of a disk that fails and of one that takes its time.
func TestUnwritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &slow{release: make(chan struct{})}
		s := open(t, store.Options{Backing: disk, MaxUnwritten: time.Minute, OnFault: func(string, error) {}})
		expect := func(when string, least, most time.Duration, behind bool) {
			t.Helper()
			synctest.Wait()
			if got := s.Stats().Unwritten; got < least || got > most || s.Behind() != behind {
				t.Errorf("%s: unwritten for %v, behind %v; want %v to %v, %v", when, got, s.Behind(), least, most, behind)
			}
		}
		time.Sleep(time.Hour)
		expect("idle", 0, 0, false)
		s.Put(entry("a"), s.Tick())
		time.Sleep(time.Second)
		expect("written", 0, 0, false)
		disk.Fail(errDisk)
		s.Put(entry("b"), s.Tick())
		time.Sleep(50 * time.Second)
		s.Put(entry("c"), s.Tick())
		expect("full disk", 50*time.Second, 50*time.Second, false)
		time.Sleep(11 * time.Second)
		expect("full disk", 61*time.Second, 61*time.Second, true)
		disk.Fail(nil)
		time.Sleep(time.Second)
		expect("with room again", 0, 0, false)
		disk.hang(true)
		s.Put(entry("d"), s.Tick())
		time.Sleep(30 * time.Second)
		s.Put(entry("e"), s.Tick())
		time.Sleep(31 * time.Second)
		expect("a write that hangs", 61*time.Second, 61*time.Second, true)
		disk.hang(false)
		time.Sleep(time.Second)
		expect("a write that goes on", 0, 0, false)
	})
}

// TestStuckVectorsAreBounded: a disk that fails does not make the vectors that wait for it fill the memory.
func TestStuckVectorsAreBounded(t *testing.T) {
	disk := &storetest.Memory{}
	s := open(t, store.Options{Backing: disk, MaxUnwritten: time.Hour, FlushEvery: time.Hour, OnFault: func(string, error) {}})
	disk.Fail(errDisk)
	vector := make([]float32, 1<<20)
	for i := range 20 {
		if behind := s.Behind(); behind != (i > 16) {
			t.Errorf("with %d vectors of 4 MiB: behind %v", i, behind)
		}
		e := entry(fmt.Sprint(i))
		e.Vector = vector
		s.Put(e, s.Tick())
		s.Sync(context.Background())
	}
	disk.Fail(nil)
	if err := s.Sync(context.Background()); err != nil || s.Behind() {
		t.Errorf("with room again: behind %v, %v", s.Behind(), err)
	}
}

// slow is a backing whose writes can be made to wait.
type slow struct {
	storetest.Memory
	mu      sync.Mutex
	waits   bool
	release chan struct{}
}

func (b *slow) hang(on bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waits = on; !on {
		close(b.release)
	}
}

func (b *slow) Write(batch *store.Batch) error {
	b.mu.Lock()
	waits := b.waits
	b.mu.Unlock()
	if waits {
		<-b.release
	}
	return b.Memory.Write(batch)
}

// batches is a backing that keeps what was written.
type batches struct {
	storetest.Memory
	all []store.Batch
}

func (b *batches) Write(batch *store.Batch) error {
	kept := *batch
	kept.Put = slices.Clone(batch.Put) // the store uses its memory again
	b.all = append(b.all, kept)
	return b.Memory.Write(batch)
}

// TestOldestFirst: what a kill could lose is written first, and of that the oldest: removals, then new entries in their order, then
// uses.
func TestOldestFirst(t *testing.T) {
	const n = 10_000
	disk := &batches{}
	s := open(t, store.Options{Backing: disk, FlushEvery: time.Hour})
	for i := range 2 * n {
		s.Put(entry(fmt.Sprint(i)), s.Tick())
		if i == n {
			s.Sync(context.Background())
			disk.all = nil
			for id := range policy.ID(n) {
				s.Hit(id+1, 0, s.Tick())
			}
		}
	}
	s.Remove(policy.Purged, n)
	s.Sync(context.Background())
	last := uint64(0)
	uses := false
	for i, b := range disk.all {
		if purges := len(b.Delete) > 0; purges != (i == 0) {
			t.Errorf("batch %d of %d: removals %v", i, len(disk.all), purges)
		}
		for _, r := range b.Put {
			uses = uses || r.Kind == store.KindState && r.ID <= n
			if r.Kind != store.KindEntry {
				continue
			}
			if r.ID <= last {
				t.Fatalf("batch %d: entry %d comes after entry %d", i, r.ID, last)
			}
			if uses && i < n/5000 {
				t.Fatalf("batch %d: uses were written before entry %d", i, r.ID)
			}
			last = r.ID
		}
	}
	if last != 2*n || !uses || len(disk.all) < 4 {
		t.Errorf("%d batches up to entry %d, uses %v", len(disk.all), last, uses)
	}
}
