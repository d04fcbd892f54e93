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

// TestLRUPins: a pinned entry is no victim, and is the newest after its last Unpin, whatever was hit meanwhile.
func TestLRUPins(t *testing.T) {
	l := NewLRU()
	policytest.PlayScript(t, l, "+1 +2 +3 +4")
	for _, id := range []policy.ID{1, 2, 2, 99} {
		l.Pin(id)
	}
	policytest.WantVictim(t, l, 3, true)
	l.Hit(1, policy.Tick{Seq: 5}) // in no queue, so nowhere to move
	l.Unpin(1, policy.Tick{Seq: 6})
	l.Unpin(1, policy.Tick{Seq: 6}) // one too many
	l.Unpin(2, policy.Tick{Seq: 7}) // one is left
	l.Pin(4)
	l.Remove(4, policy.Purged) // while it is pinned
	policytest.WantVictim(t, l, 3, true)
	l.Remove(3, policy.Evicted)
	l.Remove(1, policy.Evicted)
	policytest.WantVictim(t, l, 0, false)
	l.Unpin(2, policy.Tick{Seq: 8})
	policytest.WantVictim(t, l, 2, true)
}
