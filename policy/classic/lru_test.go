package classic

import (
	"testing"

	"reprise/policy/internal/policytest"
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
