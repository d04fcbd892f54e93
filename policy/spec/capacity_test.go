package spec

import "testing"

// TestNothingLeftIsNoCapacity: an eviction that empties the cache means that an item was large, not that none fits.
func TestNothingLeftIsNoCapacity(t *testing.T) {
	c := Capacity{Given: 8, N: 4, Bytes: true}
	if c.Evicted(0) || c.N != 4 || c.Of(6) != 3 {
		t.Errorf("%d entries fit, %d of 6", c.N, c.Of(6))
	}
}
