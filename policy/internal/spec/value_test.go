package spec

import (
	"math"
	"testing"

	"reprise/policy"
)

func TestWorth(t *testing.T) {
	for _, c := range []struct {
		value string
		bytes bool
		it    policy.Item
		want  float64
	}{
		{"auto", false, policy.Item{Cost: 6, Size: 3}, 1},
		{"auto", true, policy.Item{Cost: 6, Size: 3}, 2},
		{"hits", true, policy.Item{Cost: 6, Size: 3}, 1},
		{"tokens", true, policy.Item{Cost: 6, Size: 3}, 6},
		{"tokens/byte", false, policy.Item{Cost: 6, Size: 3}, 2},
		{"tokens/byte", false, policy.Item{}, 1}, // no cost counts as 1, no size as 1
		{"tokens/byte", false, policy.Item{Size: 4}, 0.25},
		{"tokens", false, policy.Item{Cost: -6}, 1},
		{"tokens", false, policy.Item{Cost: math.NaN()}, 1},
		{"tokens", false, policy.Item{Cost: math.Inf(1)}, 1e30},
		{"tokens/byte", false, policy.Item{Cost: 1e-300, Size: -1}, 1e-30},
	} {
		s := Spec{Name: "test", Params: []policy.Param{ValueParam}}
		a, err := s.Args(policy.Options{Capacity: 1, Bytes: c.bytes}, "value="+c.value)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Value().Of(c.it); got != c.want {
			t.Errorf("%s, bytes %v, %+v: %v, want %v", c.value, c.bytes, c.it, got, c.want)
		}
	}
}
