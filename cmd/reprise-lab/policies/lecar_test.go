package policies

import (
	"math"
	"testing"

	"reprise/internal/policytest"
	"reprise/policy"
)

// TestLeCaRNeverGivesUpAnExpert: a weight of 0 could not rise again.
func TestLeCaRNeverGivesUpAnExpert(t *testing.T) {
	l := newLeCaR(8, 100, 1)
	for i := range 9 {
		l.past[byAge].Add(7, int64(i))
		l.learn(7)
	}
	if w := l.weights[byAge]; !(w >= 1e-10) || w > 1e-9 {
		t.Errorf("weight %v after nothing but mistakes, want 1e-10", w)
	}
}

// TestLeCaRWhenTimeRunsBackwards: a mistake that shows before it was made is one made just now, and no weight is lost.
func TestLeCaRWhenTimeRunsBackwards(t *testing.T) {
	for _, lr := range []float64{0, 0.45} {
		l := newLeCaR(8, lr, 1)
		l.past[byAge].Add(7, 1<<40)
		l.Insert(policy.Item{ID: 1, Key: 7}, policy.Tick{Seq: 1})
		was := math.Exp(-lr)
		if want := was / (1 + was); math.Abs(l.weights[byAge]-want) > 1e-9 {
			t.Errorf("rate %v: weight %v, want %v", lr, l.weights[byAge], want)
		}
	}
}

// TestLeCaRLearns evicts what the experts do not agree on, and lets it return after 5 requests.
func TestLeCaRLearns(t *testing.T) {
	for _, c := range []struct {
		name   string
		by     adviser
		victim policy.ID
		why    policy.Reason
		loss   float64 // of the weight of by, 1 is none
	}{
		{"LRU was wrong", byAge, 1, policy.Evicted, math.Exp(-0.45 * math.Pow(0.005, 5.0/8))},
		{"LFU was wrong", byCount, 2, policy.Evicted, math.Exp(-0.45 * math.Pow(0.005, 5.0/8))},
		{"a purge is no mistake", byAge, 1, policy.Purged, 1},
		{"an expiry is no mistake", byAge, 1, policy.Expired, 1},
	} {
		l := newLeCaR(8, 0.45, 1)
		l.weights = [2]float64{}
		l.weights[c.by] = 1
		for _, id := range []policy.ID{1, 2} {
			l.Insert(policy.Item{ID: id}, policy.Tick{Seq: 1})
		}
		for _, id := range []policy.ID{1, 1, 2} { // 1 is the oldest, 2 has the lower count
			l.Hit(id, policy.Tick{Seq: 2})
		}
		if c.why == policy.Evicted {
			policytest.WantVictim(t, l, c.victim, true)
		}
		l.Remove(c.victim, c.why)
		l.weights = [2]float64{0.5, 0.5}
		l.Insert(policy.Item{ID: 9, Key: uint64(c.victim)}, policy.Tick{Seq: 7})
		if want := 0.5 * c.loss / (0.5 + 0.5*c.loss); math.Abs(l.weights[c.by]-want) > 1e-8 {
			t.Errorf("%s: weight %v, want %v", c.name, l.weights[c.by], want)
		}
		if sum := l.weights[0] + l.weights[1]; math.Abs(sum-1) > 1e-8 {
			t.Errorf("%s: the weights sum up to %v", c.name, sum)
		}
	}
}
