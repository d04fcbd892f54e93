package embed

import (
	"context"
	"strings"
	"testing"
)

const prompt18 = "Could you please explain to me how the garbage collector of Go decides when it should start running?"

func embedOne(t testing.TB, text string) []float32 {
	t.Helper()
	v, err := NewBuiltin().Embed(context.Background(), []string{text})
	if err != nil {
		t.Fatal(err)
	}
	return v[0]
}

func BenchmarkBuiltin(b *testing.B) {
	texts := []string{prompt18}
	e := NewBuiltin()
	b.ReportAllocs()
	for b.Loop() {
		e.Embed(b.Context(), texts)
	}
}

func BenchmarkBuiltinLongest(b *testing.B) {
	texts := []string{strings.Repeat(prompt18+" ", MaxText)[:MaxText]}
	e := NewBuiltin()
	for b.Loop() {
		e.Embed(b.Context(), texts)
	}
}
