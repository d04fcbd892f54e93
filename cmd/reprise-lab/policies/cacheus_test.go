package policies

import (
	"math/rand/v2"
	"testing"

	"reprise/policy"
)

// TestCacheusCountsAgree compares the counts with the entries of the lists and the history.
func TestCacheusCountsAgree(t *testing.T) {
	c := newCacheus(20, 1)
	l := policy.NewLedger(c, policy.Limit{Entries: 20, Bytes: 900})
	r := rand.New(rand.NewPCG(1, 2))
	for seq := int64(1); seq <= 20_000; seq++ {
		l.Insert(policy.Item{ID: policy.ID(seq), Key: 1 + r.Uint64N(60), Size: r.Int64N(100)}, policy.Tick{Seq: seq}, nil)
		l.Hit(policy.ID(seq-r.Int64N(30)), policy.Tick{Seq: seq})
		l.Remove(policy.ID(seq-r.Int64N(300)), policy.Purged)
		demoted, fresh := 0, 0
		for slot := c.lru.once.Head; slot != 0; slot = c.slots.Cells[slot].Next {
			if c.slots.Cells[slot].Val.demoted {
				demoted++
			}
		}
		for _, ghost := range c.lru.past.All() {
			if ghost.fresh {
				fresh++
			}
		}
		if demoted != c.lru.demoted || fresh != c.lru.fresh || c.lru.room < 1 || c.lru.room > 19 {
			t.Fatalf("request %d: %d demoted, %d fresh, room %d; counted %d, %d",
				seq, c.lru.demoted, c.lru.fresh, c.lru.room, demoted, fresh)
		}
		listed := c.lru.once.Len + c.lru.reused.Len
		if c.staged != 0 {
			listed++
		}
		if l.Faults() > 0 || listed != l.Entries() || c.slots.Len() != listed {
			t.Fatalf("request %d: %d entries, %d listed, %d faults", seq, l.Entries(), listed, l.Faults())
		}
	}
}
