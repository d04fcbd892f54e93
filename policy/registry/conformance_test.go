package registry

import (
	"testing"

	"reprise/internal/policytest"
)

func TestEvictors(t *testing.T) { policytest.Conform(t, New, Names()) }

// TestReadersRunTogether is line 25 of the list in SECURITY.md.
func TestReadersRunTogether(t *testing.T) {
	policytest.ReadTogether(t, New, append(Names(), "rac:alpha=1", "rac+:sample=100"))
}

func TestCapacityReservesNothing(t *testing.T) {
	policytest.ReservesNothing(t, New, append(Names(), "w-tinylfu:form=exact"))
}

func TestObjectives(t *testing.T) {
	policytest.CheckObjectives(t, New, []string{"gdsf", "rac", "haz", "rac+"})
}
