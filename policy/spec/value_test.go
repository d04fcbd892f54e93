package spec

import (
	"math"
	"testing"

	"reprise/policy"
)

func TestValue(t *testing.T) {
	for _, c := range []struct {
		value    string
		bytes    bool
		it       policy.Item
		of, gain float64
	}{
		{"auto", false, policy.Item{Cost: 6, Size: 3}, 1, 1},
		{"auto", true, policy.Item{Cost: 6, Size: 3}, 2, 6},
		{"hits", false, policy.Item{Cost: 6, Size: 4}, 1, 1},
		{"hits", true, policy.Item{Cost: 6, Size: 4}, 0.25, 1},
		{"tokens", false, policy.Item{Cost: 6, Size: 3}, 6, 6},
		{"tokens", true, policy.Item{Cost: 6, Size: 3}, 2, 6},
		{"hits/byte", false, policy.Item{Cost: 6, Size: 4}, 0.25, 1},
		{"hits/byte", true, policy.Item{Cost: 6, Size: 4}, 0.25, 1},
		{"tokens/byte", false, policy.Item{Cost: 6, Size: 3}, 2, 6},
		{"tokens/byte", true, policy.Item{Cost: 6, Size: 3}, 2, 6},
		{"tokens/byte", false, policy.Item{}, 1, 1}, // no cost counts as 1, no size as 1
		{"tokens/byte", false, policy.Item{Size: 4}, 0.25, 1},
		{"tokens", false, policy.Item{Cost: -6}, 1, 1},
		{"tokens", false, policy.Item{Cost: math.NaN()}, 1, 1},
		{"tokens", false, policy.Item{Cost: math.Inf(1)}, 1e30, math.Inf(1)},
		{"tokens/byte", false, policy.Item{Cost: 1e-300, Size: -1}, 1e-30, 1e-300},
	} {
		s := Spec{Name: "test", Params: []policy.Param{ValueParam}}
		a, err := s.Args(policy.Options{Capacity: 1, Bytes: c.bytes}, "value="+c.value)
		if err != nil {
			t.Fatal(err)
		}
		if of, gain := a.Value().Of(c.it), a.Value().Gain(c.it); of != c.of || gain != c.gain {
			t.Errorf("%s, bytes %v, %+v: value %v, gain %v; want %v, %v", c.value, c.bytes, c.it, of, gain, c.of, c.gain)
		}
	}
}

// TestValueOfPoliciesWithoutIt has the objective that they are judged by: that of auto.
func TestValueOfPoliciesWithoutIt(t *testing.T) {
	s := Spec{Name: "test"}
	for _, c := range []struct {
		bytes bool
		want  Value
	}{{false, Hits}, {true, TokensPerByte}} {
		a, err := s.Args(policy.Options{Capacity: 1, Bytes: c.bytes}, "")
		if err != nil || a.Value() != c.want {
			t.Errorf("bytes %v: %v, %v; want %v", c.bytes, a.Value(), err, c.want)
		}
	}
}
