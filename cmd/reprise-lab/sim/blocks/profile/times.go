package profile

import "math"

// Times are counted in classes from a millisecond on, each 1.1 % longer than the one before, so that a quantile is off by 0.6 % at most. A
// group takes 16 KB for each of its distributions. Curves have a point for each step, which is 16 classes: a fifth longer than the one before.
const (
	shortest  = 1e-3
	perOctave = 64 // a power of two: a step ends exactly where a class does
	perStep   = 16
	steps     = 128
	classes   = (steps-1)*perStep + 1
)

// classOf is the class of a time in seconds: class k ends before edge(k). Class 0 is the times below a millisecond.
func classOf(t float64) int {
	if !(t >= shortest) {
		return 0
	}
	return int(min(math.Log2(t/shortest)*perOctave+1, classes-1))
}

// stepOf is the step of a class.
func stepOf(class int) int { return (class + perStep - 1) / perStep }

// edge is where a step ends, in seconds.
func edge(step int) float64 { return shortest * math.Exp2(float64(step)*perStep/perOctave) }

// hist is how many of each class.
type hist [classes]int64

func (h *hist) total() (n int64) {
	for _, c := range h {
		n += c
	}
	return n
}

// steps is how many of each step.
func (h *hist) steps() (all [steps]int64) {
	for k, n := range h {
		all[stepOf(k)] += n
	}
	return all
}

// quantile is the time that at least a share q does not exceed, in seconds: the middle of its class on a logarithmic scale, 0 below a
// millisecond.
func (h *hist) quantile(q float64) float64 {
	want := q * float64(h.total())
	sum := int64(0)
	for k, n := range h {
		if sum += n; n > 0 && float64(sum) >= want {
			if k == 0 {
				return 0
			}
			return shortest * math.Exp2((float64(k)-0.5)/perOctave)
		}
	}
	return 0
}

// cdf is the share below the end of each step, from the first one above 0 to the first one of 1.
func (h *hist) cdf() (curve []Point) {
	total := h.total()
	sum := int64(0)
	for k, n := range h.steps() {
		if sum += n; sum > 0 {
			curve = append(curve, Point{edge(k), ratio(sum, total)})
		}
		if sum == total {
			break
		}
	}
	return curve
}
