package policy

import (
	"math"
	"testing"
)

func TestWorth(t *testing.T) {
	for _, c := range []struct {
		value string
		bytes bool
		it    Item
		want  float64
	}{
		{"auto", false, Item{Cost: 6, Size: 3}, 1},
		{"auto", true, Item{Cost: 6, Size: 3}, 2},
		{"hits", true, Item{Cost: 6, Size: 3}, 1},
		{"tokens", true, Item{Cost: 6, Size: 3}, 6},
		{"tokens/byte", false, Item{Cost: 6, Size: 3}, 2},
		{"tokens/byte", false, Item{}, 1}, // no cost counts as 1, no size as 1
		{"tokens/byte", false, Item{Size: 4}, 0.25},
		{"tokens", false, Item{Cost: -6}, 1},
		{"tokens", false, Item{Cost: math.NaN()}, 1},
		{"tokens", false, Item{Cost: math.Inf(1)}, 1e30},
		{"tokens/byte", false, Item{Cost: 1e-300, Size: -1}, 1e-30},
	} {
		s := spec{name: "test", params: []Param{worthParam}}
		a, err := s.args(Options{Capacity: 1, Bytes: c.bytes}, "value="+c.value)
		if err != nil {
			t.Fatal(err)
		}
		if got := worth(a.worthMode(), c.it); got != c.want {
			t.Errorf("%s, bytes %v, %+v: %v, want %v", c.value, c.bytes, c.it, got, c.want)
		}
	}
}
