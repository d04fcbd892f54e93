package topics

import (
	"math"

	"reprise/topics/internal/hnsw"
)

const (
	sketchWords = 8
	sketchBits  = 64 * sketchWords

	sketchSeed = 0x7265707269736531
	signBlocks = 16
)

// sketch is the signs of 512 fixed pseudo-random projections of a vector. Two vectors at an angle θ differ in each of them with
// probability θ/π (Charikar 2002), so a pair over a gate differs in few, and a scan rejects nearly every row by 8 to 24 of its 1,536
// bytes.
type sketch [sketchWords]uint64

func (s *sketch) first() *firstPart { return (*firstPart)(s[:firstWords]) }

// distance is the number of bits in which two sketches differ.
func (s *sketch) distance(t *sketch) int {
	return differ(s.first(), t.first()) + differ((*firstPart)(s[firstWords:]), (*firstPart)(t[firstWords:]))
}

// query is what a request is compared by.
type query struct {
	vector []float32
	sketch sketch
	first  firstPart // of the sketch

	limited bool // a bound of a scan left out rows that could have been found

	set   [scanRows / 64]uint64 // room for scans
	far   []int16
	near  []candidate
	ranks []candidate
	found []hnsw.Found
}

// ask makes q the query for a vector.
func (q *query) ask(v []float32) {
	q.vector, q.sketch = v, sketchOf(v)
	q.first = *q.sketch.first()
}

// signs are diagonals of random signs, one for each block of 512 coordinates and the last for the second round.
var signs = func() (all [signBlocks + 1][sketchBits]float32) {
	state := uint64(sketchSeed)
	for b := range all {
		for j := range all[b] {
			state += 0x9e3779b97f4a7c15 // splitmix64
			z := (state ^ state>>30) * 0xbf58476d1ce4e5b9
			z = (z ^ z>>27) * 0x94d049bb133111eb
			all[b][j] = 1 - 2*float32(z>>63)
		}
	}
	return all
}()

// sketchOf takes the signs of H·D·H·(Σ Dᵢ·vᵢ), where vᵢ are the blocks of 512 coordinates of v, D random signs and H the Walsh–Hadamard
// matrix. On real text it loses no more pairs than 512 orthonormalised Gaussian directions, and costs a seventh of their inner
// products: 1 µs at 384 dimensions with AVX2, 2.5 without. In fewer than some 8 dimensions the projections are no longer independent, and more is lost.
func sketchOf(v []float32) (s sketch) {
	var x [sketchBits]float32
	for b := 0; len(v) > 0; b++ {
		d, block := &signs[b%signBlocks], v[:min(len(v), sketchBits)]
		for j, y := range block {
			x[j] += y * d[j]
		}
		v = v[len(block):]
	}
	hadamard(&x)
	for j, d := range signs[signBlocks] {
		x[j] *= d
	}
	hadamard(&x)
	for w := range s {
		var word uint64
		for j, y := range x[64*w : 64*w+64] {
			word |= uint64(math.Float32bits(y)>>31) << j
		}
		s[w] = word
	}
	return s
}

// cutFor is the number of differing bits, of n, that a pair of the given cosine exceeds with the probability of z standard deviations
// of a normal distribution, and a nearer pair less often. The last term corrects the skew of the binomial one (Cornish and Fisher).
func cutFor(n int, cosine float32, z float64) int {
	p := math.Acos(float64(min(max(cosine, -1), 0.999))) / math.Pi // at smaller angles the bits that differ are too few to be independent
	mean, skew := float64(n)*p, max((z*z-1)/6*(1-2*p), 0)
	return min(int(mean+z*math.Sqrt(mean*(1-p))+skew), n)
}
