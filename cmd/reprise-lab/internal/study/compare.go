// Package study compares eviction policies over many traces and seeds.
package study

import (
	"math"

	"reprise/policy/sim"
)

// Case is one workload at one capacity, generated from each seed.
type Case struct {
	Name     string
	Trace    func(seed uint64) (sim.Trace, error)
	Capacity sim.Capacity
	Model    sim.Model // nil: hits by identity
}

// Row has a figure of all policies in one case.
type Row struct {
	Case     string
	Capacity string
	// Values has the figure of each policy for each seed, in the order of the seeds.
	Values map[string][]float64
}

// HitRatio is the figure of most tables.
func HitRatio(r sim.Result) float64 { return r.HitRatio }

// TokensSaved is the figure for a capacity in bytes: the tokens saved by hits, as a share of all tokens.
func TokensSaved(r sim.Result) float64 { return r.TokenHitRatio }

// Mean returns the mean of values and the half width of its 95 % confidence interval.
func Mean(values []float64) (mean, half float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	if n < 2 {
		return mean, 0
	}
	var square float64
	for _, v := range values {
		square += (v - mean) * (v - mean)
	}
	return mean, student(len(values)-1) * math.Sqrt(square/(n-1)/n)
}

// student is the two-sided 95 % quantile of Student's t for a number of degrees of freedom.
func student(degrees int) float64 {
	quantiles := []float64{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
		2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086}
	if degrees > len(quantiles) {
		return 1.96 + 2.4/float64(degrees)
	}
	return quantiles[degrees-1]
}

// Best returns the policy of names with the highest mean, and that mean.
func (r *Row) Best(names []string) (best string, mean float64) {
	mean = math.Inf(-1)
	for _, name := range names {
		if m, _ := Mean(r.Values[name]); len(r.Values[name]) > 0 && m > mean {
			best, mean = name, m
		}
	}
	return best, mean
}
