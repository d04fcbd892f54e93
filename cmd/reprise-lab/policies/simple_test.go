package policies

import (
	"math"
	"testing"

	"reprise/internal/policytest"
	"reprise/policy"
)

// TestOrders compares the order of evictions. Most policies stage the last item, and evict it last.
func TestOrders(t *testing.T) {
	for _, c := range []struct{ policy, script, want string }{
		{"fifo", "+1 +2 +3 h1 h1", "[1 2 3]"},
		{"fifo", "+1 +2 +3 -2 +4", "[1 3 4]"},
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
		{"ttl-sliding", "+1 +2 +3 h1 +4", "[2 3 1 4]"},
		{"clock", "+1 h1 +2 h2 +3 +4", "[3 1 2 4]"},
		{"clock", "+1 h1 h1 +2 +3 . +4 .", "[3 4]"},
		{"clock:bits=2", "+1 h1 h1 +2 +3 . +4 .", "[1 4]"},
		{"clock", "+1 +2 h1 +3 -2 +4", "[3 1 4]"},
		{"lfu-da", "+1 +2 h2 h2 +3 . +4 . +5", "[2 4 5]"},  // the floor has risen to 2
		{"lfu-da", "+1 +2 h2 h2 +3 -1 +4 . +5", "[4 2 5]"}, // not by a purge
	} {
		e, err := New(c.policy, policy.Options{Capacity: 4})
		if err != nil {
			t.Fatal(err)
		}
		policytest.PlayScript(t, e, c.script)
		if got := policytest.Drain(e); got != c.want {
			t.Errorf("%s %q: %s, want %s", c.policy, c.script, got, c.want)
		}
	}
}

func TestTTLSlidingEnds(t *testing.T) {
	for name, end := range map[string]int64{"ttl-sliding:ttl=5": 18, "ttl-sliding": 21} { // the first request that is not answered
		e, err := New(name, policy.Options{Capacity: 4})
		if err != nil {
			t.Fatal(err)
		}
		l := policy.NewLedger(e, policy.Limit{Entries: 4})
		l.Insert(policy.Item{ID: 1}, policy.Tick{Seq: 10}, nil)
		l.Hit(1, policy.Tick{Seq: 13})
		if before, after := l.Expired(1, policy.Tick{Seq: end - 1}), l.Expired(1, policy.Tick{Seq: end}); before || !after {
			t.Errorf("%s: expired %v at %d, %v at %d", name, before, end-1, after, end)
		}
	}
}

func TestRandomDrawsAllButTheNewest(t *testing.T) {
	r := newRandom(1)
	drawn := map[policy.ID]int{}
	for id := policy.ID(1); id <= 100_010; id++ {
		r.Insert(policy.Item{ID: id}, policy.Tick{Seq: int64(id)})
		if id <= 10 {
			continue
		}
		victim, _ := r.Victim()
		drawn[id-victim]++ // by age
		r.Remove(victim, policy.Evicted)
	}
	// Each time one of ten goes: the share of those that go at age a is 0.1·0.9^(a-1).
	want := 10_000.0
	for age := policy.ID(1); age <= 20; age++ {
		if math.Abs(float64(drawn[age])-want) > 5*math.Sqrt(want) {
			t.Errorf("%d went at age %d, want %.0f", drawn[age], age, want)
		}
		want *= 0.9
	}
	if drawn[0] != 0 {
		t.Errorf("the newest was drawn %d times", drawn[0])
	}
}
