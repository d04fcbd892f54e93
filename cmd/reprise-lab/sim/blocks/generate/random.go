package generate

import (
	"math"
	"math/rand/v2"
	"sort"
)

// random draws from the laws of the generators.
type random struct{ *rand.Rand }

func newRandom(seed, stream uint64) random { return random{rand.New(rand.NewPCG(seed, stream))} }

// length is a log-normal law of tokens: the median, the standard deviation of the logarithm, and a bound.
type length struct{ median, sigma, most float64 }

// at is the length whose logarithm is z standard deviations above that of the median.
func (l length) at(z float64) int32 {
	return int32(min(max(1, l.median*math.Exp(l.sigma*z)), l.most))
}

func (r random) length(l length) int32 { return r.scaled(l, 1) }

// scaled is a length of a law with another median.
func (r random) scaled(l length, scale float64) int32 {
	l.median *= scale
	return l.at(r.NormFloat64())
}

// gaps is a mixture of two exponential times in seconds: most users return soon, the others
// after something else.
type gaps struct {
	fast, slow float64 // means
	late       float64 // share of slow
}

func (r random) gap(g gaps) float64 {
	mean := g.fast
	if r.Float64() < g.late {
		mean = g.slow
	}
	return mean * r.ExpFloat64()
}

// pick is i with a probability proportional to step i of the running sums cum.
func (r random) pick(cum []float64) int {
	x := r.Float64() * cum[len(cum)-1]
	return min(sort.Search(len(cum), func(i int) bool { return cum[i] > x }), len(cum)-1)
}

// zipf is the running sums of rank^-s for ranks 1 to n.
func zipf(n int, s float64) []float64 {
	cum, total := make([]float64, n), 0.0
	for i := range cum {
		total += math.Pow(float64(i+1), -s)
		cum[i] = total
	}
	return cum
}

// The fractions of the multiples of these fill (0, 1) evenly, and not together.
const (
	golden = 0.6180339887498949
	silver = 0.4142135623730951
)

// spread is a standard normal number for each rank that is the same with every seed, so that the few prompts that carry most hits do not
// have lengths that differ from seed to seed.
func spread(rank int) float64 {
	_, p := math.Modf(0.5 + float64(rank)*golden)
	return normalAt(p)
}

// normalAt is the quantile p of the standard normal law, p in (0, 1).
func normalAt(p float64) float64 { return -math.Sqrt2 * math.Erfcinv(2*p) }
