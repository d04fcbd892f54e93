package policy

import (
	"math"
	"testing"
)

func TestValue(t *testing.T) {
	for _, c := range []struct {
		value    string
		bytes    bool
		it       Item
		of, gain float64
	}{
		{"auto", false, Item{Cost: 6, Size: 3}, 1, 1},
		{"auto", true, Item{Cost: 6, Size: 3}, 2, 6},
		{"hits", false, Item{Cost: 6, Size: 4}, 1, 1},
		{"hits", true, Item{Cost: 6, Size: 4}, 0.25, 1},
		{"tokens", false, Item{Cost: 6, Size: 3}, 6, 6},
		{"tokens", true, Item{Cost: 6, Size: 3}, 2, 6},
		{"hits/byte", false, Item{Cost: 6, Size: 4}, 0.25, 1},
		{"hits/byte", true, Item{Cost: 6, Size: 4}, 0.25, 1},
		{"tokens/byte", false, Item{Cost: 6, Size: 3}, 2, 6},
		{"tokens/byte", true, Item{Cost: 6, Size: 3}, 2, 6},
		{"tokens/byte", false, Item{}, 1, 1}, // no cost counts as 1, no size as 1
		{"tokens/byte", false, Item{Size: 4}, 0.25, 1},
		{"tokens", false, Item{Cost: -6}, 1, 1},
		{"tokens", false, Item{Cost: math.NaN()}, 1, 1},
		{"tokens", false, Item{Cost: math.Inf(1)}, 1e30, math.Inf(1)},
		{"tokens/byte", false, Item{Cost: 1e-300, Size: -1}, 1e-30, 1e-300},
	} {
		s := Spec{Name: "test", Params: []Param{ValueParam}}
		a, err := s.Args(Options{Capacity: 1, Bytes: c.bytes}, "value="+c.value)
		if err != nil {
			t.Fatal(err)
		}
		if of, gain := a.Value().Of(c.it), a.Value().gain(c.it); of != c.of || gain != c.gain {
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
		a, err := s.Args(Options{Capacity: 1, Bytes: c.bytes}, "")
		if err != nil || a.Value() != c.want {
			t.Errorf("bytes %v: %v, %v; want %v", c.bytes, a.Value(), err, c.want)
		}
	}
}

// TestNothingLeftIsNoCapacity: an eviction that empties the cache means that an item was large, not that none fits.
func TestNothingLeftIsNoCapacity(t *testing.T) {
	c := Capacity{Given: 8, N: 4, Bytes: true}
	if c.Evicted(0) || c.N != 4 || c.Of(6) != 3 {
		t.Errorf("%d entries fit, %d of 6", c.N, c.Of(6))
	}
}
