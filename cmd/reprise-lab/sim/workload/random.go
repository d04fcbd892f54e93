package workload

import (
	"math"
	"sort"
)

// random is SplitMix64 (Steele, Lea and Flood 2014). It is implemented here because the published figures of the workloads
// depend on each of its numbers.
type random struct{ state uint64 }

func (r *random) next() uint64 {
	r.state += 0x9E3779B97F4A7C15
	z := r.state
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// float is uniform in [0, 1).
func (r *random) float() float64 { return float64(r.next()>>11) / (1 << 53) }

// below is uniform in [0, n), except for the bias of a remainder.
func (r *random) below(n int) int { return int(r.next() % uint64(n)) }

// normal is one of the two numbers of Box and Muller; the other is not kept.
func (r *random) normal() float64 {
	u := r.float()
	for u == 0 {
		u = r.float()
	}
	return math.Sqrt(-2*math.Log(u)) * math.Cos(2*math.Pi*r.float())
}

// pick is i with a probability proportional to step i of the running sums cum.
func (r *random) pick(cum []float64) int {
	x := r.float() * cum[len(cum)-1]
	return min(sort.Search(len(cum), func(i int) bool { return cum[i] > x }), len(cum)-1)
}

// shuffle is Fisher and Yates's, from the end.
func (r *random) shuffle(list []int) {
	for i := len(list) - 1; i > 0; i-- {
		j := r.below(i + 1)
		list[i], list[j] = list[j], list[i]
	}
}

// unit is a random direction.
func (r *random) unit() []float32 { return r.blend(nil, 0, nil, 0) }

// blend is the direction sqrt(wa) a + sqrt(wb) b + sqrt(1-wa-wb) noise, where noise is a random direction.
func (r *random) blend(a []float32, wa float64, b []float32, wb float64) []float32 {
	var noise [dims]float64
	for i := range noise {
		noise[i] = r.normal()
	}
	scale := math.Sqrt(1-wa-wb) / length(noise[:])
	for i := range noise {
		noise[i] *= scale
		if a != nil {
			noise[i] += math.Sqrt(wa)*float64(a[i]) + math.Sqrt(wb)*float64(b[i])
		}
	}
	v, l := make([]float32, dims), length(noise[:])
	for i := range v {
		v[i] = float32(noise[i] / l)
	}
	return v
}

func length(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	return math.Sqrt(sum)
}

// zipf is rank^-s for ranks 1 to n.
func zipf(n int, s float64) []float64 {
	weights := make([]float64, n)
	for i := range weights {
		weights[i] = math.Pow(float64(i+1), -s)
	}
	return weights
}

// sums is the running sums of weights.
func sums(weights []float64) []float64 {
	cum, total := make([]float64, len(weights)), 0.0
	for i, w := range weights {
		total += w
		cum[i] = total
	}
	return cum
}
