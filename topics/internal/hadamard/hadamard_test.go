package hadamard

import (
	"math"
	"math/bits"
	"math/rand"
	"testing"
)

// TestTransform compares the transform with its definition.
func TestTransform(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	var x, want [Len]float32
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	for i := range want {
		var sum float64
		for j := range x {
			if bits.OnesCount(uint(i&j))%2 == 0 {
				sum += float64(x[j])
			} else {
				sum -= float64(x[j])
			}
		}
		want[i] = float32(sum)
	}
	Transform(&x)
	for i := range x {
		if math.Abs(float64(x[i]-want[i])) > 1e-3 {
			t.Fatalf("coefficient %d is %v, want %v", i, x[i], want[i])
		}
	}
}

// TestFormsAgree: every form gives the same bits, for numbers of all sizes, among them zeros of both signs, and pairs of which the sum is 0.
func TestFormsAgree(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for range 2000 {
		var x [Len]float32
		for i := range x {
			switch rng.Intn(4) {
			case 0:
				x[i] = float32(math.Copysign(0, rng.NormFloat64()))
			case 1:
				x[i] = float32(rng.Intn(3) - 1)
			case 2:
				x[i] = float32(rng.NormFloat64() * math.Exp2(float64(rng.Intn(60)-30)))
			default:
				x[i] = -x[max(i-1<<rng.Intn(9), 0)]
			}
		}
		y := x
		Transform(&x)
		transformGo(&y)
		for i := range x {
			if math.Float32bits(x[i]) != math.Float32bits(y[i]) {
				t.Fatalf("coefficient %d is %v, in Go %v", i, x[i], y[i])
			}
		}
	}
}

func BenchmarkTransform(b *testing.B) {
	for name, f := range map[string]func(*[Len]float32){"fastest": Transform, "Go": transformGo} {
		b.Run(name, func(b *testing.B) {
			x := [Len]float32{1}
			for b.Loop() {
				f(&x)
				x = [Len]float32{1}
			}
		})
	}
}
