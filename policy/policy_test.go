package policy

import (
	"fmt"
	"testing"
)

func TestReasonsHaveNames(t *testing.T) {
	if got := fmt.Sprint(Evicted, Expired, Purged, Reason(9)); got != "evicted expired purged reason 9" {
		t.Error(got)
	}
}

// TestKeyOf: one id in two scopes is two answers, and without a scope it is itself.
func TestKeyOf(t *testing.T) {
	seen := map[uint64]bool{}
	for id := range uint64(50) {
		if KeyOf(id, 0) != id {
			t.Errorf("key of %d alone is %d", id, KeyOf(id, 0))
		}
		for scope := range uint64(50) {
			seen[KeyOf(id, scope)] = true
		}
	}
	if len(seen) != 2500 {
		t.Errorf("%d keys of 2500", len(seen))
	}
}
