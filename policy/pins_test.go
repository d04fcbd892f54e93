package policy_test

import (
	"testing"

	"reprise/policy"
	"reprise/policy/classic"
	"reprise/policy/internal/policytest"
	"reprise/policy/registry"
)

// TestPinnedIsLazy: an entry leaves the inner policy only when it is named, and comes back at its last Unpin.
func TestPinnedIsLazy(t *testing.T) {
	fifo := &classic.FIFO{}
	p := policy.Pinned(fifo)
	policytest.PlayScript(t, p, "+1 +2 +3")
	p.Pin(1)
	p.Pin(1)
	p.Pin(3)
	p.Unpin(3, policy.Tick{Seq: 4})
	policytest.WantVictim(t, fifo, 1, true) // so far nothing was named
	policytest.WantVictim(t, p, 2, true)
	p.Unpin(1, policy.Tick{Seq: 5})
	policytest.WantVictim(t, p, 2, true)
	p.Unpin(1, policy.Tick{Seq: 6})
	if got := policytest.Drain(p); got != "[2 3 1]" {
		t.Errorf("victims %s, want the one that was taken out as the youngest", got)
	}
}

// TestPinnedKeepsTheItem: what is inserted again has the cost and size of before, and what the last request changed.
func TestPinnedKeepsTheItem(t *testing.T) {
	e, err := registry.New("aging-lfu:w=0", policy.Options{Capacity: 9})
	if err != nil {
		t.Fatal(err)
	}
	p := policy.Pinned(e)
	for id := policy.ID(1); id <= 3; id++ {
		p.Insert(policy.Item{ID: id, Offset: 1}, policy.Tick{Seq: 1})
	}
	p.Evictor.(policy.Contextual).HitIn(policy.Item{ID: 2, Offset: 7}, policy.Tick{Seq: 1})
	for id := policy.ID(1); id <= 3; id++ {
		p.Pin(id)
	}
	policytest.WantVictim(t, p, 0, false)
	for id := policy.ID(1); id <= 3; id++ {
		p.Unpin(id, policy.Tick{Seq: 9})
	}
	p.Insert(policy.Item{ID: 4}, policy.Tick{Seq: 10})
	policytest.WantVictim(t, p, 2, true) // of three with equal keys the one with the larger offset
}

// TestPinnedIsThePinner: a policy that can pin is not wrapped.
func TestPinnedIsThePinner(t *testing.T) {
	l := classic.NewLRU()
	if p := policy.Pinned(l); p.Evictor != policy.Evictor(l) || p.Pinner != policy.Pinner(l) {
		t.Errorf("%T and %T for an LRU", p.Evictor, p.Pinner)
	}
}
