package policy

import (
	"fmt"
	"math"
)

// snapshot appends the capacity and the weights with their sums of squares.
func (h *HAZ) snapshot(b []byte) []byte {
	b = appendFloats(b, float64(h.capacity), float64(h.model.bias), float64(h.model.biasG))
	for i := range hazFeatures {
		for k := range hazBuckets {
			b = appendFloats(b, float64(h.model.weight[i][k]), float64(h.model.square[i][k]))
		}
	}
	return b
}

// parse reads weights. Features are relative to the capacity and rates are not, so the bias moves with it.
func (h *HAZ) parse(b []byte) (apply func(), err error) {
	r := &snapshotReader{left: b}
	m := hazModel{rate: h.model.rate}
	capacity := r.float()
	bias, square := r.float(), r.float()
	bad := !(capacity >= 1) || square < 0
	m.bias, m.biasG = float32(bias+math.Log(capacity/float64(h.capacity))), float32(square)
	for i := range hazFeatures {
		for k := range hazBuckets {
			w, g := r.float(), r.float()
			bad = bad || math.Abs(w) > 1e4 || g < 0
			m.weight[i][k], m.square[i][k] = float32(w), float32(g)
		}
	}
	if bad || r.bad || len(r.left) > 0 || math.Abs(bias) > 1e4 {
		return nil, fmt.Errorf("%w: haz is damaged", ErrSnapshot)
	}
	return func() { h.model = m }, nil
}
