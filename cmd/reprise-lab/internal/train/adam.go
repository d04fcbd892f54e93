package train

import "math"

// adam is the optimiser of Kingma and Ba with its usual constants.
type adam struct {
	rate          float64
	first, second []layer
	steps         int
}

const (
	beta1, beta2 = 0.9, 0.999
	tiny         = 1e-8
)

func newAdam(rate float64, layers []layer) *adam {
	return &adam{rate: rate, first: like(layers), second: like(layers)}
}

// step changes the weights by a gradient.
func (a *adam) step(layers, grad []layer) {
	a.steps++
	t := float64(a.steps)
	rate := float32(a.rate * math.Sqrt(1-math.Pow(beta2, t)) / (1 - math.Pow(beta1, t)))
	for l := range layers {
		apply(layers[l].weight.all, grad[l].weight.all, a.first[l].weight.all, a.second[l].weight.all, rate)
		apply(layers[l].bias, grad[l].bias, a.first[l].bias, a.second[l].bias, rate)
	}
}

func apply(w, g, m, v []float32, rate float32) {
	for i, d := range g {
		m[i] += (1 - beta1) * (d - m[i])
		v[i] += (1 - beta2) * (d*d - v[i])
		w[i] -= rate * m[i] / (float32(math.Sqrt(float64(v[i]))) + tiny)
	}
}
