package store

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"reprise/embed"
	"reprise/internal/dataset"
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

// bytesOf is v with 8 bits a number and one scale, as halves with zeros left out where that is shorter, and its bytes.
func bytesOf(v []float32) ([]float32, int) {
	var most float32
	some := 0
	for _, f := range v {
		most = max(most, f, -f)
		if f != 0 {
			some++
		}
	}
	out, step := make([]float32, len(v)), most/127
	for i, f := range v {
		out[i] = float32(math.RoundToEven(float64(f/step))) * step
	}
	return out, 6 + min(len(v), some+(len(v)+7)/8)
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

// BenchmarkHalves prints what stored vectors change at the gates: those of real questions below the folder that REPRISE_DATA names. Queries keep
// their numbers, as in a process that embeds them.
func BenchmarkHalves(b *testing.B) {
	dir := os.Getenv("REPRISE_DATA")
	if dir == "" {
		b.Skip("REPRISE_DATA names no folder of texts")
	}
	entries, queries := questionVectors(b, dir, 40_000, 6000)
	forms := []struct {
		name string
		of   func([]float32) ([]float32, int)
		unit bool
	}{
		{"halves", func(v []float32) ([]float32, int) { return stored(b, v) }, true},
		{"halves, not scaled again", func(v []float32) ([]float32, int) { return plainHalves(v), 0 }, false},
		{"8 bits", bytesOf, true},
		{"8 bits, not scaled again", bytesOf, false},
	}
	for _, f := range forms {
		b.Run(f.name, func(b *testing.B) {
			var all float64
			kept := make([][]float32, len(entries))
			for i, v := range entries {
				var size int
				kept[i], size = f.of(v)
				if all += float64(size); f.unit {
					embed.Normalize(kept[i])
				}
			}
			var a agreement
			for range b.N {
				a = agreement{}
				for _, q := range queries {
					a.add(q, entries, kept)
				}
			}
			a.report(b, f.name)
			b.ReportMetric(all/float64(len(entries)), "B/vector")
		})
	}
}

func plainHalves(v []float32) []float32 {
	out := make([]float32, len(v))
	for i, f := range v {
		out[i] = single(half(f))
	}
	return out
}

// questionVectors are vectors of distinct texts of users.
func questionVectors(b *testing.B, dir string, entries, queries int) (_, _ [][]float32) {
	var texts []string
	seen := map[string]bool{}
	err := dataset.UserTexts(dir, func(s string) {
		if n := strings.Count(s, " "); n >= 2 && n <= 60 && !seen[s] {
			seen[s] = true
			texts = append(texts, s)
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	rng.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
	vectors, err := embed.NewBuiltin().Embed(context.Background(), texts[:min(len(texts), entries+queries+1000)])
	if err != nil {
		b.Fatal(err)
	}
	var all [][]float32
	for _, v := range vectors {
		if v != nil {
			all = append(all, v)
		}
	}
	return all[:entries], all[entries : entries+queries]
}

// gate counts what is over a gate, and what goes below it or comes above it.
type gate struct{ over, gone, new int }

func (g *gate) add(before, after float32, at float64) {
	was, is := before >= float32(at), after >= float32(at)
	switch {
	case was && !is:
		g.gone++
	case !was && is:
		g.new++
	}
	if was {
		g.over++
	}
}

// agreement compares the neighbours of queries among vectors with those among the same vectors as stored.
type agreement struct {
	pairs, first struct{ hit, route gate } // of all pairs, and of queries with their nearest
	other        int                       // queries over the route gate whose nearest is another
}

func (a *agreement) add(q []float32, exact, kept [][]float32) {
	gates := embed.NewBuiltin().Thresholds()
	nearest, near := 0, 0
	best, after := float32(-2), float32(-2)
	for i := range exact {
		x, y := embed.Dot(q, exact[i]), embed.Dot(q, kept[i])
		a.pairs.hit.add(x, y, gates.Hit)
		a.pairs.route.add(x, y, gates.Route)
		if x > best {
			best, nearest = x, i
		}
		if y > after {
			after, near = y, i
		}
	}
	a.first.hit.add(best, after, gates.Hit)
	a.first.route.add(best, after, gates.Route)
	if float64(best) >= gates.Route && near != nearest {
		a.other++
	}
}

func (a *agreement) report(b *testing.B, name string) {
	show := func(g gate) string { return fmt.Sprintf("%d, of which %d go and %d come", g.over, g.gone, g.new) }
	b.Logf("%s: pairs over the hit gate %s; over the route gate %s; queries that hit %s; that route %s; %d of these have another nearest", name,
		show(a.pairs.hit), show(a.pairs.route), show(a.first.hit), show(a.first.route), a.other)
}

func BenchmarkAppendHalves(b *testing.B) {
	for name, v := range halfVectors() {
		b.Run(name, func(b *testing.B) {
			var c codec
			for b.Loop() {
				c.b = c.b[:0]
				c.vector(&v, false, "")
			}
			b.ReportMetric(float64(len(c.b)), "B/vector")
		})
	}
}

func BenchmarkReadHalves(b *testing.B) {
	for name, v := range halfVectors() {
		b.Run(name, func(b *testing.B) {
			var in codec
			sparse := in.vector(&v, false, "")
			for b.Loop() {
				r := codec{b: in.b, reading: true}
				if r.vector(new([]float32), sparse, ""); r.bad {
					b.Fatal("not read")
				}
			}
		})
	}
}

// halfVectors are one of the built-in embedder and one without zeros.
func halfVectors() map[string][]float32 {
	rng := rand.New(rand.NewPCG(5, 5))
	dense := make([]float32, 384)
	for i := range dense {
		dense[i] = float32(rng.NormFloat64()) / 20
	}
	sparse, _ := embed.NewBuiltin().Embed(context.Background(), []string{"How do I move money from one account of mine to another one at a different bank?"})
	return map[string][]float32{"sparse": sparse[0], "dense": dense}
}
