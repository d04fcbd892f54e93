package classic

import (
	"testing"

	"reprise/internal/policytest"
	"reprise/policy"
)

func TestLRUOrder(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{"", "[]"},
		{"+1 +2 +3", "[1 2 3]"},
		{"+1 +2 +3 h1", "[2 3 1]"},
		{"+1 +2 +3 h3 h3", "[1 2 3]"},
		{"+1 +2 +3 -2 +4 h1", "[3 4 1]"},
		{"+1 -1 +2 +3 -3 +4", "[2 4]"},
	} {
		l := NewLRU()
		policytest.PlayScript(t, l, c.script)
		if got := policytest.Drain(l); got != c.want {
			t.Errorf("%q: %s, want %s", c.script, got, c.want)
		}
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
