package kv

import (
	"math"
	"testing"

	"reprise/internal/policytest"
	"reprise/policy"
)

func TestAgingLFUTiesGoByOffset(t *testing.T) {
	a := newAgingLFU(0)
	for id, offset := range []int{0, 2, 5, math.MaxInt, 5, 0} { // blocks of one request
		a.Insert(policy.Item{ID: policy.ID(id + 1), Offset: offset}, policy.Tick{Seq: 1})
	}
	a.Hit(0, policy.Tick{Seq: 1})
	if got := policytest.Drain(a); got != "[4 3 5 2 1 6]" {
		t.Error(got)
	}
}

// TestUsesStopAtTheirEnd: an entry with more hits than are counted does not begin again at none.
func TestUsesStopAtTheirEnd(t *testing.T) {
	g, a := NewGDSF(policy.Hits), newAgingLFU(1)
	for _, e := range []policy.Evictor{g, a} {
		e.Insert(policy.Item{ID: 1}, policy.Tick{Seq: 1})
		e.Insert(policy.Item{ID: 2}, policy.Tick{Seq: 2})
		e.Insert(policy.Item{ID: 3}, policy.Tick{Seq: 3})
	}
	slot, _ := g.keyed.Slots.Find(1)
	g.keyed.Slots.Cells[slot].Val.uses = math.MaxUint32
	slot, _ = a.keyed.Slots.Find(1)
	a.keyed.Slots.Cells[slot].Val.uses = math.MaxUint32
	for _, e := range []policy.Evictor{g, a} {
		e.Hit(1, policy.Tick{Seq: 4})
		policytest.WantVictim(t, e, 2, true)
	}
}

// TestExpiryIsNoEvidence: an expiry leaves the floor where it is.
func TestExpiryIsNoEvidence(t *testing.T) {
	g := NewGDSF(policy.Hits)
	policytest.PlayScript(t, g, "+1 +2 +3")
	if g.Remove(1, policy.Expired); g.floor != 0 {
		t.Errorf("floor %v", g.floor)
	}
}
