package classic

import (
	"fmt"
	"testing"

	"reprise/internal/container"
	"reprise/internal/policytest"
	"reprise/policy"
)

// TestLIRSHasOneGhostOfAKey evicts two entries of one identity: the later ghost replaces the earlier.
func TestLIRSHasOneGhostOfAKey(t *testing.T) {
	l := newLIRS(policy.Capacity{Given: 4, N: 4}, 2, 20)
	for id := policy.ID(1); id <= 5; id++ {
		l.Insert(policy.Item{ID: id, Key: uint64(id) % 3}, policy.Tick{Seq: int64(id)})
	}
	l.Insert(policy.Item{ID: 6, Key: 2}, policy.Tick{Seq: 6})
	l.Insert(policy.Item{ID: 7, Key: 9}, policy.Tick{Seq: 7})
	for range 4 { // 3 to 6, of which two are of key 2
		id, _ := l.Victim()
		l.Remove(id, policy.Evicted)
	}
	if l.oldest.Len != 3 || l.gone.Len() != 3 {
		t.Errorf("%d ghosts under %d keys, want one for each of 3", l.oldest.Len, l.gone.Len())
	}
}

func TestLIRS(t *testing.T) {
	state := func(l *lirs) string {
		l.link()
		stack := ""
		for slot := l.order.Head; slot != 0; slot = l.stack.Cells[slot].Next {
			e := l.stack.Cells[slot].Val
			stack += fmt.Sprintf(" %d%c", e.key, "lhg"[e.is])
		}
		return fmt.Sprintf("stack%s | fifo %s", stack, policytest.KeysIn(&l.hirs, &l.fifo, func(c container.Cell[policy.ID, uint64]) uint64 { return c.Val }))
	}
	policytest.CheckStates(t, 3, func() *lirs { return newLIRS(policy.Capacity{Given: 3, N: 3}, 1, 6) }, state, [][3]string{
		{"the first are LIR", "1 2 3", "stack 3h 2l 1l | fifo 3"},
		{"a hit of the oldest LIR", "1 2 3 1", "stack 1l 3h 2l | fifo 3"},
		{"the HIR goes and stays as a ghost", "1 2 3 4", "stack 4h 3g 2l 1l | fifo 4"},
		{"a ghost that returns takes the place of the oldest LIR", "1 2 3 4 3", "stack 3l 4g 2l | fifo 1"},
		{"a HIR hit in the stack does too", "1 2 3 3", "stack 3l 2l | fifo 1"},
		{"a HIR hit outside of it stays one", "1 2 3 3 1", "stack 1h 3l 2l | fifo 1"},
		{"what is below the oldest LIR is dropped", "1 2 3 4 1 2", "stack 2l 1l | fifo 4"},
		{"the stack forgets its oldest ghost", "1 2 3 4 5 6 7 8", "stack 8h 7g 6g 5g 2l 1l | fifo 8"},
		{"a LIR that is purged makes room for a LIR", "1 2 3 -1 4", "stack 4h 3l 2l | fifo 4"},
		{"a purge leaves no ghost", "1 2 3 1 -3 3", "stack 3h 1l 2l | fifo 3"},
		{"nor one of the newest", "1 2 3 -3 3", "stack 3h 2l 1l | fifo 3"},
	})
}

// TestLIRSWithoutALIR has room for a HIR alone: nothing of it may stay in the stack.
func TestLIRSWithoutALIR(t *testing.T) {
	l := newLIRS(policy.Capacity{Given: 1, N: 1}, 1, 2)
	policytest.PlayScript(t, l, "+1 h1")
	policytest.WantVictim(t, l, 1, true)
	l.Remove(1, policy.Evicted)
	policytest.WantVictim(t, l, 0, false)
	if l.order.Len != 0 || l.oldest.Len != 0 {
		t.Errorf("%d in the stack, %d ghosts", l.order.Len, l.oldest.Len)
	}
}
