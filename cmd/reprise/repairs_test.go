package main

import (
	"testing"

	"reprise/policy"
	"reprise/store"
)

// TestDoubled: the capacity that is reached first is the one to raise, as far as the start allows.
func TestDoubled(t *testing.T) {
	for _, c := range []struct {
		now  policy.Limit
		st   store.Stats
		most int64
		want string
	}{
		{policy.Limit{Entries: 60, Bytes: 1 << 30}, store.Stats{Entries: 60, Bytes: 1 << 20}, 1 << 31, "REPRISE_CAPACITY_ENTRIES=120"},
		{policy.Limit{Entries: mostEntries - 1, Bytes: 1 << 30}, store.Stats{Entries: 60}, 0, "REPRISE_CAPACITY_ENTRIES=100000000"},
		{policy.Limit{Entries: mostEntries, Bytes: 1 << 30}, store.Stats{Entries: 60}, 0, ""},
		{policy.Limit{Entries: 100, Bytes: 1 << 20}, store.Stats{Entries: 10, Bytes: 1 << 20}, 0, "REPRISE_CAPACITY_BYTES=2097152"},
		{policy.Limit{Entries: 100, Bytes: 1 << 20}, store.Stats{Entries: 10, Bytes: 1 << 20}, 1<<20 + 1, "REPRISE_CAPACITY_BYTES=1048577"},
		{policy.Limit{Entries: 100, Bytes: 1 << 20}, store.Stats{Entries: 10, Bytes: 1 << 20}, 1 << 20, ""},
	} {
		if got := doubled(c.now, c.st, c.most); got != c.want {
			t.Errorf("%+v, used %d and %d, at most %d: %q, not %q", c.now, c.st.Entries, c.st.Bytes, c.most, got, c.want)
		}
	}
}
