package train

import (
	"cmp"
	"math"
	"slices"
)

// Score is how predictions agree with what happened.
type Score struct {
	Examples int     `json:"examples"`
	GoesOn   float64 `json:"goes_on"` // share
	MCC      float64 `json:"mcc"`
	F1Macro  float64 `json:"f1_macro"`
	Accuracy float64 `json:"accuracy"`
	AUC      float64 `json:"auc"`
	// AUCInTurn compares only requests of one turn: what the text adds to the turn. 0.5 is nothing.
	AUCInTurn float64 `json:"auc_in_turn"`
	Brier     float64 `json:"brier"`
	// BrierBase is the Brier score of the share of GoesOn, predicted for all.
	BrierBase float64 `json:"brier_base"`
}

// counts are predictions by what was predicted and what happened.
type counts struct{ tp, fp, fn, tn float64 }

func (c *counts) add(predicted, goesOn bool) {
	switch {
	case predicted && goesOn:
		c.tp++
	case predicted:
		c.fp++
	case goesOn:
		c.fn++
	default:
		c.tn++
	}
}

// mcc is the Matthews correlation coefficient, 0 where one label or one prediction does not occur.
func (c *counts) mcc() float64 {
	d := (c.tp + c.fp) * (c.tp + c.fn) * (c.tn + c.fp) * (c.tn + c.fn)
	if d == 0 {
		return 0
	}
	return (c.tp*c.tn - c.fp*c.fn) / math.Sqrt(d)
}

// f1 is the mean of the F1 scores of both labels; that of a label that neither occurs nor is predicted is 0.
func (c *counts) f1() float64 {
	of := func(hits, misses float64) float64 {
		if hits == 0 {
			return 0
		}
		return 2 * hits / (2*hits + misses)
	}
	return (of(c.tp, c.fp+c.fn) + of(c.tn, c.fp+c.fn)) / 2
}

func countsOf(p []float64, goesOn []bool, threshold float64) (c counts) {
	for i := range p {
		c.add(p[i] >= threshold, goesOn[i])
	}
	return c
}

// scoreOf measures probabilities p of the examples of d, decided by a threshold.
func scoreOf(p []float64, d *data, threshold float64) Score {
	goesOn := d.goesOn
	c := countsOf(p, goesOn, threshold)
	s := Score{Examples: len(p), MCC: c.mcc(), F1Macro: c.f1()}
	if len(p) == 0 {
		return s
	}
	n := float64(len(p))
	s.GoesOn, s.Accuracy, s.AUC = (c.tp+c.fn)/n, (c.tp+c.tn)/n, auc(p, goesOn, nil)
	s.AUCInTurn = auc(p, goesOn, d.turns())
	for i := range p {
		d := p[i] - float64(index(goesOn[i]))
		s.Brier += d * d / n
	}
	s.BrierBase = s.GoesOn * (1 - s.GoesOn)
	return s
}

// sorted are the numbers of the predictions, the lowest first.
func sorted(p []float64) []int {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(p[i], p[j]), cmp.Compare(i, j)) })
	return order
}

// bestThreshold is the threshold of the highest MCC, halfway between two predictions; 0.5 where no threshold has an MCC over 0.
func bestThreshold(p []float64, goesOn []bool) float64 {
	c := countsOf(p, goesOn, math.Inf(-1))
	best, threshold := 0.0, 0.5
	order := sorted(p)
	for i, e := range order {
		if goesOn[e] {
			c.tp, c.fn = c.tp-1, c.fn+1
		} else {
			c.fp, c.tn = c.fp-1, c.tn+1
		}
		if i+1 == len(order) || p[order[i+1]] == p[e] {
			continue
		}
		if mcc := c.mcc(); mcc > best {
			best, threshold = mcc, (p[e]+p[order[i+1]])/2
		}
	}
	return threshold
}

// auc is the probability that a prediction of what went on is above one of what ended, where both are of one class; ties count half. Without
// classes all are compared. It is 0.5 where there is nothing to compare.
func auc(p []float64, goesOn []bool, class []int) float64 {
	members := map[int][]int{}
	var classes []int
	for _, e := range sorted(p) {
		c := 0
		if class != nil {
			c = class[e]
		}
		if members[c] == nil {
			classes = append(classes, c)
		}
		members[c] = append(members[c], e)
	}
	slices.Sort(classes)
	var wins, pairs float64
	for _, c := range classes {
		w, n := compare(members[c], p, goesOn)
		wins, pairs = wins+w, pairs+n
	}
	if pairs == 0 {
		return 0.5
	}
	return wins / pairs
}

// compare counts the pairs of what went on and what ended among examples in the order of p, and those that p has in their order.
func compare(order []int, p []float64, goesOn []bool) (wins, pairs float64) {
	var ends, yes float64
	for from := 0; from < len(order); {
		to := from
		var y float64
		for ; to < len(order) && p[order[to]] == p[order[from]]; to++ {
			y += float64(index(goesOn[order[to]]))
		}
		n := float64(to-from) - y
		wins += y * (ends + n/2)
		ends, yes, from = ends+n, yes+y, to
	}
	return wins, ends * yes
}

// Bin is predictions of like probability, and what happened.
type Bin struct {
	From     float64 `json:"from"`
	To       float64 `json:"to"`
	Examples int     `json:"examples"`
	P        float64 `json:"predicted"` // mean
	GoesOn   float64 `json:"goes_on"`   // share
}

// reliability groups predictions into tenths, without empty ones.
func reliability(p []float64, goesOn []bool) (bins []Bin) {
	for tenth := range 10 {
		b := Bin{From: float64(tenth) / 10, To: float64(tenth+1) / 10}
		for i, x := range p {
			if min(int(x*10), 9) == tenth {
				b.Examples++
				b.P += x
				b.GoesOn += float64(index(goesOn[i]))
			}
		}
		if b.Examples > 0 {
			b.P, b.GoesOn = b.P/float64(b.Examples), b.GoesOn/float64(b.Examples)
			bins = append(bins, b)
		}
	}
	return bins
}
