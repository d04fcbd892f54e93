package classic

import (
	"fmt"
	"testing"

	"reprise/internal/container"
	"reprise/internal/policytest"
	"reprise/policy"
)

// TestS3FIFOCountsNoFurther: an entry with more hits than the counter holds has the highest count, not the lowest.
func TestS3FIFOCountsNoFurther(t *testing.T) {
	s := newS3FIFO(policy.Capacity{Given: 3, N: 3}, 1, 2, 2)
	for id := policy.ID(1); id <= 3; id++ {
		s.Insert(policy.Item{ID: id}, policy.Tick{Seq: int64(id)})
	}
	for range 256 {
		s.Hit(1, policy.Tick{Seq: 4})
	}
	policytest.WantVictim(t, s, 2, true)
}

func TestS3FIFO(t *testing.T) {
	state := func(s *s3fifo) string {
		key := func(c container.Cell[policy.ID, s3fifoEntry]) uint64 { return c.Val.key }
		s.link()
		small, main := policytest.KeysIn(&s.slots, &s.small, key), policytest.KeysIn(&s.slots, &s.main, key)
		return fmt.Sprintf("small %s | main %s | ghosts %s", small, main, policytest.KeysOf(&s.ghosts))
	}
	policytest.CheckStates(t, 4, func() *s3fifo { return newS3FIFO(policy.Capacity{Given: 4, N: 4}, 1, 3, 2) }, state, [][3]string{
		{"new ones queue", "1 2 3 4", "small 4 3 2 1 | main  | ghosts "},
		{"a hit moves nothing", "1 2 3 4 1", "small 4 3 2 1 | main  | ghosts "},
		{"one hit does not save", "1 2 3 4 1 5", "small 5 4 3 2 | main  | ghosts 1"},
		{"two earn a place in main", "1 2 3 4 1 1 5", "small 5 4 3 | main 1 | ghosts 2"},
		{"a ghost returns to main", "1 2 3 4 5 1", "small 5 4 3 | main 1 | ghosts 2"},
		{"ghosts are as many as there is room for", "1 2 3 4 5 6 7 8", "small 8 7 6 5 | main  | ghosts 4 3 2"},
		{"main gives when small is short, the unhit", "1 2 3 4 1 1 2 2 3 3 4 4 5", "small 5 | main 4 3 2 | ghosts "},
		{"main: a hit pays for a round", "1 2 3 4 5 1 2 3 4 1 6", "small 6 | main 1 4 3 | ghosts 5"},
		{"main: two hits pay for two rounds", "1 2 3 4 5 1 2 3 4 1 1 5 6 7 6 7 8", "small 8 | main 1 7 6 | ghosts "},
		{"a purge leaves no ghost", "1 2 3 4 -1 1", "small 1 4 3 2 | main  | ghosts "},
	})
}
