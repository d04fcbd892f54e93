package policies

import (
	"slices"
	"testing"

	"reprise/internal/policytest"
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

func TestEvictors(t *testing.T) { policytest.Conform(t, New, own()) }

func TestCapacityReservesNothing(t *testing.T) {
	policytest.ReservesNothing(t, New, append(own(), "lhd:form=stock"))
}

func TestObjectives(t *testing.T) {
	policytest.CheckObjectives(t, New, []string{"gdfs", "rac-no-tp", "rac-no-tsi"})
}
