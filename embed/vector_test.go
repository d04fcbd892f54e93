package embed

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

func TestDotAgainstPlainLoop(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for n := range 70 {
		a, b := make([]float32, n), make([]float32, n)
		var want float64
		for i := range n {
			a[i], b[i] = rng.Float32()-0.5, rng.Float32()-0.5
			want += float64(a[i]) * float64(b[i])
		}
		if got := float64(Dot(a, b)); math.Abs(got-want) > 1e-5 {
			t.Errorf("%d dimensions: %g, want %g", n, got, want)
		}
	}
}

func TestDotOfDifferentLengths(t *testing.T) {
	if got := Dot([]float32{1, 0}, []float32{1, 0, 0}); got != 0 {
		t.Errorf("unequal lengths: %g", got)
	}
	if got := Dot(nil, nil); got != 0 {
		t.Errorf("nil: %g", got)
	}
}

func TestNormalizeAndCheck(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		name string
		v    []float32
		ok   bool
	}{
		{"plain", []float32{3, 4}, true},
		{"tiny", []float32{1e-40, 1e-40}, true},
		{"huge", []float32{3e38, -3e38}, true},
		{"zero", []float32{0, 0}, false},
		{"NaN", []float32{1, nan}, false},
		{"infinite", []float32{inf, 1}, false},
		{"empty", nil, false},
	} {
		if got := Normalize(c.v); got != c.ok {
			t.Errorf("Normalize of %s: %v", c.name, got)
		}
		if err := Check(c.v, 2); (err == nil) != c.ok || err != nil && !errors.Is(err, ErrVector) {
			t.Errorf("Check of %s: %v", c.name, err)
		}
	}
	if Check([]float32{0.6, 0.8}, 3) == nil || Check([]float32{3, 4}, 2) == nil {
		t.Error("Check accepts a vector of another length")
	}
}

func BenchmarkDot384(b *testing.B) {
	v := make([]float32, 384)
	for b.Loop() {
		Dot(v, v)
	}
}
