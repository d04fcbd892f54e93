package train

import "math"

// calibration makes probabilities of logits: Platt scaling, with the log odds of the turn beside the logit.
type calibration struct{ slope, turnSlope, intercept float64 }

// calibrate fits a calibration to labels by Newton's method on the unweighted cross-entropy: the weights in the loss of training inflate the
// odds of the rarer label, and a cache mixes probabilities as odds. The labels are smoothed as in Platt's paper, so that separable data have
// a finite answer. A slope below 0 would reverse the order of predictions that have no information; the term is left out then.
func calibrate(logits, turns []float64, goesOn []bool) calibration {
	columns := [][]float64{logits, turns}
	for {
		w := logistic(columns, goesOn)
		if columns[0] != nil && w[0] < 0 && (columns[1] == nil || w[0] <= w[1]) {
			columns[0] = nil
		} else if columns[1] != nil && w[1] < 0 {
			columns[1] = nil
		} else {
			return calibration{w[0], w[1], w[2]}
		}
	}
}

// of are the probabilities of logits at turns with such log odds.
func (c calibration) of(logits, turns []float64) []float64 {
	p := make([]float64, len(logits))
	for i, z := range logits {
		p[i] = sigmoid(c.slope*z + c.turnSlope*turns[i] + c.intercept)
	}
	return p
}

// logistic are the weights of two columns, 0 for one that is nil, and of a constant.
func logistic(columns [][]float64, goesOn []bool) [3]float64 {
	yes := 0.0
	for _, y := range goesOn {
		yes += float64(index(y))
	}
	target := [2]float64{1 / (float64(len(goesOn)) - yes + 2), (yes + 1) / (yes + 2)}
	row := func(i int) (x [3]float64) {
		for j, c := range columns {
			if c != nil {
				x[j] = c[i]
			}
		}
		x[2] = 1
		return x
	}
	loss := func(w [3]float64) (sum float64) {
		for i, y := range goesOn {
			z := dot3(w, row(i))
			sum += softplus(z) - target[index(y)]*z
		}
		return sum
	}
	var w [3]float64
	now := loss(w)
	for range newtonSteps {
		step, ok := newtonStep(w, row, target, goesOn)
		size := 1.0
		for ; ok && size > 1e-6; size /= 2 { // the loss is convex: a shorter step lowers it
			next := [3]float64{w[0] + size*step[0], w[1] + size*step[1], w[2] + size*step[2]}
			if l := loss(next); l < now-1e-12 {
				w, now = next, l
				break
			}
		}
		if !ok || size <= 1e-6 {
			break
		}
	}
	return w
}

// newtonSteps is more than any fit here takes: some ten.
const newtonSteps = 100

// newtonStep solves Hessian × step = -gradient, with a ridge that keeps columns without variance at 0.
func newtonStep(w [3]float64, row func(int) [3]float64, target [2]float64, goesOn []bool) (step [3]float64, ok bool) {
	var a [3][4]float64
	for j := range a {
		a[j][j] = 1e-9
	}
	for i, y := range goesOn {
		x := row(i)
		p := sigmoid(dot3(w, x))
		for j := range a {
			a[j][3] -= (p - target[index(y)]) * x[j]
			for k := range a {
				a[j][k] += p * (1 - p) * x[j] * x[k]
			}
		}
	}
	return solve(a)
}

// solve is Gaussian elimination with pivots.
func solve(a [3][4]float64) (x [3]float64, ok bool) {
	for j := range a {
		best := j
		for k := j + 1; k < 3; k++ {
			if math.Abs(a[k][j]) > math.Abs(a[best][j]) {
				best = k
			}
		}
		a[j], a[best] = a[best], a[j]
		if math.Abs(a[j][j]) < 1e-12 {
			return x, false
		}
		for k := range a {
			if k != j {
				f := a[k][j] / a[j][j]
				for c := j; c < 4; c++ {
					a[k][c] -= f * a[j][c]
				}
			}
		}
	}
	for j := range a {
		x[j] = a[j][3] / a[j][j]
	}
	return x, true
}

func dot3(a, b [3]float64) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }
