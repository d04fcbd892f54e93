package topics

import (
	"math"
	"math/rand"

	"reprise/embed"
)

// unitVectors draws n directions.
func unitVectors(rng *rand.Rand, n, dim int) [][]float32 {
	vectors := make([][]float32, n)
	for i := range vectors {
		v := make([]float32, dim)
		for j := range v {
			v[j] = float32(rng.NormFloat64())
		}
		embed.Normalize(v)
		vectors[i] = v
	}
	return vectors
}

// near draws a vector with the given cosine to v, up to rounding.
func near(rng *rand.Rand, v []float32, cosine float64) []float32 {
	side := unitVectors(rng, 1, len(v))[0]
	along := embed.Dot(side, v)
	for i := range side {
		side[i] -= along * v[i]
	}
	embed.Normalize(side)
	across := float32(math.Sqrt(1 - cosine*cosine))
	for i := range side {
		side[i] = float32(cosine)*v[i] + across*side[i]
	}
	embed.Normalize(side)
	return side
}
