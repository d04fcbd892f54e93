package policies

import (
	"math/rand/v2"
	"slices"
	"testing"

	"reprise/internal/policytest"
	"reprise/policy"
	"reprise/policy/registry"
)

// own returns the policies that only replays have. The tests of package registry run those that serve.
func own() []string {
	return slices.DeleteFunc(All.Names(), func(name string) bool { return slices.Contains(registry.Names(), name) })
}

// TestServingAreReplayed: replays have every policy that serves, and the registry knows the names of all others.
func TestServingAreReplayed(t *testing.T) {
	for _, name := range registry.Names() {
		if err := Check(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range own() {
		if !registry.Replayed(name) {
			t.Errorf("package registry does not know %s", name)
		}
	}
}

// TestEvictors plays random calls through policies that only replays have, with parameters that leave no room in one queue or another: each
// names residents alone, and every resident in the end. The tests of package registry ask more of those that serve; for these, replays add
// up their books, and the block cache of package blocks is compared with a model under each.
func TestEvictors(t *testing.T) {
	r := rand.New(rand.NewPCG(77, 1))
	for range 60 {
		script := make([]byte, 300+r.IntN(600))
		for i := range script {
			script[i] = byte(r.Uint32())
		}
		for _, name := range append(own(), "2q:in=0,out=0", "2q:in=9C", "lhd:form=stock") {
			for _, o := range []policy.Options{{Capacity: 1}, {Capacity: 4, Bytes: true, Seed: 3}, {Capacity: 9}} {
				e, err := New(name, o)
				if err != nil {
					t.Fatal(err)
				}
				policytest.PlayBytes(t, name, e, script, nil)
			}
		}
	}
}
