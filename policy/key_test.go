package policy

import "testing"

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
