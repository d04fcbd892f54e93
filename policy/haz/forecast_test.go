package haz

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"reprise/policy"
	"reprise/policy/internal/policytest"
)

// crowd is a policy of so many residents after as many requests again.
func crowd(n int) *Policy {
	h := newPolicy(n, 8, 0, 0.1, 1)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		h.Insert(policy.Item{ID: policy.ID(i + 1), Topic: policy.TopicID(1 + i%100)}, policy.Tick{Seq: int64(i + 1)})
	}
	for i := range n {
		h.Hit(policy.ID(1+min(r.IntN(n), r.IntN(n))), policy.Tick{Seq: int64(n + i + 1)})
	}
	return h
}

// TestForecastIsTheLeastOfAll: in slices, and against the scores of all.
func TestForecastIsTheLeastOfAll(t *testing.T) {
	h := crowd(2*policy.ForecastStep + 7)
	all := slices.Clone(h.residents)
	slices.SortStableFunc(all, func(a, b uint32) int { return cmp.Compare(h.rated(a).score, h.rated(b).score) })
	next := policytest.Forecast(h, 100)
	for i, id := range next {
		e, _ := h.find(id)
		if got, want := h.rated(e).score, h.rated(all[i]).score; got != want {
			t.Fatalf("score %d is %v, want %v", i, got, want)
		}
	}
	victim, _ := h.Victim()
	e, _ := h.find(victim)
	if first, _ := h.find(next[0]); len(next) != 100 || h.rated(e).score < h.rated(first).score {
		t.Errorf("%d of 100; the victim scores %v, the first %v", len(next), h.rated(e).score, h.rated(first).score)
	}
}

// BenchmarkForecast is a call, which looks at ForecastStep residents of 100,000.
func BenchmarkForecast(b *testing.B) {
	h := crowd(100_000)
	for b.Loop() {
		h.Forecast(policy.NewForecast(20), policy.ForecastStep)
	}
}
