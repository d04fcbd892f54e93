package policies

import (
	"testing"

	"reprise/internal/policytest"
	"reprise/policy"
)

// TestQueuePoliciesAtTheirLimits plays random calls with parameters that leave no room in one queue or another.
func TestQueuePoliciesAtTheirLimits(t *testing.T) {
	policytest.PlayLimits(t, New, "2q:in=0,out=0", "2q:in=9C", "arc")
}

func TestWrongEstimatesOfTheCapacity(t *testing.T) {
	policytest.CheckEstimates(t, New, "2q", func(e policy.Evictor) int { return e.(*TwoQ).out.Len() })
	policytest.CheckEstimates(t, New, "arc", func(e policy.Evictor) int { return e.(*ARC).b1.Len() + e.(*ARC).b2.Len() })
}

func TestPurgesDoNotChangeTheCapacity(t *testing.T) {
	policytest.CheckPurges(t, New, "2q", func(e policy.Evictor) int { return e.(*TwoQ).size.N })
	policytest.CheckPurges(t, New, "arc", func(e policy.Evictor) int { return e.(*ARC).c.N })
}
