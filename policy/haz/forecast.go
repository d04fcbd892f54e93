package haz

import (
	"fmt"
	"math"

	"reprise/policy"
)

var _ policy.Forecaster = (*haz)(nil)

// Forecast offers every resident by the score that a draw compares, 50 ns each: a victim is the least of some that are drawn, so it is
// among the least of all, and seldom the very least.
func (h *haz) Forecast(f *policy.Forecast, from int) (next int) {
	if from == 0 && h.newest != 0 { // a tie goes to it
		h.offer(f, h.newest)
	}
	end := min(from+policy.ForecastStep, len(h.residents))
	for i := from; i < end; i++ {
		h.offer(f, h.residents[i])
	}
	if end < len(h.residents) {
		return end
	}
	return 0
}

func (h *haz) offer(f *policy.Forecast, e uint32) {
	f.Offer(h.at(e).id, float64(h.rated(e).score))
}

// Why implements policy.Forecaster: it states the predicted rate of uses, v/(1-v)/h.
func (h *haz) Why(id policy.ID) string {
	e, ok := h.find(id)
	if !ok {
		return ""
	}
	_, z := h.forecast(e)
	capacity := 32 / h.clock.scale
	why := fmt.Sprintf("expected return: a use in some %s requests; last used %d requests ago", rounded(capacity/math.Exp(float64(z.gain()))), h.age(&h.rows[e]))
	if h.worth != nil {
		why += fmt.Sprintf("; a hit is worth %.3g for its space", math.Exp(float64(h.worth[e])))
	}
	return why
}

// rounded writes x with three digits that count, and no exponent.
func rounded(x float64) string {
	if unit := math.Pow10(int(math.Log10(max(x, 1))) - 2); unit > 1 {
		return fmt.Sprintf("%.0f", math.Round(x/unit)*unit)
	}
	return fmt.Sprintf("%.3g", x)
}
