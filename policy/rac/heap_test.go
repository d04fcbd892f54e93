package rac

import (
	"math"
	"testing"

	"reprise/internal/policytest"
	"reprise/policy"
)

// TestMassesOfFarTimes decays more bits at once than a whole number has: what is older still goes first.
func TestMassesOfFarTimes(t *testing.T) {
	r := New(Options{Alpha: 1e6})
	for i, seq := range []int64{1, 1 << 40, 1 << 55, 1 << 61} {
		r.Insert(policy.Item{ID: policy.ID(i + 1), Topic: policy.TopicID(i + 1)}, policy.Tick{Seq: seq})
	}
	if got := policytest.Drain(r); got != "[1 2 3 4]" {
		t.Errorf("victims %s, want the older first", got)
	}
}

// TestMassesComeBackFromTheirLogarithm: what was kept as one ties with what was counted.
func TestMassesComeBackFromTheirLogarithm(t *testing.T) {
	for n := 1.0; n <= 1000; n++ {
		if got, want := scale(1, 0).timesExp2(math.Log2(n)), scale(n, 0); got != want {
			t.Errorf("%v requests came back as %+v, want %+v", n, got, want)
		}
	}
}
