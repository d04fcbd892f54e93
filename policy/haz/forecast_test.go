package haz

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"reprise/internal/policytest"
	"reprise/policy"
)

// crowd is a policy of so many residents after as many requests again.
func crowd(n int) *haz {
	h := newHAZ(n, 8, 0, 1)
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
	next := policytest.Forecast(h, len(all))
	for i, id := range next {
		e, _ := h.find(id)
		if got, want := h.rated(e).score, h.rated(all[i]).score; got != want {
			t.Fatalf("score %d is %v, want %v", i, got, want)
		}
	}
	victim, _ := h.Victim()
	e, _ := h.find(victim)
	if first, _ := h.find(next[0]); len(next) != len(all) || h.rated(e).score < h.rated(first).score {
		t.Errorf("%d of %d; the victim scores %v, the first %v", len(next), len(all), h.rated(e).score, h.rated(first).score)
	}
}

// TestForecastSays: what is used often returns sooner, in numbers without an exponent.
func TestForecastSays(t *testing.T) {
	for x, want := range map[float64]string{0.5: "0.5", 7.126: "7.13", 999.4: "999", 1234: "1230", 123456789: "123000000"} {
		if got := rounded(x); got != want {
			t.Errorf("%v is %s, want %s", x, got, want)
		}
	}
	h := newHAZ(1000, 8, 0, 1)
	h.Insert(policy.Item{ID: 1, Topic: 1}, policy.Tick{Seq: 1})
	h.Insert(policy.Item{ID: 2, Topic: 2}, policy.Tick{Seq: 2})
	for seq := range int64(10) {
		h.Hit(2, policy.Tick{Seq: 3 + seq})
	}
	var some [3]float64
	var ago [3]int
	for id := 1; id <= 2; id++ {
		if _, err := fmt.Sscanf(h.Why(policy.ID(id)), "expected return: a use in some %g requests; last used %d requests ago", &some[id], &ago[id]); err != nil {
			t.Errorf("%q: %v", h.Why(policy.ID(id)), err)
		}
	}
	if some[1] <= some[2] || ago[1] != 11 || ago[2] != 0 || h.Why(3) != "" {
		t.Errorf("in %v requests, used %v ago; %q", some, ago, h.Why(3))
	}
}

// BenchmarkForecast is a call, which looks at ForecastStep residents of 100,000.
func BenchmarkForecast(b *testing.B) {
	h := crowd(100_000)
	for b.Loop() {
		h.Forecast(policy.NewForecast(20), policy.ForecastStep)
	}
}
