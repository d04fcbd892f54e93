package classic

import (
	"testing"

	"reprise/internal/policytest"
	"reprise/policy"
)

// TestPins: an entry in use is no victim, and after that it has the uses that it had, as the last used of its equals. Block caches of the
// laboratory pin entries.
func TestPins(t *testing.T) {
	type pinner interface {
		policy.Evictor
		Pin(policy.ID)
		Unpin(policy.ID, policy.Tick)
	}
	for name, want := range map[string]string{"lru": "[4 3 1 2]", "lfu": "[1 2 4 3]", "gdsf": "[1 2 4 3]", "aging-lfu:w=1000": "[1 2 4 3]"} {
		e, err := specs.New(name, policy.Options{Capacity: 9})
		if err != nil {
			t.Fatal(err)
		}
		p := e.(pinner)
		policytest.PlayScript(t, p, "+1 +2 +3 +4 h1 h2 h3 h3 h4 h4 h4 h3")
		for _, id := range []policy.ID{1, 1, 2, 3, 4, 9} {
			p.Pin(id)
		}
		policytest.WantVictim(t, p, 0, false)
		for _, id := range []policy.ID{4, 3, 1, 9} {
			p.Unpin(id, policy.Tick{Seq: 20})
		}
		p.Unpin(1, policy.Tick{Seq: 21})
		p.Unpin(2, policy.Tick{Seq: 22})
		p.Unpin(2, policy.Tick{Seq: 23}) // once too often
		if got := policytest.Drain(p); got != want {
			t.Errorf("%s: victims %s, want %s", name, got, want)
		}
	}
}
