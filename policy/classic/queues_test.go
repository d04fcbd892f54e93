package classic

import (
	"testing"

	"reprise/internal/policytest"
	"reprise/policy"
)

// TestQueuePoliciesAtTheirLimits plays random calls with parameters that leave no room in one queue or another.
func TestQueuePoliciesAtTheirLimits(t *testing.T) {
	policytest.PlayLimits(t, specs.New, "s3fifo:small=0,ghost=0,threshold=1", "s3fifo:small=9C",
		"w-tinylfu:window=0", "w-tinylfu:window=5C", "w-tinylfu:form=exact,age=20",
		"w-tinylfu-libcachesim:window=2", "w-tinylfu-libcachesim:counts=exact,window=9C",
		"lirs:hir=0,stack=0", "lirs:hir=0.5C,stack=3C", "lirs:hir=9C")
}

func TestWrongEstimatesOfTheCapacity(t *testing.T) {
	none := func(policy.Evictor) int { return 0 }
	policytest.CheckEstimates(t, specs.New, "s3fifo", func(e policy.Evictor) int { return e.(*S3FIFO).ghosts.Len() })
	policytest.CheckEstimates(t, specs.New, "w-tinylfu", none)
	policytest.CheckEstimates(t, specs.New, "w-tinylfu:form=exact", none)
	policytest.CheckEstimates(t, specs.New, "lirs", func(e policy.Evictor) int { return e.(*LIRS).oldest.Len })
}

func TestPurgesDoNotChangeTheCapacity(t *testing.T) {
	policytest.CheckPurges(t, specs.New, "s3fifo", func(e policy.Evictor) int { return e.(*S3FIFO).size.N })
	policytest.CheckPurges(t, specs.New, "w-tinylfu", func(e policy.Evictor) int { return e.(*TinyLFU).size.N })
	policytest.CheckPurges(t, specs.New, "lirs", func(e policy.Evictor) int { return e.(*LIRS).size.N })
}
