package clientio

import (
	"sync"
	"testing"
)

const mib = 1 << 20

// newBudget has a limit of 80 MiB, of which entries hold *held.
func newBudget(held *int64) *Budget {
	return NewBudget(80*mib, func() int64 { return *held })
}

func TestShares(t *testing.T) {
	for _, c := range []struct {
		name                string
		entries, used       int64
		call, growth, lease bool
	}{
		{"empty", 0, 0, true, true, true},
		{"a full store", 40 * mib, 0, true, true, true},
		{"no new calls", 40 * mib, 11 * mib, false, true, true},
		{"no large bodies", 40 * mib, 20 * mib, false, false, true},
		{"nothing more", 40 * mib, 30 * mib, false, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBudget(&c.entries)
			b.used[recordings].Store(c.used)
			if got := b.Begin(); got != c.call {
				t.Errorf("Begin: %v", got)
			} else if got {
				b.End()
			}
			if got := b.Account().Reserve(mib); got != c.growth {
				t.Errorf("Reserve: %v", got)
			} else if got {
				b.Account().Release(mib)
			}
			l, got := b.Lease(0)
			if got != c.lease {
				t.Errorf("Lease: %v", got)
			}
			if got {
				if l.Grow(mib) != c.growth {
					t.Errorf("Grow: %v", !c.growth)
				}
				l.Drop()
			}
			if b.Used()["bodies"] != 0 || b.Used()["recordings"] != c.used {
				t.Errorf("%d bytes of bodies and %d of recordings are left", b.Used()["bodies"], b.Used()["recordings"])
			}
		})
	}
}

func TestRefusalsAreCounted(t *testing.T) {
	var held int64 = 80 * mib
	b := newBudget(&held)
	b.Begin()
	b.Lease(0)
	b.Account().Reserve(1) // the answer goes on all the same
	if b.Refused() != 2 {
		t.Errorf("%d refusals, want 2", b.Refused())
	}
}

func TestNoLimit(t *testing.T) {
	b := NewBudget(0, func() int64 { return 0 })
	l, ok := b.Lease(0)
	if !ok || !l.Grow(1<<50) || !b.Begin() {
		t.Fatal("refused without a limit")
	}
	if b.Used()["bodies"] != smallCharge+1<<50 {
		t.Errorf("%d bytes are counted", b.Used()["bodies"])
	}
}

func TestHold(t *testing.T) {
	var held int64
	b := newBudget(&held)
	room, release := b.Hold(CallCharge)
	if !room || b.Used()["recordings"] != 0 {
		t.Error("few bytes are charged")
	}
	release()
	room, release = b.Hold(2 * mib)
	if !room || b.Used()["recordings"] != 2*mib {
		t.Errorf("room %v, %d bytes are charged", room, b.Used()["recordings"])
	}
	if release(); b.Used()["recordings"] != 0 {
		t.Errorf("%d bytes are left", b.Used()["recordings"])
	}
	if room, _ := b.Hold(61 * mib); room || b.Used()["recordings"] != 0 {
		t.Errorf("room %v, %d bytes are charged", room, b.Used()["recordings"])
	}
}

// TestHolders: the charge stays until its last holder has gone.
func TestHolders(t *testing.T) {
	b := NewBudget(0, func() int64 { return 0 })
	var wg sync.WaitGroup
	for range 100 {
		l, _ := b.Lease(0)
		l.Grow(2 * mib)
		l.Shrink(mib)
		l.Hold()
		for range 2 {
			wg.Go(l.Drop)
		}
	}
	wg.Wait()
	if n := b.Used()["bodies"]; n != 0 {
		t.Errorf("%d bytes are left", n)
	}
	l, _ := b.Lease(0)
	l.Hold()
	l.Drop()
	if n := b.Used()["bodies"]; n != smallCharge {
		t.Errorf("%d bytes are charged while a holder is left", n)
	}
}

func BenchmarkLease(b *testing.B) {
	budget := NewBudget(1<<30, func() int64 { return 0 })
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			l, _ := budget.Lease(0)
			l.Drop()
		}
	})
}
