package store_test

import (
	"context"
	"errors"
	"testing"

	"reprise/policy"
	"reprise/store"
	"reprise/store/storetest"
)

// crammed is a backing that has room for removals alone, and keeps the batches that it was given.
type crammed struct {
	storetest.Memory
	full    bool
	applies bool // a batch that fails is written all the same
	batches []store.Batch
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
