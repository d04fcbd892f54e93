package store_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"reprise/store"
	"reprise/store/storetest"
)

// TestEvidence: what was counted is written when it has changed, twice a minute at most, and by Sync and Close; the next start has it. Nothing is
// written where there is nothing.
func TestEvidence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &storetest.Memory{}
		s := open(t, store.Options{Backing: disk})
		if s.Evidence() != nil {
			t.Error("an empty backing has evidence")
		}
		var counts atomic.Pointer[string]
		var asked atomic.Int64
		count := func(text string) { counts.Store(&text) }
		s.KeepEvidence(counter(func() []byte {
			asked.Add(1)
			if now := counts.Load(); now != nil {
				return []byte(*now)
			}
			return nil
		}))
		s.Sync(context.Background())
		if disk.Count(store.KindEvidence) != 0 {
			t.Error("nothing was written as a record")
		}
		count("one")
		asked.Store(0)
		time.Sleep(10 * time.Minute)
		if n := asked.Load(); n < 15 || n > 22 || disk.Count(store.KindEvidence) != 1 {
			t.Errorf("asked for %d times in ten minutes", n)
		}
		writes := disk.Writes()
		time.Sleep(10 * time.Minute)
		if n := disk.Writes() - writes; n != 0 {
			t.Errorf("%d writes of what has not changed", n)
		}
		count("two")
		s.Sync(context.Background())
		killed := disk.Clone()
		count("three")
		s.Close()
		for want, b := range map[string]*storetest.Memory{"two": killed, "three": disk.Reopen()} {
			next := open(t, store.Options{Backing: b})
			if got := string(next.Evidence()); got != want {
				t.Errorf("evidence %q, want %q", got, want)
			}
			next.Close()
		}
	})
}

type counter func() []byte

func (c counter) Counts() []byte { return c() }
