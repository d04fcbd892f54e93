// Package study compares eviction policies over many traces and seeds.
package study

import (
	"math"
	"slices"

	"reprise/cmd/reprise-lab/sim"
)

// Case is one workload at one capacity, generated from each seed.
type Case struct {
	Name     string
	Trace    func(seed uint64) (sim.Trace, error)
	Capacity sim.Capacity
}

// Row has a figure of all policies in one case.
type Row struct {
	Case     string
	Capacity string
	// Values has the figure of each policy for each seed, in the order of the seeds.
	Values map[string][]float64
	// Fixed is set if the trace does not depend on the seed. Then only policies that draw random numbers have a value for each seed, and the
	// figure of a policy is their median.
	Fixed   bool
	Entries int // the capacity, with the mean size where it is in bytes; 0: not known
}

// Figure returns the figure of a policy: the mean over the seeds with the half width of its 95 % confidence interval, or the median, which has
// none.
func (r *Row) Figure(policy string) (value, half float64) {
	if r.Fixed {
		return median(r.Values[policy]), 0
	}
	return Mean(r.Values[policy])
}

// over returns the difference of the figures of two policies: the mean of the differences seed by seed with its interval, or the difference of
// the medians.
func (r *Row) over(policy, other string) (more, half float64) {
	if r.Fixed {
		return median(r.Values[policy]) - median(r.Values[other]), 0
	}
	return Mean(difference(r.Values[policy], r.Values[other]))
}

// small reports whether a row of a recorded trace is shown and not counted.
func (r *Row) small() bool { return r.Fixed && r.Entries < leastEntries }

// median returns the median of values, 0 of none.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	if len(sorted) == 0 {
		return 0
	}
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
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

// Best returns the policy of names with the highest figure, and that figure.
func (r *Row) Best(names []string) (best string, value float64) {
	value = math.Inf(-1)
	for _, name := range names {
		if v, _ := r.Figure(name); len(r.Values[name]) > 0 && v > value {
			best, value = name, v
		}
	}
	return best, value
}
