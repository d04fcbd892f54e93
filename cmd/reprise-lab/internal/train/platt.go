package train

import "math"

// platt fits p = σ(a·logit + b) to labels by Newton's method on the unweighted cross-entropy: the weights in the loss of training inflate the
// odds of the rarer label, and a cache mixes probabilities as odds. The labels are smoothed as in Platt's paper, so that separable data have
// a finite answer. A slope below 0 would reverse the order of predictions that have no information; it is 0 then.
func platt(logits []float64, goesOn []bool) (a, b float64) {
	yes := 0.0
	for _, y := range goesOn {
		yes += float64(index(y))
	}
	n := float64(len(goesOn))
	target := [2]float64{1 / (n - yes + 2), (yes + 1) / (yes + 2)}
	a, b = 1, 0
	if a, b = newton(logits, goesOn, target, a, b); a >= 0 {
		return a, b
	}
	p := (yes + 1) / (n + 2)
	return 0, math.Log(p / (1 - p))
}

// plattSteps is enough: the loss is convex, and a step that does not lower it is halved.
const plattSteps = 100

func newton(logits []float64, goesOn []bool, target [2]float64, a, b float64) (float64, float64) {
	loss := func(a, b float64) (sum float64) {
		for i, z := range logits {
			sum += softplus(a*z+b) - target[index(goesOn[i])]*(a*z+b)
		}
		return sum
	}
	now := loss(a, b)
	for range plattSteps {
		var ga, gb float64
		haa, hab, hbb := 1e-9, 0.0, 1e-9
		for i, z := range logits {
			p := sigmoid(a*z + b)
			d, h := p-target[index(goesOn[i])], p*(1-p)
			ga, gb = ga+d*z, gb+d
			haa, hab, hbb = haa+h*z*z, hab+h*z, hbb+h
		}
		det := haa*hbb - hab*hab
		if det <= 0 || math.Abs(ga)+math.Abs(gb) < 1e-9 {
			break
		}
		da, db := -(hbb*ga-hab*gb)/det, -(haa*gb-hab*ga)/det
		step := 1.0
		for ; step > 1e-6; step /= 2 {
			if next := loss(a+step*da, b+step*db); next < now {
				a, b, now = a+step*da, b+step*db, next
				break
			}
		}
		if step <= 1e-6 {
			break
		}
	}
	return a, b
}
