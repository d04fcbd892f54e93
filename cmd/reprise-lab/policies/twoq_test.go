package policies

import (
	"fmt"
	"testing"

	"reprise/internal/container"
	"reprise/internal/policytest"
	"reprise/policy"
	"reprise/policy/spec"
)

func TestTwoQ(t *testing.T) {
	state := func(q *TwoQ) string {
		key := func(c container.Cell[policy.ID, twoQ]) uint64 { return c.Val.key }
		q.link()
		fifo, lru := policytest.KeysIn(&q.slots, &q.fifo, key), policytest.KeysIn(&q.slots, &q.lru, key)
		return fmt.Sprintf("fifo %s | lru %s | out %s", fifo, lru, policytest.KeysOf(&q.out))
	}
	policytest.CheckStates(t, 4, func() *TwoQ { return newTwoQ(spec.Capacity{Given: 4, N: 4}, 1, 2) }, state, [][3]string{
		{"new ones queue", "1 2 3 4", "fifo 4 3 2 1 | lru  | out "},
		{"a hit in the FIFO changes nothing", "1 2 3 4 1 1", "fifo 4 3 2 1 | lru  | out "},
		{"the oldest becomes a ghost", "1 2 3 4 5", "fifo 5 4 3 2 | lru  | out 1"},
		{"a ghost returns to the LRU", "1 2 3 4 5 1", "fifo 5 4 3 | lru 1 | out 2"},
		{"ghosts are as many as there is room for", "1 2 3 4 5 6 7", "fifo 7 6 5 4 | lru  | out 3 2"},
		{"the LRU gives when the FIFO is short", "1 2 3 4 5 1 2 3 4 6", "fifo 6 5 | lru 4 3 | out "},
		{"a hit in the LRU is the latest use", "1 2 3 4 5 1 2 1 6", "fifo 6 5 | lru 1 2 | out 4 3"},
		{"a purge leaves no ghost", "1 2 3 4 -1 1", "fifo 1 4 3 2 | lru  | out "},
	})
}
