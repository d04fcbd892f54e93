package profile

import "math"

// Times are counted in classes, each a fifth longer than the one before (a fourth of an octave), from a millisecond on.
const (
	classes   = 128
	shortest  = 1e-3
	perOctave = 4
)

// classOf is the class of a time in seconds: class k ends before edge(k).
func classOf(t float64) int {
	if !(t >= shortest) {
		return 0
	}
	k := int(math.Log2(t/shortest)*perOctave) + 1
	return min(k, classes-1)
}

// edge is where a class ends, in seconds.
func edge(class int) float64 { return shortest * math.Exp2(float64(class)/perOctave) }

// hist is how many of each class.
type hist [classes]int64

func (h *hist) total() (n int64) {
	for _, c := range h {
		n += c
	}
	return n
}

// quantile is the time below which a share q is, in seconds. Within a class times are taken as even on a logarithmic scale.
func (h *hist) quantile(q float64) float64 {
	want := q * float64(h.total())
	if want == 0 {
		return 0
	}
	sum := 0.0
	for k, n := range h {
		if n > 0 && sum+float64(n) >= want {
			if k == 0 {
				return 0
			}
			return edge(k-1) * math.Exp2((want-sum)/float64(n)/perOctave)
		}
		sum += float64(n)
	}
	return edge(classes - 1)
}

// cdf is the share below each edge, from the first one above 0 to the first one of 1.
func (h *hist) cdf() (curve []Point) {
	total := h.total()
	sum := int64(0)
	for k, n := range h {
		if sum += n; sum > 0 {
			curve = append(curve, Point{edge(k), ratio(sum, total)})
		}
		if sum == total {
			break
		}
	}
	return curve
}
