package policy

import "testing"

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
		playScript(t, l, c.script)
		if got := drain(l); got != c.want {
			t.Errorf("%q: %s, want %s", c.script, got, c.want)
		}
	}
}
