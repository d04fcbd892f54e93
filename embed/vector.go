package embed

import (
	"errors"
	"fmt"
	"math"

	"github.com/viterin/vek/vek32"
)

// ErrVector is wrapped by every error of Check.
var ErrVector = errors.New("bad vector")

// Dot is the inner product, which is the cosine of two unit vectors; some 15 ns at 384 dimensions with AVX2. It is 0 for
// vectors of different lengths, which belong to different spaces, and for an empty or nil vector. The last bits depend on
// the processor, so no gate may require equality.
func Dot(a, b []float32) float32 {
	if len(a) != len(b) || len(a) == 0 {
		return 0
	}
	return vek32.Dot(a, b)
}

// Normalize scales v to length 1 in place. It reports false, and leaves v unchanged, where v has no direction: an empty or
// zero vector, or one with a NaN or an infinity.
func Normalize(v []float32) bool {
	n := norm(v)
	if n == 0 || math.IsNaN(n) || math.IsInf(n, 0) {
		return false
	}
	for i, x := range v {
		v[i] = float32(float64(x) / n)
	}
	return true
}

// Check returns nil for a unit vector of dim numbers, otherwise an error that wraps ErrVector. Vectors from an embedder or a
// file are checked once, where they enter.
func Check(v []float32, dim int) error {
	if len(v) != dim {
		return fmt.Errorf("%w: %d dimensions, want %d", ErrVector, len(v), dim)
	}
	if n := norm(v); !(math.Abs(n-1) < 1e-3) {
		return fmt.Errorf("%w: length %g, want 1", ErrVector, n)
	}
	return nil
}

// norm sums in float64 and in order, so that the result neither overflows nor depends on the processor.
func norm(v []float32) float64 {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}
