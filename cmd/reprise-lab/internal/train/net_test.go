package train

import (
	"math"
	"math/rand/v2"
	"testing"
)

// naiveLoss is the loss of fit in float64, example by example.
func naiveLoss(layers []layer, batch matrix, goesOn []bool, weights [2]float64) float64 {
	loss, total := 0.0, 0.0
	for e := range batch.rows {
		var in []float64
		for _, x := range batch.row(e) {
			in = append(in, float64(x))
		}
		for l := range layers {
			out := make([]float64, layers[l].weight.rows)
			for o := range out {
				out[o] = float64(layers[l].bias[o])
				for i, x := range in {
					out[o] += x * float64(layers[l].weight.row(o)[i])
				}
				if l < len(layers)-1 {
					out[o] = max(out[o], 0)
				}
			}
			in = out
		}
		y := index(goesOn[e])
		p := 1 / (1 + math.Exp(-in[0]))
		total += weights[y]
		loss -= weights[y] * math.Log([]float64{1 - p, p}[y])
	}
	return loss / total
}

// TestGradient compares every derivative with finite differences of the naive loss.
func TestGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	n := newNet([]int{7, 6, 5, 1}, rng)
	batch := newMatrix(11, 7)
	var goesOn []bool
	var part []int
	for i := range batch.all {
		batch.all[i] = float32(rng.NormFloat64())
	}
	for e := range batch.rows {
		goesOn, part = append(goesOn, e%3 == 0), append(part, e)
	}
	weights := weightsOf(goesOn)
	grad := like(n.layers)
	n.backward(slopes(nil, n.forward(batch), goesOn, part, weights), grad)
	check := func(name string, at *float32, got float32) {
		was := *at
		*at = was + 2e-4 // less than the distance to any kink of ReLU here
		high, up := *at, naiveLoss(n.layers, batch, goesOn, weights)
		*at = was - 2e-4
		low, down := *at, naiveLoss(n.layers, batch, goesOn, weights)
		*at = was
		if want := (up - down) / (float64(high) - float64(low)); math.Abs(float64(got)-want) > 1e-4 {
			t.Errorf("%s: %v, by differences %v", name, got, want)
		}
	}
	for l := range n.layers {
		for i := range n.layers[l].weight.all {
			check("weight", &n.layers[l].weight.all[i], grad[l].weight.all[i])
		}
		for i := range n.layers[l].bias {
			check("bias", &n.layers[l].bias[i], grad[l].bias[i])
		}
	}
}

func TestScores(t *testing.T) {
	p := []float64{0.9, 0.8, 0.7, 0.4, 0.3, 0.1}
	goesOn := []bool{true, true, false, true, false, false}
	c := countsOf(p, goesOn, 0.5) // 2 of 3 right on both sides
	if got := c.mcc(); math.Abs(got-1.0/3) > 1e-9 {
		t.Errorf("MCC %v, want 1/3", got)
	}
	if got := c.f1(); math.Abs(got-2.0/3) > 1e-9 {
		t.Errorf("F1 %v, want 2/3", got)
	}
	if got := auc(p, goesOn, nil); math.Abs(got-8.0/9) > 1e-9 {
		t.Errorf("AUC %v, want 8/9", got)
	}
	if got := auc(p, goesOn, []int{1, 2, 1, 2, 2, 2}); math.Abs(got-1) > 1e-9 {
		t.Errorf("AUC in classes %v, want 1", got)
	}
	if got := auc([]float64{1, 1}, []bool{true, false}, nil); got != 0.5 {
		t.Errorf("AUC of a tie %v", got)
	}
	if got := bestThreshold(p, goesOn); math.Abs(got-0.35) > 1e-9 && math.Abs(got-0.75) > 1e-9 {
		t.Errorf("threshold %v, want 0.35 or 0.75", got)
	}
	if got := bestThreshold([]float64{0.2, 0.2}, []bool{true, false}); got != 0.5 {
		t.Errorf("threshold of equal predictions %v", got)
	}
}

// TestCalibrate: odds that are inflated by a weight of 4, and too sharp by 2, come back; the turn has its own part.
func TestCalibrate(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	var logits, turns, reversed []float64
	var goesOn []bool
	for range 50_000 {
		z, turn := rng.NormFloat64(), rng.NormFloat64()
		goesOn = append(goesOn, rng.Float64() < sigmoid(z+0.7*turn))
		logits, turns, reversed = append(logits, 2*z+math.Log(4)), append(turns, turn), append(reversed, -2*z)
	}
	c := calibrate(logits, turns, goesOn)
	if math.Abs(c.slope-0.5) > 0.03 || math.Abs(c.turnSlope-0.7) > 0.03 || math.Abs(c.intercept+math.Log(4)/2) > 0.03 {
		t.Errorf("%+v, want 0.5, 0.7 and %v", c, -math.Log(4)/2)
	}
	if c = calibrate(reversed, make([]float64, len(turns)), goesOn); c.slope != 0 || c.turnSlope != 0 || math.Abs(sigmoid(c.intercept)-0.5) > 0.02 {
		t.Errorf("of reversed logits: %+v", c)
	}
	separable := calibrate([]float64{-1, -1, 1, 1}, make([]float64, 4), []bool{false, false, true, true})
	if p := separable.of([]float64{1}, []float64{0})[0]; p < 0.6 || p > 0.9 {
		t.Errorf("of separable logits: %+v, p %v", separable, p)
	}
}
