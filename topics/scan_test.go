package topics

import (
	"math"
	"math/rand"
	"os"
	"slices"
	"testing"

	"reprise/embed"
)

func newQuery(v []float32) *query {
	q := new(query)
	q.ask(v)
	return q
}

// clusters draws n unit vectors around n/20 centres, with cosines to them from 0.3 to 1: what a scope holds.
func clusters(rng *rand.Rand, n, dim int) (vectors [][]float32) {
	for _, centre := range unitVectors(rng, n/20, dim) {
		for i := range 20 {
			vectors = append(vectors, near(rng, centre, 1-0.7*float64(i)/20))
		}
	}
	return vectors
}

// visit and numbered are what a scan and a flat call.
type (
	visit    func(row int32) float32
	numbered func(row int32) uint64
)

func (f visit) visit(row int32, _ float32) float32 { return f(row) }
func (f numbered) nameOf(row int32) uint64         { return f(row) }

// TestScanFindsWhatANaiveScanFinds compares the scans by sketches with all scores, for gates from none to nearly 1, in rows of which
// some are free: where no bound left out a row, nothing is lost, and where one did, what is found is right.
func TestScanFindsWhatANaiveScanFinds(t *testing.T) {
	for _, dim := range []int{12, 48, 384, 1536} {
		rng := rand.New(rand.NewSource(int64(dim)))
		rs, flat, vectors := filled(rng, clusters(rng, 12_000, dim))
		for i := range 60 {
			q := newQuery(near(rng, vectors[rng.Intn(len(vectors))], 0.5+0.5*rng.Float64()))
			gate := float32(1 - 0.1*float64(i%12)) // the lowest is below 0
			var want, got []int32
			nearest := best[neighbor]{k: 3}
			for row := range rs.end {
				if !flat.has(row) {
					continue
				}
				if score := embed.Dot(q.vector, rs.vector(row)); score >= gate {
					want = append(want, row)
					nearest.offer(neighbor{uint64(row), row, score})
				}
			}
			if found := flat.Search(q, 3, gate, nil); !q.limited && !slices.Equal(found, nearest.items) {
				t.Errorf("dimension %d, gate %v: nearest %v, want %v", dim, gate, found, nearest.items)
			} else if q.limited && gate > 0.5 {
				t.Errorf("dimension %d, gate %v: a bound cuts a search of rows that are not crowded", dim, gate)
			}
			q.limited = false
			newScan(rs, q, forHits, gate, visit(func(row int32) float32 {
				got = append(got, row)
				return gate
			})).list(&flat.list)
			slices.Sort(got)
			if len(want) > forHits.products && !q.limited {
				t.Errorf("dimension %d, gate %v: of %d rows no bound left out any", dim, gate, len(want))
			}
			if q.limited {
				got = append(got, want...)
				slices.Sort(got)
				got = slices.Compact(got)
			}
			if !slices.Equal(got, want) {
				t.Errorf("dimension %d, gate %v: %d rows, want %d", dim, gate, len(got), len(want))
			}
		}
	}
}

// TestScanHasABound: whatever the vectors look like, a scan makes no more exact scores than the bound, takes the rows with the nearest sketches,
// and says that it left out others.
func TestScanHasABound(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	const n, dim = 12_000, 48
	middle := unitVectors(rng, 1, dim)[0]
	for name, of := range map[string]func(i int) []float32{
		"equal":   func(int) []float32 { return middle },
		"crowded": func(int) []float32 { return near(rng, middle, 0.97) },
		"all":     func(int) []float32 { return unitVectors(rng, 1, dim)[0] },
	} {
		t.Run(name, func(t *testing.T) {
			rs := newRows(dim)
			flat := newFlat(rs, numbered(func(row int32) uint64 { return uint64(row) }))
			var all []candidate
			q := newQuery(near(rng, middle, 0.99))
			for i := range n {
				v := of(i)
				s := sketchOf(v)
				row := rs.add(v, &s)
				flat.Add(row)
				all = append(all, candidateOf(row, differ(s.first(), q.sketch.first())))
			}
			visits, worst := 0, 0
			scan := newScan(rs, q, forHits, anyScore, visit(func(row int32) float32 {
				visits++
				worst = max(worst, all[row].distance())
				return anyScore
			}))
			scan.list(&flat.list)
			slices.Sort(all)
			if visits != forHits.products || !q.limited || len(q.near) != forHits.reads {
				t.Errorf("%d exact scores and %d reads of %d rows, left out: %v", visits, len(q.near), n, q.limited)
			}
			if scan.cut >= scan.left[0] {
				t.Errorf("rows whose first bits differ by %d are noted though the nearest %d differ by less than %d", scan.cut, forHits.reads, scan.left[0])
			}
			if limit := all[forHits.reads-1].distance(); worst > limit {
				t.Errorf("a row is scored whose first bits differ by %d, there are %d up to %d", worst, forHits.reads, limit)
			}
		})
	}
}

// TestScanOfRealTexts compares the searches of real texts with naive scans: $REPRISE_DATA as in BenchmarkSearch.
func TestScanOfRealTexts(t *testing.T) {
	if os.Getenv("REPRISE_DATA") == "" {
		t.Skip("REPRISE_DATA is not set: the loss is not measured")
	}
	next := texts(t)
	var vectors [][]float32
	for range 20_000 {
		vectors = append(vectors, vectorOf(next()))
	}
	rs, flat, _ := filled(rand.New(rand.NewSource(1)), vectors)
	for gate, effort := range map[float32]effort{0.97: forHits, 0.6: forAnchor} {
		pairs, lost, nearest, other := 0, 0, 0, 0 // of the scans that no bound cut
		for i := range 1000 {
			before, lostBefore := pairs, lost
			q := newQuery(vectorOf(next()))
			if i%2 == 0 {
				q = newQuery(near(rand.New(rand.NewSource(int64(i))), vectors[i], float64(gate)+0.01))
			}
			top := neighbor{score: anyScore}
			for row := range rs.end {
				if !flat.has(row) {
					continue
				}
				score := embed.Dot(q.vector, rs.vector(row))
				if score < gate {
					continue
				}
				pairs, lost = pairs+1, lost+1
				if score > top.score {
					top = neighbor{uint64(row), row, score}
				}
			}
			newScan(rs, q, effort, gate, visit(func(row int32) float32 {
				lost--
				return gate
			})).list(&flat.list)
			if q.limited {
				pairs, lost = before, lostBefore
			}
			if top.score >= gate {
				nearest++
				if found := flat.Search(q, 1, gate, nil); len(found) == 0 || found[0].score < top.score {
					other++
				}
			}
		}
		t.Logf("gate %v: %d of %d pairs lost, %d of %d nearest anchors", gate, lost, pairs, other, nearest)
		if lost*1000 > pairs || other*200 > nearest || gate == 0.97 && lost > 0 {
			t.Error("too many are lost")
		}
	}
}

// filled adds vectors to rows and to a Flat over them, then removes a tenth, here and there and all of some chunks.
func filled(rng *rand.Rand, vectors [][]float32) (*rows, *flat, [][]float32) {
	rs := newRows(len(vectors[0]))
	flat := newFlat(rs, numbered(func(row int32) uint64 { return uint64(row) }))
	for _, v := range vectors {
		s := sketchOf(v)
		flat.Add(rs.add(v, &s))
	}
	for i := range int32(len(vectors) / 10) {
		row := int32(rng.Intn(int(rs.end)))
		if i%2 == 0 {
			row = rs.end - 1 - i/2 // the last ones, so that their chunks are dropped
		}
		if flat.has(row) {
			flat.Remove(row)
			rs.remove(row)
		}
	}
	return rs, flat, vectors
}

// TestSketchBitsDifferByTheAngle: each bit differs with probability angle / π, in few dimensions and in more than one block.
func TestSketchBitsDifferByTheAngle(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for _, dim := range []int{7, 12, 384, 512, 513, 1536, 3072} {
		for _, cosine := range []float64{0.97, 0.6, 0, -0.5} {
			const pairs = 400
			sum, squares := 0.0, 0.0
			for _, v := range unitVectors(rng, pairs, dim) {
				a, b := sketchOf(v), sketchOf(near(rng, v, cosine))
				d := float64(a.distance(&b))
				sum, squares = sum+d, squares+d*d
			}
			p := math.Acos(cosine) / math.Pi
			mean, want, sigma := sum/pairs, sketchBits*p, math.Sqrt(sketchBits*p*(1-p))
			if math.Abs(mean-want) > sigma/2 {
				t.Errorf("dimension %d, cosine %v: %.1f bits differ, want %.1f", dim, cosine, mean, want)
			}
			if got := math.Sqrt(squares/pairs - mean*mean); got > 1.25*sigma {
				t.Errorf("dimension %d, cosine %v: standard deviation %.2f, want at most that of independent bits, %.2f", dim, cosine, got, sigma)
			}
		}
	}
}

// TestCut compares the bound with the exact tail of the binomial distribution.
func TestCut(t *testing.T) {
	for _, n := range []int{64, 256, 512} {
		for _, cosine := range []float32{0.999, 0.97, 0.8, 0.6, 0.45, 0} {
			for z, loss := range map[float64]float64{forHits.z: 1e-6, forAnchor.z: 2.3e-4} {
				p := math.Acos(float64(cosine)) / math.Pi
				cut := cutFor(n, cosine, z)
				if got := binomialTail(n, p, cut); got > 2*loss {
					t.Errorf("%d bits, cosine %v: %g of the pairs exceed %d bits, want %g", n, cosine, got, cut, loss)
				}
				if got := binomialTail(n, p, cut-3); got < loss {
					t.Errorf("%d bits, cosine %v: the cut %d could be 3 lower", n, cosine, cut)
				}
			}
		}
	}
	if cutFor(512, anyScore, forHits.z) != 512 || cutFor(64, 1, forHits.z) > 8 {
		t.Errorf("cuts of no gate and of 1: %d, %d", cutFor(512, anyScore, forHits.z), cutFor(64, 1, forHits.z))
	}
}

// binomialTail is the probability of more than k of n.
func binomialTail(n int, p float64, k int) (tail float64) {
	for i := k + 1; i <= n; i++ {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(i + 1))
		c, _ := math.Lgamma(float64(n - i + 1))
		tail += math.Exp(a - b - c + float64(i)*math.Log(p) + float64(n-i)*math.Log(1-p))
	}
	return tail
}
