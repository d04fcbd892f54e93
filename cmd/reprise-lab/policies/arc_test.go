package policies

import (
	"fmt"
	"slices"
	"testing"

	"reprise/internal/container"
	"reprise/internal/policytest"
	"reprise/policy"
	"reprise/policy/spec"
)

// TestARCTargetFits: where fewer entries fit than before, p is no more than these.
func TestARCTargetFits(t *testing.T) {
	a := newARC(spec.Capacity{Given: 10, N: 10, Bytes: true})
	a.p = 10
	for id := policy.ID(1); id <= 4; id++ {
		a.Insert(policy.Item{ID: id}, policy.Tick{Seq: int64(id)})
	}
	victim, _ := a.Victim()
	if a.Remove(victim, policy.Evicted); a.p != 3 {
		t.Errorf("p is %v with room for 3", a.p)
	}
}

func TestARC(t *testing.T) {
	state := func(a *ARC) string {
		key := func(c container.Cell[policy.ID, arc]) uint64 { return c.Val.key }
		a.link()
		return fmt.Sprintf("t1 %s | t2 %s | b1 %s | b2 %s | p %g", policytest.KeysIn(&a.slots, &a.t1, key), policytest.KeysIn(&a.slots, &a.t2, key),
			policytest.KeysOf(&a.b1), policytest.KeysOf(&a.b2), a.p)
	}
	policytest.CheckStates(t, 3, func() *ARC { return newARC(spec.Capacity{Given: 3, N: 3}) }, state, [][3]string{
		{"new ones come once", "1 2 3", "t1 3 2 1 | t2  | b1  | b2  | p 0"},
		{"a hit is a second time", "1 2 3 1", "t1 3 2 | t2 1 | b1  | b2  | p 0"},
		{"a list of once alone leaves no ghosts", "1 2 3 4", "t1 4 3 2 | t2  | b1  | b2  | p 0"},
		{"the oldest of t1 goes to b1", "1 2 3 1 4", "t1 4 3 | t2 1 | b1 2 | b2  | p 0"},
		{"a return to b1 wants a longer t1", "1 2 3 1 4 2", "t1 4 | t2 2 1 | b1 3 | b2  | p 1"},
		{"a t1 as long as p stays", "1 2 3 1 4 2 5", "t1 5 4 | t2 2 | b1 3 | b2 1 | p 1"},
		{"a return to b2 wants a shorter t1", "1 2 3 1 4 2 5 1", "t1 5 | t2 1 2 | b1 4 3 | b2  | p 0"},
		{"a t1 as long as p gives to a return to b2", "4 6 7 6 5 4 7 6", "t1  | t2 6 7 4 | b1 5 | b2  | p 1"},
		{"b1 with t1 is no longer than the capacity", "1 2 3 1 4 5 6 7", "t1 7 6 | t2 1 | b1 5 | b2  | p 0"},
		{"the four hold no more than twice the capacity", "6 3 3 6 2 5 1 2 4 4 7", "t1 7 1 | t2 4 | b1 5 | b2 2 6 | p 1"},
		{"a purge leaves no ghost", "1 2 3 1 -2 2", "t1 2 3 | t2 1 | b1  | b2  | p 0"},
	})
}

func TestARCStepsAreRealNumbers(t *testing.T) {
	a := newARC(spec.Capacity{Given: 10, N: 10})
	for key := uint64(1); key <= 5; key++ {
		if key <= 2 {
			a.b1.Add(key)
		} else {
			a.b2.Add(key)
		}
	}
	var p []float64
	for _, key := range []uint64{1, 9, 3, 2, 4, 5} {
		a.returned(key)
		p = append(p, a.p)
	}
	if want := []float64{1.5, 1.5, 0.5, 2.5, 1.5, 0.5}; !slices.Equal(p, want) {
		t.Errorf("p %v, want %v", p, want)
	}
}
