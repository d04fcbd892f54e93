package policies

import (
	"testing"

	"reprise/policy"
)

// TestARCTargetFits: where fewer entries fit than before, p is no more than these.
func TestARCTargetFits(t *testing.T) {
	a := newARC(policy.Capacity{Given: 10, N: 10, Bytes: true})
	a.p = 10
	for id := policy.ID(1); id <= 4; id++ {
		a.Insert(policy.Item{ID: id}, policy.Tick{Seq: int64(id)})
	}
	victim, _ := a.Victim()
	if a.Remove(victim, policy.Evicted); a.p != 3 {
		t.Errorf("p is %v with room for 3", a.p)
	}
}
