package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"reprise/policy"
	"reprise/store"
	"reprise/store/storetest"
)

// crammed is a backing that has room for removals alone, and keeps the batches that it was given.
type crammed struct {
	storetest.Memory
	full      bool
	applies   bool // a batch that fails is written all the same
	forgetful bool // the record of the counters is damaged
	batches   []store.Batch
}

func (b *crammed) Load(fn func(store.Record) error) (store.Report, error) {
	b.Reopen()
	report, err := b.Memory.Load(func(r store.Record) error {
		if b.forgetful && r.Kind == store.KindCounters {
			r.Body = r.Body[:1]
		}
		return fn(r)
	})
	return report, err
}

func (b *crammed) Write(batch *store.Batch) error {
	b.batches = append(b.batches, *batch)
	if b.full && len(batch.Put) > 0 {
		if b.applies {
			b.Memory.Write(batch)
		}
		return errDisk
	}
	return b.Memory.Write(batch)
}

// TestRemovalsComeFirst: a purge is durable where the disk takes removals and no answers, and the error of Sync says so.
func TestRemovalsComeFirst(t *testing.T) {
	b := &crammed{}
	s := open(t, store.Options{Backing: b, OnFault: func(string, error) {}})
	purged := entry("a")
	s.Put(purged, s.Tick())
	s.Sync(context.Background())
	b.full = true
	s.Put(entry("b"), s.Tick())
	s.Remove(policy.Purged, purged.ID)
	if err := s.Sync(context.Background()); !errors.Is(err, store.ErrPartial) || !errors.Is(err, errDisk) {
		t.Errorf("sync: %v", err)
	}
	if n := b.Count(store.KindEntry); n != 0 {
		t.Errorf("%d entries are still in the backing", n)
	}
	if s.Stats().Dirty == 0 {
		t.Error("nothing is left to be written")
	}
}

// TestPurgeOfNothing: a purge reaches the backing where it removes nothing too, as a batch without a Put.
func TestPurgeOfNothing(t *testing.T) {
	b := &crammed{}
	s := open(t, store.Options{Backing: b})
	s.Put(entry("a"), s.Tick())
	s.Remove(policy.Purged)
	s.Remove(policy.Expired)
	if err := s.Sync(context.Background()); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, batch := range b.batches {
		if batch.Purged {
			if n++; len(batch.Put) > 0 {
				t.Error("a batch of a purge has a Put")
			}
		}
	}
	if n != 1 {
		t.Errorf("%d batches of a purge in %d", n, len(b.batches))
	}
}

// TestPurgeAfterAFailedWrite: a write that fails may have reached the file. The removal of an entry that it held is written too, and
// not regarded as that of one which the backing never had.
func TestPurgeAfterAFailedWrite(t *testing.T) {
	b := &crammed{full: true, applies: true}
	s := open(t, store.Options{Backing: b, OnFault: func(string, error) {}})
	e := entry("a")
	s.Put(e, s.Tick())
	if err := s.Sync(context.Background()); !errors.Is(err, errDisk) || b.Count(store.KindEntry) != 1 {
		t.Fatalf("sync: %v", err)
	}
	s.Remove(policy.Purged, e.ID)
	if err := s.Sync(context.Background()); !errors.Is(err, store.ErrPartial) {
		t.Errorf("sync: %v", err)
	}
	if n := b.Count(store.KindEntry); n != 0 {
		t.Errorf("%d entries are still in the backing", n)
	}
}

// TestSyncAfterClose: nothing that changes after Close is durable.
func TestSyncAfterClose(t *testing.T) {
	s := open(t, store.Options{Backing: &storetest.Memory{}})
	s.Close()
	if err := s.Sync(context.Background()); !errors.Is(err, store.ErrClosed) {
		t.Errorf("sync: %v", err)
	}
}

// TestPurgesAreCounted: the count that every purge raises continues after a restart, is not lower after one that found the data damaged, and
// a file without one begins at zero.
func TestPurgesAreCounted(t *testing.T) {
	b := &crammed{}
	open1 := func() *store.Store {
		return open(t, store.Options{Backing: b, FlushEvery: time.Hour, OnFault: func(string, error) {}})
	}
	s := open1()
	s.Put(entry("a"), s.Tick())
	s.Sync(context.Background())
	if n, durable := s.Purges(); n != 0 || !durable {
		t.Fatalf("%d purges before the first, durable: %v", n, durable)
	}
	s.Remove(policy.Purged)
	if n, durable := s.Purges(); n != 1 || durable {
		t.Fatalf("%d purges after the first, durable before Sync: %v", n, durable)
	}
	if err := s.Sync(context.Background()); err != nil {
		t.Fatal(err)
	}
	if n, durable := s.Purges(); n != 1 || !durable {
		t.Fatalf("%d purges after Sync, durable: %v", n, durable)
	}
	b.full = true
	s.Remove(policy.Purged)
	s.Sync(context.Background())
	if n, durable := s.Purges(); n != 2 || durable {
		t.Fatalf("%d purges on a full disk, durable: %v", n, durable)
	}
	b.full = false
	s.Close()
	s = open1()
	if n, durable := s.Purges(); n != 2 || !durable {
		t.Fatalf("%d purges after a restart, durable: %v", n, durable)
	}
	s.Close()
	b.forgetful = true
	if n, _ := open1().Purges(); n <= 2 {
		t.Errorf("%d purges after the count was lost", n)
	}
}
