package train

import (
	"math"
	"math/rand/v2"

	"reprise/embed"
)

// matrix is rows of equal length in one slice.
type matrix struct {
	rows, cols int
	all        []float32
}

func newMatrix(rows, cols int) matrix { return matrix{rows, cols, make([]float32, rows*cols)} }

func (m *matrix) row(i int) []float32 { return m.all[i*m.cols : (i+1)*m.cols] }

// resize makes m have so many rows and columns; what is in it then has no meaning.
func (m *matrix) resize(rows, cols int) {
	if cap(m.all) < rows*cols {
		m.all = make([]float32, rows*cols)
	}
	m.rows, m.cols, m.all = rows, cols, m.all[:rows*cols]
}

// transpose makes t the transpose of m.
func (m *matrix) transpose(t *matrix) {
	t.resize(m.cols, m.rows)
	for i := range m.rows {
		for j, x := range m.row(i) {
			t.all[j*m.rows+i] = x
		}
	}
}

// layer is one layer of the perceptron.
type layer struct {
	weight matrix // a row for each output
	bias   []float32
}

// net is the perceptron in training: ReLU after every layer except the last, which has one output, the logit.
type net struct {
	layers []layer
	// Of the last batch:
	in   []matrix // inputs of each layer, a row for each example; the last one is the logits
	inT  matrix
	out  matrix // derivatives by the outputs of a layer
	outT matrix
	back matrix
	wT   matrix
}

// newNet has weights as He et al. draw them for ReLU.
func newNet(sizes []int, rng *rand.Rand) *net {
	n := &net{in: make([]matrix, len(sizes))}
	for l := range len(sizes) - 1 {
		w := newMatrix(sizes[l+1], sizes[l])
		scale := math.Sqrt(2 / float64(sizes[l]))
		for i := range w.all {
			w.all[i] = float32(rng.NormFloat64() * scale)
		}
		n.layers = append(n.layers, layer{w, make([]float32, sizes[l+1])})
	}
	return n
}

// newNetOf is a net with these weights.
func newNetOf(layers []layer) *net { return &net{layers: layers, in: make([]matrix, len(layers)+1)} }

// forward returns the logits of a batch, a row for each example. They are valid until the next call.
func (n *net) forward(batch matrix) []float32 {
	n.in[0] = batch
	for l := range n.layers {
		w, in, out := &n.layers[l], &n.in[l], &n.in[l+1]
		out.resize(in.rows, w.weight.rows)
		last := l == len(n.layers)-1
		for e := range in.rows {
			x, y := in.row(e), out.row(e)
			for o := range y {
				y[o] = embed.Dot(w.weight.row(o), x) + w.bias[o]
				if !last && y[o] < 0 {
					y[o] = 0
				}
			}
		}
	}
	return n.in[len(n.layers)].all
}

// backward sets grad, of the form of n's layers, to the derivatives by the weights, for the batch of the last forward; by are those by the
// logits. Every sum is a dot product of two rows, so that its order is fixed.
func (n *net) backward(by []float32, grad []layer) {
	n.out.resize(len(by), 1)
	copy(n.out.all, by)
	for l := len(n.layers) - 1; l >= 0; l-- {
		n.out.transpose(&n.outT)
		n.in[l].transpose(&n.inT)
		for o := range n.outT.rows {
			row, g := n.outT.row(o), grad[l].weight.row(o)
			for i := range g {
				g[i] = embed.Dot(row, n.inT.row(i))
			}
			grad[l].bias[o] = sum(row)
		}
		if l > 0 {
			n.pass(l)
		}
	}
}

// pass makes n.out the derivatives by the outputs of layer l-1.
func (n *net) pass(l int) {
	n.layers[l].weight.transpose(&n.wT)
	n.back.resize(n.out.rows, n.wT.rows)
	for e := range n.back.rows {
		d, y, row := n.out.row(e), n.in[l].row(e), n.back.row(e)
		for i := range row {
			row[i] = 0
			if y[i] > 0 {
				row[i] = embed.Dot(d, n.wT.row(i))
			}
		}
	}
	n.out, n.back = n.back, n.out
}

func sum(all []float32) (s float32) {
	for _, x := range all {
		s += x
	}
	return s
}

// like returns layers of the form of others, with zeros.
func like(layers []layer) []layer {
	all := make([]layer, len(layers))
	for i, l := range layers {
		all[i] = layer{newMatrix(l.weight.rows, l.weight.cols), make([]float32, len(l.bias))}
	}
	return all
}

// copyLayers copies the weights of one net to another of its form.
func copyLayers(to, from []layer) {
	for i := range to {
		copy(to[i].weight.all, from[i].weight.all)
		copy(to[i].bias, from[i].bias)
	}
}
