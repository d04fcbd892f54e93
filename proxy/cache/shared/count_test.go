package shared

import (
	"errors"
	"testing"
	"time"

	"reprise/store"
)

// TestCount: when a purge has returned, every member counts one more, and all count the same; a member that starts later does too.
func TestCount(t *testing.T) {
	among(t, 3, func(t *testing.T, s *server, all []*member) {
		first := all[0].Count()
		for n := uint64(1); n <= 3; n++ {
			if err := all[n%2].purge(store.Filter{Model: "a"}); err != nil {
				t.Fatal(err)
			}
			for i, m := range all {
				if at := m.Count(); at.Log != first.Log || at.Purges != first.Purges+n {
					t.Errorf("after %d purges member %d counts %d, began with %d", n, i, at.Purges, first.Purges)
				}
			}
		}
		settle() // the last purge is finished in the store: before that, a member that starts makes it again, and all count one more
		late := newMember(t, s, 9)
		settle()
		if at := late.Count(); at.Log != first.Log || at.Purges != first.Purges+3 {
			t.Errorf("a member that starts counts %d, want %d", at.Purges, first.Purges+3)
		}
	})
}

// TestCountWhileAway: a purge that the server has not taken is counted here at once, and never less than before; later all count the same.
func TestCountWhileAway(t *testing.T) {
	among(t, 2, func(t *testing.T, s *server, all []*member) {
		first, least := all[1].Count(), uint64(0)
		rises := func() {
			t.Helper()
			at := all[1].Count()
			if at.Log != first.Log || at.Purges < least {
				t.Fatalf("counts %d, and %d before", at.Purges, least)
			}
			least = at.Purges
		}
		all[1].link.set("refuse", 0)
		if err := all[1].purge(store.Filter{Model: "a"}); !errors.Is(err, store.ErrUnconfirmed) {
			t.Errorf("purge: %v", err)
		}
		if rises(); least != first.Purges+1 {
			t.Errorf("counts %d, want one more than %d", least, first.Purges)
		}
		if err := all[0].purge(store.Filter{Model: "b"}); err != nil {
			t.Fatal(err)
		}
		all[1].link.set("", 0)
		for range 300 {
			rises()
			time.Sleep(10 * time.Millisecond)
		}
		if a, b := all[0].Count(), all[1].Count(); a != b || a.Purges != first.Purges+2 {
			t.Errorf("they count %d and %d, want %d", a.Purges, b.Purges, first.Purges+2)
		}
	})
}
