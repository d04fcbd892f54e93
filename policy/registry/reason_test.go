package registry

import (
	"fmt"
	"testing"

	"reprise/internal/policytest"
	"reprise/policy"
)

var identities = []string{"rac", "rac-paper", "haz", "rac+", "rac+:sample=2"}

// TestImportanceOutlivesReplacementAndExpiry: an answer that is refreshed, or returns after its expiry, has the same
// importance as before. After a purge it starts from the beginning.
func TestImportanceOutlivesReplacementAndExpiry(t *testing.T) {
	for _, name := range identities {
		for _, o := range []policy.Options{{Capacity: 8}, {Capacity: 8, Bytes: true}} {
			t.Run(fmt.Sprintf("%s/%+v", name, o), func(t *testing.T) {
				e := named(t, name, o)
				l := policytest.Popular(e)
				importance := func(id policy.ID) float64 { return e.(policy.Linker).Importance(id) }
				before := importance(6)
				if before < 11 {
					t.Fatalf("importance %v after ten hits, want 11", before)
				}
				l.Replace(policy.Item{ID: 6, Key: 7, Topic: 2, Size: 30, Cost: 9}, policy.Tick{Seq: 20}, nil)
				if got := importance(6); got < before || l.Bytes() != 80 {
					t.Errorf("importance %v after a replacement, was %v; %d bytes", got, before, l.Bytes())
				}
				l.Remove(6, policy.Expired)
				if got := importance(6); got != 0 || l.Has(6) {
					t.Errorf("importance %v of what has expired", got)
				}
				back := policy.Item{ID: 8, Key: 7, Topic: 2, Size: 10, Cost: 5}
				l.Insert(back, policy.Tick{Seq: 21}, nil)
				if got := importance(8); got < before {
					t.Errorf("importance %v after an expiry, was %v", got, before)
				}
				l.Remove(8, policy.Purged)
				back.ID = 9
				l.Insert(back, policy.Tick{Seq: 22}, nil)
				if got := importance(9); got > 2 {
					t.Errorf("importance %v after a purge, want that of a new entry", got)
				}
			})
		}
	}
}

// TestReplacementChangesTheWorth: another entry is the victim after an answer has become large.
func TestReplacementChangesTheWorth(t *testing.T) {
	for _, name := range []string{"haz", "rac:admission=paper", "rac:lambda=0"} {
		e := named(t, name, policy.Options{Capacity: 4, Bytes: true})
		for id := policy.ID(1); id <= 4; id++ {
			e.Insert(policy.Item{ID: id, Topic: 1, Size: 100, Cost: 10}, policy.Tick{Seq: 1})
		}
		e.(policy.Replacer).Replace(policy.Item{ID: 3, Topic: 1, Size: 1e6, Cost: 10}, policy.Tick{Seq: 2})
		policytest.WantVictim(t, e, 3, true)
	}
}

func named(t *testing.T, name string, o policy.Options) policy.Evictor {
	t.Helper()
	e, err := New(name, o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
