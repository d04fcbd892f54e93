package train

import "math"

// byTurn is what the turn alone says, and the ablation of papers/004 §A.3, which predicts from the turn alone: the share of conversations that went on after each turn.
type byTurn struct {
	p   []float64 // by turn; the last one is for all later turns
	all float64
}

// lastBin is the last turn with a bin of its own.
const lastBin = 32

func newByTurn(turns []int, goesOn []bool) *byTurn {
	var yes, n [lastBin + 1]float64
	total := 0.0
	for i, t := range turns {
		t = min(t, lastBin)
		n[t]++
		yes[t] += float64(index(goesOn[i]))
		total += float64(index(goesOn[i]))
	}
	b := &byTurn{p: make([]float64, lastBin+1), all: (total + 1) / (float64(len(turns)) + 2)}
	for t := range b.p {
		b.p[t] = (yes[t] + b.all) / (n[t] + 1) // a turn that was not seen has the share of all
	}
	return b
}

// predict are the probabilities after some turns.
func (b *byTurn) predict(turns []int) []float64 {
	p := make([]float64, len(turns))
	for i, t := range turns {
		p[i] = b.p[min(t, lastBin)]
	}
	return p
}

// odds are the log odds by turn, as a model has them.
func (b *byTurn) odds() []float64 {
	all := make([]float64, lastBin)
	for t := range all {
		all[t] = math.Log(b.p[t+1] / (1 - b.p[t+1]))
	}
	return all
}
