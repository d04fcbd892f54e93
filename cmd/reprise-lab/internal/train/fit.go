package train

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// The training of papers/004 §3.3, which names no size of a batch and no patience.
const (
	learningRate = 5e-4
	mostEpochs   = 20
	batchSize    = 128
	patience     = 4   // epochs without a better loss, after which training ends
	hidden       = 128 // outputs of each of three layers
)

// fitted is what training made.
type fitted struct {
	layers []layer
	loss   float64 // on the validation data, the best one
	epoch  int     // of it, from 1
	epochs int     // in all
}

// fit trains a net of three hidden layers. Equal arguments give equal bits on machines of one kind: the order of all sums is fixed.
func fit(ctx context.Context, training, validation *data, seed uint64) (*fitted, error) {
	rng := rand.New(rand.NewPCG(seed, 0x1fc))
	n := newNet([]int{training.width(), hidden, hidden, hidden, 1}, rng)
	t := trainer{net: n, data: training, weights: weightsOf(training.goesOn), grad: like(n.layers), opt: newAdam(learningRate, n.layers)}
	best := &fitted{layers: like(n.layers), loss: math.Inf(1)}
	order := rng.Perm(training.rows())
	for epoch := 1; epoch <= mostEpochs && epoch-best.epoch <= patience; epoch++ {
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for part := range slices.Chunk(order, batchSize) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			t.step(part)
		}
		loss := lossOf(n.logits(validation), validation.goesOn, t.weights)
		if best.epochs = epoch; loss < best.loss {
			best.loss, best.epoch = loss, epoch
			copyLayers(best.layers, n.layers)
		}
	}
	return best, nil
}

// trainer is a net and what its next step needs.
type trainer struct {
	net     *net
	data    *data
	weights [2]float64 // of the labels in the loss
	grad    []layer
	opt     *adam
	batch   matrix
	by      []float32
}

// step changes the weights by one batch.
func (t *trainer) step(part []int) {
	t.data.batch(part, &t.batch)
	t.by = slopes(t.by[:0], t.net.forward(t.batch), t.data.goesOn, part, t.weights)
	t.net.backward(t.by, t.grad)
	t.opt.step(t.net.layers, t.grad)
}

// weightsOf are those of the labels in the loss: the rarer one counts as much as the other in all.
func weightsOf(goesOn []bool) [2]float64 {
	var n [2]float64
	for _, y := range goesOn {
		n[index(y)]++
	}
	return [2]float64{max(1, n[1]/n[0]), max(1, n[0]/n[1])}
}

// slopes appends the derivatives of the mean weighted cross-entropy by the logits.
func slopes(by, logits []float32, goesOn []bool, part []int, weights [2]float64) []float32 {
	total := 0.0
	for _, e := range part {
		total += weights[index(goesOn[e])]
	}
	for i, e := range part {
		y := index(goesOn[e])
		by = append(by, float32(weights[y]*(sigmoid(float64(logits[i]))-float64(y))/total))
	}
	return by
}

// lossOf is the mean weighted cross-entropy.
func lossOf(logits []float64, goesOn []bool, weights [2]float64) (loss float64) {
	total := 0.0
	for i, z := range logits {
		y := index(goesOn[i])
		total += weights[y]
		loss += weights[y] * (softplus(z) - float64(y)*z)
	}
	return loss / total
}

// logits are those of all examples, in batches.
func (n *net) logits(d *data) []float64 {
	all := make([]float64, 0, d.rows())
	var batch matrix
	order := make([]int, d.rows())
	for i := range order {
		order[i] = i
	}
	for part := range slices.Chunk(order, batchSize) {
		d.batch(part, &batch)
		for _, z := range n.forward(batch) {
			all = append(all, float64(z))
		}
	}
	return all
}

func index(b bool) int {
	if b {
		return 1
	}
	return 0
}

func sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

// softplus is log(1 + e^z) without overflow.
func softplus(z float64) float64 { return max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) }
