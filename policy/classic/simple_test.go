package classic

import (
	"math"
	"testing"

	"reprise/internal/policytest"
	"reprise/policy"
	"reprise/policy/spec"
)

// TestOrders compares the order of evictions. Most policies stage the last item, and evict it last.
func TestOrders(t *testing.T) {
	for _, c := range []struct{ policy, script, want string }{
		{"fifo", "+1 +2 +3 h1 h1", "[1 2 3]"},
		{"fifo", "+1 +2 +3 -2 +4", "[1 3 4]"},
		{"ttl", "+1 +2 +3 h1 +4", "[1 2 3 4]"},
		{"sieve", "+1 +2 +3 h1 +4", "[2 3 1 4]"},
		{"sieve", "+1 +2 h1 h2 +3 . +4", "[2 3 4]"},          // the hand is behind the new ones
		{"sieve", "+1 +2 +3 +4 +5 h1 . -3", "[4 5 1]"},       // the entry under the hand is purged
		{"sieve", "+1 +2 +3 +4 h1 . -4 -3 +5 +6", "[1 5 6]"}, // so is all that was before it
		{"lfu", "+1 +2 h2 h1 +3 +4", "[3 2 1 4]"},
		{"lfu", "+1 +2 h2 h2 +3 . +4 . +5", "[4 2 5]"},
		{"gdsf", "+1 +2 h2 h2 +3 . +4 . +5", "[2 4 5]"},
		{"aging-lfu:w=0", "+1 +2 h1 +3 +4", "[2 1 3 4]"},
		{"aging-lfu:w=2", "+1 +2 h1 +3 +4", "[2 3 1 4]"},
		{"aging-lfu:w=1", "+1 +2 h1 +3 +4", "[2 1 3 4]"}, // 2+3 and 1+4: the least recently used
	} {
		e, err := specs.New(c.policy, policy.Options{Capacity: 4})
		if err != nil {
			t.Fatal(err)
		}
		policytest.PlayScript(t, e, c.script)
		if got := policytest.Drain(e); got != c.want {
			t.Errorf("%s %q: %s, want %s", c.policy, c.script, got, c.want)
		}
	}
}

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
	g, a := NewGDSF(spec.Hits), newAgingLFU(1)
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

func TestTTLEnds(t *testing.T) {
	for _, c := range []struct {
		name string
		end  int64 // the first request that is not answered, after an insertion at 10 and a hit at 13
	}{
		{"ttl:ttl=5", 15}, {"ttl", 18}, // by default 2C
	} {
		e, err := specs.New(c.name, policy.Options{Capacity: 4})
		if err != nil {
			t.Fatal(err)
		}
		l := policy.NewLedger(e, policy.Limit{Entries: 4})
		l.Insert(policy.Item{ID: 1}, policy.Tick{Seq: 10}, nil)
		l.Hit(1, policy.Tick{Seq: 13})
		before, after := l.Expired(1, policy.Tick{Seq: c.end - 1}), l.Expired(1, policy.Tick{Seq: c.end})
		if before || !after || l.Expired(2, policy.Tick{Seq: 99}) {
			t.Errorf("%s: expired %v at %d, %v at %d", c.name, before, c.end-1, after, c.end)
		}
	}
	if l := policy.NewLedger(NewLRU(), policy.Limit{}); l.Expired(1, policy.Tick{Seq: 1}) {
		t.Error("an entry of LRU's expired")
	}
}
