package store

import (
	"math"
	"math/rand/v2"
	"testing"

	"reprise/embed"
)

// stored is a vector as a shared store returns it, and its bytes without the mark.
func stored(tb testing.TB, v []float32) (out []float32, size int) {
	c := codec{}
	sparse := c.vector(&v, false, "")
	if err := decode("vector", c.b, func(c *codec) { c.vector(&out, sparse, "") }); err != nil {
		tb.Fatal(err)
	}
	return out, len(c.b) - 8
}

// TestHalvesKeepDots: a number is off by at most 2^-11 of itself, and so is the length, and so is a dot product of unit vectors at most by twice
// that; in fact by much less, since the errors of many numbers cancel out.
func TestHalvesKeepDots(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	const pairs, bound, usual = 2000, 2 * 0x1p-11, 5e-5
	var sum float64
	for range pairs {
		a, b := make([]float32, 384), make([]float32, 384)
		zeros := rng.Float64()
		for i := range a {
			if a[i] = float32(rng.NormFloat64()); rng.Float64() < zeros {
				a[i] = 0
			}
			b[i] = a[i] + float32(rng.NormFloat64())/4
		}
		a[0] = 1
		embed.Normalize(a)
		embed.Normalize(b)
		got, size := stored(t, a)
		if size > 2+2*len(a) {
			t.Fatalf("%d bytes", size)
		}
		if err := embed.Check(got, len(a)); err != nil {
			t.Fatal(err)
		}
		off := math.Abs(float64(embed.Dot(got, b) - embed.Dot(a, b)))
		if off > bound {
			t.Fatalf("off by %g", off)
		}
		sum += off * off
	}
	if rms := math.Sqrt(sum / pairs); rms > usual {
		t.Errorf("off by %g in the root mean square, want at most %g", rms, usual)
	}
}
